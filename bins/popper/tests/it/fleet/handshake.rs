//! Processes that compute something else do not work together, and say so.

use std::sync::Arc;

use popper_discovery::queue::EvaluationWork;
use serde_json::Value;
use work_queue::{Group, Queue, Work};

use super::double::{Double, STRANGE, Stranger, honest};
use super::scene::{Expected, Fleet, Process, queue_options};
use crate::kill::place;

const COUNTED: &str = "SELECT coalesce(sum(deliveries), 0)::bigint FROM work_queue.work";

/// Submits jobs to a group of some work.
fn submit(fleet: &Fleet, work: &dyn Work, name: &str, inputs: &[Vec<u8>]) {
    let submitted = async {
        let queue = Queue::open(&fleet.address(), &queue_options()).await?;
        let group = Group::of(work, name)?;
        queue.submit(&group, inputs).await
    };
    bin_support::block_on(submitted).unwrap().unwrap();
}

fn drain(fleet: &Fleet, name: &str) -> Process {
    fleet.popper(&format!(
        "worker --threads 2 --drain --lease 1s --name {name}"
    ))
}

#[test]
fn a_worker_leaves_jobs_of_other_semantics() {
    let Some(fleet) = Fleet::new(place(20)) else {
        return;
    };
    fleet.migrate();
    submit(&fleet, &Stranger, "run 7 iteration 1", &[b"{}".to_vec()]);
    let own = honest().semantics().to_owned();
    let line = format!("the open jobs need {STRANGE}, this program computes {own}");
    drain(&fleet, "drains").end().exits(1).tells(&[&line]);

    // Without --drain it says so, and waits for a run that it fits.
    let worker = fleet.worker("waits");
    worker.says(&line);
    fleet
        .run("--iterations 1 --threads 0 --audit 0")
        .end()
        .exits(0);
    worker.signal("-TERM");
    worker.end().exits(130).tells(&["stopped after 4 jobs"]);
    assert_eq!(
        fleet.number("SELECT count(*) FROM work_queue.work WHERE state = 0 AND deliveries = 0"),
        1
    );
}

#[test]
fn a_worker_refuses_a_job_of_another_universe() {
    let Some(fleet) = Fleet::new(place(20)) else {
        return;
    };
    fleet.migrate();
    let work: EvaluationWork = honest();
    // A job of a run that has no worker.
    let coordinator = fleet.run("--iterations 1 --threads 0");
    fleet.reaches("SELECT sign(count(*))::bigint FROM work_queue.work", 1);
    let input = async {
        let queue = Queue::open(&fleet.address(), &queue_options()).await?;
        let group = Group::of(&work, "run 1 iteration 1")?;
        queue.jobs(&group).await
    };
    let jobs = bin_support::block_on(input).unwrap().unwrap();
    coordinator.kill();
    let mut input: Value = serde_json::from_slice(&jobs[0].input).unwrap();
    let found = input["sim_hash"].as_str().unwrap().to_owned();
    let forged = "0".repeat(64);
    input["sim_hash"] = forged.as_str().into();
    fleet.execute("DELETE FROM work_queue.work; DELETE FROM graphile_worker._private_jobs");
    submit(
        &fleet,
        &work,
        "run 8 iteration 1",
        &[serde_json::to_vec(&input).unwrap()],
    );

    let ran = drain(&fleet, "refuses").end().exits(1);
    let ran = ran.tells(&[
        &format!("a job is for universe {forged}"),
        &format!("this worker computes universe {found}"),
    ]);
    assert_eq!(
        ran.stderr.matches("a job is for").count(),
        1,
        "{}",
        ran.stderr
    );
    // It is given back, for a worker that fits.
    assert_eq!(fleet.number(COUNTED), 0);
    assert_eq!(
        fleet.number("SELECT count(*) FROM work_queue.work WHERE state = 0"),
        1
    );
    // Others go on.
    fleet.run("--iterations 1 --threads 1").end().exits(0);
}

#[test]
fn a_run_names_workers_that_it_does_not_use() {
    let Some(fleet) = Fleet::new(place(20)) else {
        return;
    };
    let expected = Expected::new(&place(20), 2, 1);
    fleet.migrate();
    let own = honest().semantics().to_owned();
    let strangers = ["a", "b"].map(|name| Double::start(&fleet, name, Arc::new(Stranger)));
    let listed = "SELECT count(*) FROM work_queue.workers w JOIN graphile_worker._private_workers e ON e.id = w.engine_id";
    fleet.reaches(listed, 2);
    let ran = fleet.run("--iterations 2 --threads 1").end().exits(0);
    let line = format!("2 workers compute {STRANGE}, this run needs {own}: they are not used\n");
    let ran = ran.tells(&[&line]);
    assert_eq!(ran.stderr.matches("not used").count(), 1);
    for stranger in strangers {
        assert_eq!(stranger.stop().finished, 0);
    }
    expected.assert_same(&fleet, "strangers");
}
