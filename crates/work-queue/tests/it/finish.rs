//! The first result of a job counts: an equal one is late, another one is a conflict.

use work_queue::{Outcome, QueueError};

use crate::scene::{Scene, answer, until, worker_options};
use crate::scripted::Scripted;

/// Lets two workers have the only job at once: the first is at work when the engine's row is given out again.
async fn twice(scene: &Scene, first: &std::sync::Arc<Scripted>, second: &std::sync::Arc<Scripted>) {
    scene.submit(&["gate"]).await;
    let one = scene.worker(first.clone(), worker_options("first")).await;
    until(async || first.waiting() == 1).await;
    scene
        .execute("UPDATE graphile_worker._private_jobs SET locked_by = NULL, locked_at = NULL")
        .await;
    // It has one thread, which is busy.
    let two = scene.worker(second.clone(), worker_options("second")).await;
    until(async || second.waiting() == 1).await;
    first.open_gate();
    scene.collect(1).await;
    second.open_gate();
    assert_eq!(two.stop().await.finished, 1);
    assert_eq!(one.stop().await.finished, 1);
}

#[tokio::test]
async fn a_result_that_is_changed_afterwards_is_not_intact() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["echo 1", "echo 2"]).await;
    let worker = scene.worker(work, worker_options("w")).await;
    scene.collect(2).await;
    worker.stop().await;
    let change = "UPDATE work_queue.results r SET output = 'other' FROM work_queue.work w
        WHERE w.key = r.key AND w.input = 'echo 2'";
    scene.execute(change).await;
    let ended = scene.collect(2).await;
    for (input, expected) in [("echo 1", true), ("echo 2", false)] {
        let Outcome::Done(answer) = &ended[input] else {
            panic!("{ended:?}")
        };
        assert_eq!(answer.intact, expected, "{input}");
    }
}

#[tokio::test]
async fn an_equal_result_that_comes_later_is_counted_and_changes_nothing() {
    let (first, second) = (Scripted::new("s"), Scripted::new("s"));
    let Some(scene) = Scene::new(&*first).await else {
        return;
    };
    twice(&scene, &first, &second).await;
    let ended = scene.collect(1).await;
    let Outcome::Done(result) = &ended["gate"] else {
        panic!("{ended:?}")
    };
    assert_eq!(
        (answer(&ended["gate"]), result.worker.as_str()),
        ("gate", "first")
    );
    let group = &scene.queue.status().await.unwrap().groups[0];
    assert_eq!((group.done, group.late, group.conflict), (1, 1, 0));
    assert_eq!(
        scene
            .number("SELECT count(*) FROM graphile_worker._private_jobs")
            .await,
        0
    );
}

#[tokio::test]
async fn another_result_is_a_conflict_until_both_are_dropped() {
    let liar = std::sync::Arc::new(Scripted {
        semantics: "s".to_owned(),
        lie_at: 1,
        ..Scripted::default()
    });
    let honest = Scripted::new("s");
    let Some(scene) = Scene::new(&*honest).await else {
        return;
    };
    twice(&scene, &honest, &liar).await;
    let ended = scene.collect(1).await;
    let [conflict] = &scene.queue.conflicts().await.unwrap()[..] else {
        panic!("one conflict")
    };
    assert_eq!(ended["gate"], Outcome::Conflict(conflict.id));
    assert_eq!(
        (
            conflict.first_worker.as_str(),
            conflict.second_worker.as_deref()
        ),
        ("first", Some("second"))
    );
    assert_ne!(
        Some(&conflict.first_digest),
        conflict.second_digest.as_ref()
    );
    assert_eq!(
        (conflict.group_id.as_str(), &conflict.input[..]),
        ("run 1", &b"gate"[..])
    );
    let outputs = "SELECT count(*) FROM work_queue.conflicts
        WHERE first_output = 'gate'::bytea AND second_output = 'gate (a lie)'::bytea";
    assert_eq!(scene.number(outputs).await, 1);

    scene.queue.resolve(conflict.id).await.unwrap();
    let again = scene.queue.resolve(conflict.id).await;
    assert!(
        matches!(again, Err(QueueError::NoConflict { .. })),
        "{again:?}"
    );
    let worker = scene.worker(honest.clone(), worker_options("third")).await;
    assert_eq!(answer(&scene.collect(1).await["gate"]), "gate");
    worker.stop().await;
    // What was seen stays on record, also after the group is complete.
    scene.queue.complete(&scene.group).await.unwrap();
    assert_eq!(
        scene
            .number("SELECT count(*) FROM work_queue.conflicts")
            .await,
        1
    );
}

#[tokio::test]
async fn a_result_for_a_job_that_is_gone_is_dropped() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    scene.submit(&["gate"]).await;
    let worker = scene.worker(work.clone(), worker_options("a")).await;
    until(async || work.waiting() == 1).await;
    scene.queue.cancel(&scene.group).await.unwrap();
    work.open_gate();
    worker.stop().await;
    for table in [
        "work_queue.work",
        "work_queue.results",
        "work_queue.late",
        "graphile_worker._private_jobs",
    ] {
        assert_eq!(
            scene.number(&format!("SELECT count(*) FROM {table}")).await,
            0,
            "{table}"
        );
    }
}

#[tokio::test]
async fn a_result_that_is_wrong_by_itself_is_disputed_by_the_coordinator() {
    let work = Scripted::new("s");
    let Some(scene) = Scene::new(&*work).await else {
        return;
    };
    let keys = scene.submit(&["echo 1", "gate"]).await;
    let mut options = worker_options("a");
    options.threads = 2;
    let worker = scene.worker(work.clone(), options).await;
    scene.collect(1).await;
    let id = scene
        .queue
        .dispute(&keys[0], "its proof is wrong")
        .await
        .unwrap()
        .unwrap();
    // To say it twice changes nothing; a job without a result cannot be disputed.
    assert_eq!(
        scene
            .queue
            .dispute(&keys[0], "its proof is wrong")
            .await
            .unwrap(),
        Some(id)
    );
    assert_eq!(scene.queue.dispute(&keys[1], "early").await.unwrap(), None);
    assert_eq!(scene.collect(1).await["echo 1"], Outcome::Conflict(id));
    let conflicts = scene.queue.conflicts().await.unwrap();
    assert_eq!(conflicts.len(), 1);
    assert_eq!(
        (&conflicts[0].second_worker, conflicts[0].problem.as_str()),
        (&None, "its proof is wrong")
    );
    work.open_gate();
    worker.stop().await;
}
