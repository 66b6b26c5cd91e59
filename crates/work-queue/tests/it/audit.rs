//! The second computation of a share of the jobs.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use work_queue::{Audit, Collected, Group, Outcome, Work, is_audited};

use crate::scene::{Scene, worker_options};
use crate::scripted::Scripted;

/// The numbers below 500 whose job `echo NUMBER` one percent chooses, by another program than this: the first eight bytes of the
/// input's SHA-256, the highest first, are a multiple of 100.
const ONE_PERCENT: [usize; 11] = [38, 190, 233, 246, 263, 265, 275, 302, 388, 456, 497];

fn echoes(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    let echo = |number| format!("echo {number}");
    numbers.into_iter().map(echo).collect()
}

async fn submit(scene: &Scene, inputs: &[String]) {
    let inputs: Vec<_> = inputs.iter().map(String::as_str).collect();
    scene.submit(&inputs).await;
    scene.collect(inputs.len()).await;
}

/// The jobs of the group, which have ended.
async fn ended(scene: &Scene) -> Vec<Collected> {
    let mut taken = HashSet::new();
    let collected = scene.queue.collect(&scene.group, &mut taken);
    collected.await.unwrap()
}

/// Audits what a percentage chooses: each input with the outcome.
async fn audits(scene: &Scene, honest: &Arc<dyn Work>, percent: u8) -> Vec<(String, Audit)> {
    let mut audits = Vec::new();
    for job in ended(scene).await {
        if is_audited(&job.input, percent) {
            let audit = scene.queue.audit(honest, &job).await.unwrap();
            audits.push((String::from_utf8(job.input).unwrap(), audit));
        }
    }
    audits
}

#[tokio::test]
async fn all_audits_find_one_lie_in_fifty() {
    let liar = Scripted {
        semantics: "s".to_owned(),
        lie_at: 23,
        ..Scripted::default()
    };
    let honest: Arc<dyn Work> = Scripted::new("s");
    let Some(scene) = Scene::new(&*honest).await else {
        return;
    };
    let worker = scene.worker(Arc::new(liar), worker_options("liar")).await;
    submit(&scene, &echoes(0..50)).await;
    let audits = audits(&scene, &honest, 100).await;
    assert_eq!(audits.len(), 50);
    let lies: Vec<_> = audits
        .iter()
        .filter(|(_, audit)| *audit != Audit::Equal)
        .collect();
    assert!(matches!(&lies[..], [(_, Audit::Conflict(_))]), "{lies:?}");
    worker.stop().await;
    let status = scene.queue.status().await.unwrap();
    let group = &status.groups[0];
    assert_eq!(
        (status.conflicts, group.conflict, group.audited),
        (1, 1, 49)
    );
}

#[tokio::test]
async fn one_percent_picks_the_same_jobs_in_each_group_with_one_worker() {
    let honest: Arc<dyn Work> = Scripted::new("s");
    let Some(mut scene) = Scene::new(&*honest).await else {
        return;
    };
    let mut options = worker_options("alone");
    (options.threads, options.poll) = (4, Duration::from_millis(1));
    let worker = scene.worker(Arc::clone(&honest), options).await;
    let expected: BTreeSet<_> = echoes(ONE_PERCENT).into_iter().collect();
    for name in ["run 1", "run 2"] {
        scene.group = Group::of(&*honest, name).unwrap();
        submit(&scene, &echoes(0..500)).await;
        let audits = audits(&scene, &honest, 1).await;
        assert!(audits.iter().all(|(_, audit)| *audit == Audit::Equal));
        assert_eq!(audits.len(), expected.len());
        // These and no others are marked.
        let audited = ended(&scene).await.into_iter().filter(|job| {
            let Outcome::Done(answer) = &job.outcome else {
                panic!("{job:?}")
            };
            answer.audited
        });
        let audited: BTreeSet<_> = audited
            .map(|job| String::from_utf8(job.input).unwrap())
            .collect();
        assert_eq!(audited, expected, "{name}");
    }
    assert_eq!(worker.stop().await.finished, 1000);
    let groups = scene.queue.status().await.unwrap().groups;
    let counts: Vec<_> = groups
        .iter()
        .map(|group| (group.id.as_str(), group.done, group.audited))
        .collect();
    assert_eq!(counts, [("run 1", 500, 11), ("run 2", 500, 11)]);
}
