//! Processes that are asked to end at any instant give back what they have, and the run continues later as if nothing had happened.

use std::time::{Duration, Instant};

use test_support::postgres;
use test_support::program::RandomNumbers;

use super::scene::{Expected, Fleet, Process};
use crate::kill::place;

/// Laws of an iteration, and iterations of a run.
const LAWS: u32 = 80;
const ITERATIONS: u32 = 6;

/// The time in which a process must end: a law takes far less than a second.
const GRACE: Duration = Duration::from_secs(31);

/// Jobs that a worker has, or that count a delivery without a result; workers that are still listed. And the largest numbers: a
/// claim that the server was working on when its process ended may come after all, and its job waits for one lease.
const LEFT: [(&str, i64); 3] = [
    (
        "SELECT count(*) FROM graphile_worker._private_jobs WHERE locked_by IS NOT NULL",
        1,
    ),
    (
        "SELECT count(*) FROM work_queue.work WHERE state <> 2 AND deliveries > 0",
        1,
    ),
    ("SELECT count(*) FROM work_queue.workers", 0),
];

#[test]
fn signals_10() {
    stop_all(10, 2);
}

#[test]
#[ignore = "long: 50 stops of 8 workers"]
fn signals_50() {
    stop_all(50, 8);
}

fn stop_all(times: u32, workers: usize) {
    let expected = Expected::new(&place(LAWS), ITERATIONS, 1);
    let mut draws = RandomNumbers(u64::from(times));
    let (mut stops, mut runs, mut in_the_middle) = (0, 0, 0);
    while stops < times {
        let Some(fleet) = Fleet::new(place(LAWS)) else {
            return;
        };
        fleet.migrate();
        runs += 1;
        let mut is_complete = false;
        while !is_complete && stops < times {
            let start = |number| fleet.worker(&format!("w{number}"));
            let mut processes: Vec<Process> = (0..workers).map(start).collect();
            for worker in &processes {
                worker.says("it computes");
            }
            let threads = draws.below(2);
            processes.push(fleet.run(&format!("--iterations {ITERATIONS} --threads {threads}")));
            if draws.below(4) > 0 {
                processes[workers].says("writing to ");
            }
            std::thread::sleep(draws.share_of(Duration::from_millis(700)));
            for process in &processes {
                process.signal(["-TERM", "-INT"][draws.below(2)]);
            }
            let signalled = Instant::now();
            let run = processes.pop().unwrap().end();
            let code = run.code;
            is_complete = code == Some(0);
            // Before the run is open nothing is to be kept, and before that the signal ends it at once.
            if code.is_none() {
                assert_eq!(run.stderr, "");
            } else if run.stderr.contains("the run was not open yet") {
                run.exits(130);
            } else if !is_complete {
                let hint = "popper: to continue: popper resume 1 --store ";
                run.exits(130)
                    .tells(&["interrupted: finished work is kept", hint]);
            }
            for worker in processes {
                worker.end().exits(130).tells(&["stopped after "]);
            }
            assert!(signalled.elapsed() < GRACE, "{:?}", signalled.elapsed());
            for (sql, most) in LEFT {
                let left = fleet.number(sql);
                assert!(left <= most, "{left}: {sql}");
            }
            in_the_middle +=
                fleet.number("SELECT sign(count(*))::bigint FROM work_queue.work WHERE state = 0");
            stops += 1;
        }
        fleet
            .run(&format!("--iterations {ITERATIONS} --threads 2"))
            .end()
            .exits(0);
        expected.assert_same(&fleet, &format!("run {runs}"));
    }
    println!("{stops} stops in {runs} runs, {in_the_middle} with open jobs");
    assert!(times < 50 || in_the_middle > 5);
}

/// A run that waits for workers that do not come ends at once.
#[test]
fn a_run_without_workers_ends_when_it_is_asked_to() {
    let Some(fleet) = Fleet::new(place(LAWS)) else {
        return;
    };
    let expected = Expected::new(&place(LAWS), 2, 1);
    fleet.migrate();
    for signal in ["-TERM", "-INT"] {
        let run = fleet.run("--iterations 2 --threads 0");
        run.says("no worker is there: the laws wait for `popper worker`");
        fleet.reaches("SELECT sign(count(*))::bigint FROM work_queue.work", 1);
        run.signal(signal);
        run.end().exits(130);
        let open = "SELECT count(*) FROM popper.iterations WHERE status = 'aborted'";
        assert_eq!(fleet.number(open), 1);
    }
    fleet.run("--iterations 2 --threads 2").end().exits(0);
    expected.assert_same(&fleet, "resumed");
}

/// Processes that wait for a server that is away end when they are asked to, long before their patience is over.
#[test]
fn a_server_that_is_away_holds_nobody() {
    let Some(mut server) = postgres::server() else {
        return;
    };
    let fleet = Fleet::on(&server, place(20));
    let expected = Expected::new(&place(20), 8, 1);
    fleet.migrate();
    let worker = fleet.worker("w");
    worker.says("it computes");
    let run = fleet.run("--iterations 8 --threads 1");
    run.says("iteration 2 of 8: ");
    server.crash();
    for process in [&run, &worker] {
        process.says("; trying again");
    }
    let late = fleet.worker("late");
    late.says("waiting for ");
    let signalled = Instant::now();
    for process in [&run, &worker, &late] {
        process.signal("-TERM");
    }
    let hint = "popper: to continue: popper resume 1 --store ";
    run.end().exits(130).tells(&[hint]);
    worker.end().exits(130);
    late.end().exits(130);
    assert!(signalled.elapsed() < GRACE, "{:?}", signalled.elapsed());
    server.begin();
    fleet.run("--iterations 8 --threads 2").end().exits(0);
    expected.assert_same(&fleet, "resumed");
}
