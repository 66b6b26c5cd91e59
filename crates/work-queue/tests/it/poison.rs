//! Jobs that end their worker, panic, or have no result for another reason: they are isolated, and the others are done.

use std::sync::Arc;
use std::time::Duration;

use work_queue::Outcome;

use crate::child::WorkerProcess;
use crate::scene::{Scene, answer, problem, until, worker_options};
use crate::scripted::Scripted;

/// Jobs of shards of four pieces; the piece `poison` is in the middle of one.
fn shards(count: usize, poison: &str) -> Vec<String> {
    let mut pieces: Vec<_> = (0..count).map(|index| format!("echo {index}")).collect();
    poison.clone_into(&mut pieces[count / 2]);
    pieces.chunks(4).map(|shard| shard.join(";")).collect()
}

/// Submits the shards and keeps `threads` processes alive until all pieces have an end. Returns the number of deaths.
async fn deaths(scene: &Scene, shards: &[String]) -> usize {
    let inputs: Vec<_> = shards.iter().map(String::as_str).collect();
    scene.submit(&inputs).await;
    let mut deaths = 0;
    let mut worker = WorkerProcess::start(scene, "s", "0");
    let mut notices = scene.queue.listen(&scene.group).await.unwrap();
    let open = "SELECT count(*) FROM work_queue.work WHERE state = 0";
    while scene.number(open).await > 0 {
        if worker.has_ended() {
            deaths += 1;
            assert!(deaths <= 8, "{deaths} deaths");
            worker = WorkerProcess::start(scene, "s", &deaths.to_string());
        }
        notices.wait().await;
    }
    deaths
}

#[tokio::test]
async fn one_of_sixty_aborts_its_process() {
    abort_among(60).await;
}

#[tokio::test]
#[ignore = "long: a thousand jobs"]
async fn one_of_a_thousand_aborts_its_process() {
    abort_among(1000).await;
}

async fn abort_among(count: usize) {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let shards = shards(count, "abort");
    let deaths = deaths(&scene, &shards).await;
    assert!((3..=8).contains(&deaths), "{deaths}");
    let whole = shards.len() - 1;
    let ended = scene.collect(whole + 4).await;
    assert_eq!(
        problem(&ended["abort"]),
        "its evaluation ended the worker 5 times"
    );
    let done = ended
        .values()
        .filter(|outcome| matches!(outcome, Outcome::Done(_)))
        .count();
    assert_eq!(done, whole + 3);
    let echoes: usize = ended
        .values()
        .filter_map(|outcome| match outcome {
            Outcome::Done(_) => Some(answer(outcome).split(';').count()),
            _ => None,
        })
        .sum();
    assert_eq!(echoes, count - 1);
}

#[tokio::test]
async fn one_of_a_thousand_panics() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let shards = shards(1000, "panic");
    let inputs: Vec<_> = shards.iter().map(String::as_str).collect();
    scene.submit(&inputs).await;
    let mut options = worker_options("a");
    options.threads = 2;
    let worker = scene.worker(work.clone(), options).await;
    let ended = scene.collect(253).await;
    assert_eq!(problem(&ended["panic"]), "its evaluation panicked twice");
    let done: usize = ended
        .values()
        .filter(|outcome| matches!(outcome, Outcome::Done(_)))
        .count();
    assert_eq!(done, 252);
    // The shard ran once, the piece twice, all others once: no error went to the engine, which would wait.
    assert_eq!(work.runs(), 250 + 3 + 2);
    assert_eq!(
        scene
            .number("SELECT coalesce(max(deliveries), 0)::bigint FROM work_queue.work")
            .await,
        1
    );
    worker.stop().await;
}

#[tokio::test]
async fn a_job_that_reaches_its_limit_is_tried_again_and_then_quarantined() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["hang", "echo 1"]).await;
    let mut options = worker_options("limited");
    options.job_limit = Duration::from_millis(20);
    let worker = scene.worker(work.clone(), options).await;
    let ended = scene.collect(2).await;
    assert_eq!(
        problem(&ended["hang"]),
        "its evaluation ended the worker 5 times"
    );
    assert_eq!(answer(&ended["echo 1"]), "echo 1");
    assert_eq!(work.runs(), 6);
    worker.stop().await;
}

#[tokio::test]
async fn results_and_inputs_have_a_largest_size() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["large", "bad"]).await;
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    let ended = scene.collect(2).await;
    assert_eq!(
        problem(&ended["large"]),
        "its output has 67108865 bytes, at most 67108864 are taken"
    );
    assert_eq!(problem(&ended["bad"]), "the input says that it is bad");
    worker.stop().await;
    let large = scene
        .queue
        .submit(&scene.group, &[vec![b'x'; (64 << 20) + 1]])
        .await;
    assert_eq!(
        large.unwrap_err().to_string(),
        "the input of a job has 67108865 bytes, at most 67108864 are taken"
    );
}

#[tokio::test]
async fn a_job_for_another_world_is_given_back_and_its_worker_ends() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["refuse"]).await;
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    let error = worker.ended().await.unwrap_err();
    let expected =
        "a job is for world B, this worker computes world A; use the program that made the job";
    assert_eq!(error.to_string(), expected);
    let jobs = scene.queue.jobs(&scene.group).await.unwrap();
    assert_eq!(
        (jobs[0].deliveries, jobs[0].state),
        (0, work_queue::JobState::Open)
    );
    assert_eq!(
        scene
            .number("SELECT count(*) FROM graphile_worker._private_jobs WHERE locked_by IS NULL")
            .await,
        1
    );
}

#[tokio::test]
async fn work_for_other_semantics_stays_where_it_is() {
    let (own, other) = (Scripted::new("s"), Scripted::new("other"));
    let Some(scene) = Scene::new(&*own).await else {
        return;
    };
    scene.submit(&["echo 1", "echo 2"]).await;
    let stranger = scene
        .worker(other.clone(), worker_options("stranger"))
        .await;
    until(async || {
        scene
            .queue
            .workers()
            .await
            .unwrap()
            .iter()
            .any(|worker| worker.is_alive)
    })
    .await;
    let worker = work_queue::Worker::open(&scene.address, other.clone(), worker_options("asks"))
        .await
        .unwrap();
    let open = worker.open_jobs().await.unwrap();
    assert_eq!((open.own, &open.others[..]), (0, &["s".to_owned()][..]));
    let friend = scene
        .worker(Arc::clone(&own) as Arc<_>, worker_options("friend"))
        .await;
    scene.collect(2).await;
    let workers = scene.queue.workers().await.unwrap();
    let finished: Vec<_> = workers
        .iter()
        .map(|it| (it.name.as_str(), it.semantics.as_str(), it.finished))
        .collect();
    assert_eq!(finished, [("friend", "s", 2), ("stranger", "other", 0)]);
    assert_eq!(other.runs(), 0);
    stranger.stop().await;
    friend.stop().await;
}
