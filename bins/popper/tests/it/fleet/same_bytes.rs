//! One process or many, killed or not: the same rows and the same exported document.

use super::faults::kill_workers;
use super::scene::{Expected, Fleet, Process};
use crate::kill::place;

/// Iterations of the runs here.
const ITERATIONS: u32 = 3;

/// Laws of an iteration.
const LAWS: u32 = 60;

fn expected() -> Expected {
    let expected = Expected::new(&place(LAWS), ITERATIONS, 1);
    assert_eq!(expected.rows["law_evaluations"].len(), 180);
    assert!(expected.rows["counterexamples"].len() > 50);
    assert!(!expected.rows["verdict_keys"].is_empty());
    expected
}

/// The run on a server, without workers.
fn run(fleet: &Fleet, threads: u32) -> Process {
    fleet.run(&format!("--iterations {ITERATIONS} --threads {threads}"))
}

#[test]
fn two_threads_are_one() {
    let expected = expected();
    let two = Expected::new(&place(LAWS), ITERATIONS, 2);
    assert_eq!(two.rows, expected.rows);
    assert!(two.exported == expected.exported);
}

#[test]
fn a_server_alone_is_a_file() {
    let Some(fleet) = Fleet::new(place(LAWS)) else {
        return;
    };
    run(&fleet, 2).end().exits(0);
    expected().assert_same(&fleet, "without workers");
}

#[test]
fn workers_are_threads() {
    let expected = expected();
    for workers in [1, 2, 8] {
        let Some(fleet) = Fleet::new(place(LAWS)) else {
            return;
        };
        fleet.migrate();
        let workers: Vec<Process> = (0..workers)
            .map(|number| fleet.worker(&format!("w{number}")))
            .collect();
        for worker in &workers {
            worker.says("it computes");
        }
        run(&fleet, 0).end().exits(0);
        let mut finished = 0;
        for worker in &workers {
            worker.signal("-TERM");
        }
        let count = workers.len();
        for worker in workers {
            let ended = worker.end().exits(130).tells(&["stopped after"]);
            let said = ended.stderr.split("stopped after ").nth(1).unwrap();
            finished += said.split(' ').next().unwrap().parse::<u32>().unwrap();
        }
        // Each law has its job's result once, from one of them.
        assert!(
            (ITERATIONS..=LAWS * ITERATIONS).contains(&finished),
            "{finished}"
        );
        expected.assert_same(&fleet, &format!("{count} workers"));
    }
}

#[test]
fn killed_workers_are_threads() {
    kill_workers(5);
}
