//! The coordinator's side: what a submit adds, what a resume finds, and how many sessions and jobs there are.

use std::collections::HashSet;
use std::sync::Arc;

use work_queue::{JobState, Outcome};

use crate::scene::{Scene, answer, until, within, worker_options};
use crate::scripted::Scripted;

#[tokio::test]
async fn a_resume_makes_no_job_twice_and_finds_all_results() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["echo 1", "echo 2"]).await;
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    scene.collect(2).await;
    worker.stop().await;
    // The next coordinator submits the same and one more.
    scene.submit(&["echo 1", "echo 2", "echo 3"]).await;
    assert_eq!(
        scene
            .number("SELECT count(*) FROM graphile_worker._private_jobs")
            .await,
        1
    );
    let jobs = scene.queue.jobs(&scene.group).await.unwrap();
    let open: Vec<_> = jobs
        .iter()
        .filter(|job| job.state == JobState::Open)
        .collect();
    assert_eq!(
        (jobs.len(), open.len(), &open[0].input[..]),
        (3, 1, &b"echo 3"[..])
    );
    let mut taken = HashSet::new();
    assert_eq!(
        scene
            .queue
            .collect(&scene.group, &mut taken)
            .await
            .unwrap()
            .len(),
        2
    );
    assert!(
        scene
            .queue
            .collect(&scene.group, &mut taken)
            .await
            .unwrap()
            .is_empty()
    );
    let worker = scene.worker(work.clone(), worker_options("b")).await;
    assert_eq!(answer(&scene.collect(3).await["echo 3"]), "echo 3");
    assert_eq!(work.runs(), 3);
    worker.stop().await;
}

#[tokio::test]
async fn two_groups_share_no_job() {
    let work = Scripted::new("s");
    let Some(mut scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["echo 1"]).await;
    let first = scene.group.clone();
    scene.group = work_queue::Group::of(&*work, "run 2").unwrap();
    scene.submit(&["echo 1"]).await;
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    scene.collect(1).await;
    until(async || scene.queue.jobs(&first).await.unwrap()[0].state == JobState::Done).await;
    scene.queue.complete(&first).await.unwrap();
    assert!(scene.queue.jobs(&first).await.unwrap().is_empty());
    assert_eq!(scene.collect(1).await.len(), 1);
    assert_eq!(work.runs(), 2);
    worker.stop().await;
}

#[tokio::test]
async fn a_submit_waits_while_ten_thousand_jobs_are_not_collected() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let inputs = |from: usize, to: usize| -> Vec<_> {
        (from..to)
            .map(|number| format!("echo {number}").into_bytes())
            .collect()
    };
    scene
        .queue
        .submit(&scene.group, &inputs(0, 9999))
        .await
        .unwrap();
    // What is there takes no further room.
    scene
        .queue
        .submit(&scene.group, &inputs(0, 1))
        .await
        .unwrap();
    let more = inputs(9999, 10_001);
    let mut submit = std::pin::pin!(scene.queue.submit(&scene.group, &more));
    let mut taken = HashSet::new();
    tokio::select! {
        biased;
        _ = &mut submit => panic!("it did not wait"),
        collected = scene.queue.collect(&scene.group, &mut taken) => assert!(collected.unwrap().is_empty()),
    }
    let done = "UPDATE work_queue.work SET state = 4 WHERE input = 'echo 7'::bytea";
    scene.execute(done).await;
    assert_eq!(
        scene
            .queue
            .collect(&scene.group, &mut taken)
            .await
            .unwrap()
            .len(),
        1
    );
    within(submit).await.unwrap();
    assert_eq!(
        scene.number("SELECT count(*) FROM work_queue.work").await,
        10_001
    );
    scene.queue.complete(&scene.group).await.unwrap();
    assert_eq!(
        scene
            .number("SELECT count(*) FROM graphile_worker._private_jobs")
            .await,
        0
    );
}

#[tokio::test]
async fn a_worker_has_five_sessions_whatever_its_threads() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let pieces: Vec<_> = (0..12).map(|number| format!("gate {number}")).collect();
    scene
        .submit(&pieces.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    let mut options = worker_options("counted");
    options.threads = 12;
    let worker = scene.worker(Arc::clone(&work) as Arc<_>, options).await;
    until(async || work.waiting() == 12).await;
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'counted'";
    assert!((1..=5).contains(&scene.number(sessions).await));
    work.open_gate();
    let ended = scene.collect(12).await;
    assert!(
        ended
            .values()
            .all(|outcome| matches!(outcome, Outcome::Done(_)))
    );
    assert!(scene.number(sessions).await <= 5);
    worker.stop().await;
    scene.reaches(sessions, 0).await;
}

#[tokio::test]
async fn workers_that_are_gone_for_a_day_are_forgotten() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene
        .execute(
            "INSERT INTO work_queue.workers (name, engine_id, kind, semantics, threads, host, started_at) VALUES
            ('old', 'x', 'k', 's', 1, '', now() - interval '2 days'), ('new', 'y', 'k', 's', 1, '', now())",
        )
        .await;
    let _notices = scene.queue.listen(&scene.group).await.unwrap();
    scene
        .reaches("SELECT count(*) FROM work_queue.workers", 1)
        .await;
    let workers = scene.queue.workers().await.unwrap();
    assert_eq!(
        (workers[0].name.as_str(), workers[0].is_alive),
        ("new", false)
    );
}
