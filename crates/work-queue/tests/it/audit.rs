//! The second computation of a share of the jobs.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use work_queue::{Audit, Work, is_audited};

use crate::scene::{Scene, worker_options};
use crate::scripted::Scripted;

/// A worker that lies once in fifty jobs, and the outcome of each audit at a percentage.
async fn audits(percent: u8, lie_at: usize) -> Option<Vec<(String, Audit)>> {
    let liar = Scripted {
        semantics: "s".to_owned(),
        lie_at,
        ..Scripted::default()
    };
    let honest: Arc<dyn Work> = Scripted::new("s");
    let scene = Scene::new(&*honest).await?;
    let inputs: Vec<_> = (0..50).map(|number| format!("echo {number}")).collect();
    scene
        .submit(&inputs.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    let worker = scene.worker(Arc::new(liar), worker_options("alone")).await;
    scene.collect(50).await;
    let jobs = scene
        .queue
        .collect(&scene.group, &mut HashSet::new())
        .await
        .unwrap();
    let mut audits = Vec::new();
    for job in jobs.iter().filter(|job| is_audited(&job.input, percent)) {
        let audit = scene.queue.audit(&honest, job).await.unwrap();
        audits.push((String::from_utf8(job.input.clone()).unwrap(), audit));
    }
    worker.stop().await;
    let found = audits
        .iter()
        .filter(|(_, audit)| matches!(audit, Audit::Conflict(_)))
        .count();
    let status = scene.queue.status().await.unwrap();
    assert_eq!(status.groups[0].audited, (audits.len() - found) as u64);
    assert_eq!(
        (status.conflicts, status.groups[0].conflict),
        (found as u64, found as u64)
    );
    Some(audits)
}

#[tokio::test]
async fn all_audits_find_one_lie_in_fifty() {
    let Some(audits) = audits(100, 23).await else {
        return;
    };
    assert_eq!(audits.len(), 50);
    let lies: Vec<_> = audits
        .iter()
        .filter(|(_, audit)| *audit != Audit::Equal)
        .collect();
    assert_eq!(lies.len(), 1, "{lies:?}");
}

#[tokio::test]
async fn a_percent_picks_the_same_jobs_each_time_with_one_worker() {
    let inputs: Vec<_> = (0..50).map(|number| format!("echo {number}")).collect();
    let expected: BTreeSet<_> = inputs
        .iter()
        .filter(|input| is_audited(input.as_bytes(), 10))
        .cloned()
        .collect();
    assert!(!expected.is_empty());
    for _ in 0..2 {
        let Some(audits) = audits(10, 0).await else {
            return;
        };
        assert!(audits.iter().all(|(_, audit)| *audit == Audit::Equal));
        assert_eq!(
            audits
                .into_iter()
                .map(|(input, _)| input)
                .collect::<BTreeSet<_>>(),
            expected
        );
    }
    // One percent of them picks what the same rule picks of more inputs.
    let one = (0..1000)
        .map(|number| format!("echo {number}"))
        .filter(|input| is_audited(input.as_bytes(), 1));
    assert!((3..30).contains(&one.count()));
}
