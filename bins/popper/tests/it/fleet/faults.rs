//! Faults of processes and of the server: afterwards the rows are those of a run that nothing disturbed.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _};
use test_support::postgres::{self, Server};
use test_support::program::RandomNumbers;

use super::scene::{Expected, Fleet, Process, comparable, until};
use crate::kill::place;
use crate::process::{Ran, fresh, words};

/// Laws of an iteration.
const LAWS: u32 = 40;

/// Iterations of a run that is killed.
const ITERATIONS: u32 = 4;

fn run(fleet: &Fleet, iterations: u32, threads: usize) -> Process {
    fleet.run(&format!("--iterations {iterations} --threads {threads}"))
}

/// Waits for a random part of a time.
fn wait(draws: &mut RandomNumbers, millis: u64) {
    std::thread::sleep(draws.share_of(Duration::from_millis(millis)));
}

#[test]
fn killed_workers_20() {
    kill_workers(20);
}

#[test]
#[ignore = "long: 200 kills"]
fn killed_workers_200() {
    kill_workers(200);
}

/// Kills workers and starts others in their place: half of them when they have a job, the others at random instants.
pub fn kill_workers(times: usize) {
    let expected = Expected::new(&place(LAWS), ITERATIONS, 1);
    let mut draws = RandomNumbers(times as u64);
    let (mut kills, mut lost, mut runs) = (0, 0, 0);
    while kills < times {
        let Some(fleet) = Fleet::new(place(LAWS)) else {
            return;
        };
        fleet.migrate();
        let mut look = Look::new(&fleet);
        runs += 1;
        let mut names = [0, 1].map(|number| format!("w{runs}-{number}"));
        let mut workers = [0, 1].map(|number| fleet.worker(&names[number]));
        let mut run = run(&fleet, ITERATIONS, 0);
        while kills < times && !run.has_ended() {
            let which = draws.below(2);
            let held = format!(
                "SELECT count(*)::text FROM graphile_worker._private_jobs j
                    JOIN work_queue.workers w ON w.engine_id = j.locked_by WHERE w.name = '{}'",
                names[which]
            );
            if draws.below(2) == 0 {
                until("a worker with a job", || {
                    run.has_ended() || look.text(&held) == "1"
                });
            } else {
                wait(&mut draws, 400);
            }
            let name = format!("x{kills}");
            std::mem::replace(&mut workers[which], fleet.worker(&name)).kill();
            names[which] = name;
            kills += 1;
            lost += usize::from(look.text(&held) == "1");
        }
        run.end().exits(0);
        drop((workers, look));
        expected.assert_same(&fleet, &format!("run {runs}"));
    }
    println!("{kills} kills in {runs} runs, {lost} of workers with a job");
    assert!(times < 20 || lost > 0);
}

/// The phase of a run, from the rows of the database. The laws of an iteration are planned, submitted, decided by workers,
/// committed; then their jobs are deleted.
const PHASE: &str = "WITH last AS (SELECT * FROM popper.iterations ORDER BY id DESC LIMIT 1),
        stored AS (SELECT count(*) AS laws FROM popper.law_evaluations e JOIN popper.laws l ON l.id = e.law_id
            WHERE l.created_iteration_id = (SELECT id FROM last)),
        jobs AS (SELECT count(*) AS made, count(*) FILTER (WHERE state = 2) AS done FROM work_queue.work
            WHERE group_id = 'run 1 iteration ' || (SELECT id FROM last))
    SELECT CASE WHEN status = 'completed' THEN 'committed'
        WHEN summary_json IS NULL THEN 'proposing'
        WHEN made = 0 THEN 'planned'
        WHEN done = 0 THEN 'submitted'
        WHEN done < made THEN 'some decided'
        WHEN laws = 0 THEN 'all decided, none stored'
        ELSE 'storing' END
    FROM last, stored, jobs";

/// The phases in which coordinators are killed.
const PHASES: [&str; 5] = [
    "planned",
    "submitted",
    "some decided",
    "all decided, none stored",
    "committed",
];

/// A session that looks at a run.
struct Look {
    runtime: tokio::runtime::Runtime,
    session: PgConnection,
}

impl Look {
    fn new(fleet: &Fleet) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.unwrap();
        let options: PgConnectOptions = fleet.url.parse().unwrap();
        let session = runtime.block_on(options.connect()).unwrap();
        Self { runtime, session }
    }

    /// The text that a query gives; empty while the tables are not there yet.
    fn text(&mut self, sql: &str) -> String {
        let query = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_optional(&mut self.session);
        self.runtime
            .block_on(query)
            .ok()
            .flatten()
            .unwrap_or_default()
    }
}

#[test]
fn killed_coordinators_20() {
    kill_coordinators(20);
}

#[test]
#[ignore = "long: 200 kills"]
fn killed_coordinators_200() {
    kill_coordinators(200);
}

/// Kills coordinators, half of them at random instants, the others soon after they reach a phase.
fn kill_coordinators(times: u32) {
    let expected = Expected::new(&place(LAWS), ITERATIONS, 1);
    let mut draws = RandomNumbers(u64::from(times));
    let mut phases: BTreeMap<String, u32> = BTreeMap::new();
    let (mut kills, mut runs) = (0, 0);
    while kills < times {
        let Some(fleet) = Fleet::new(place(LAWS)) else {
            return;
        };
        fleet.migrate();
        runs += 1;
        let workers = [0, 1].map(|number| fleet.worker(&format!("w{number}")));
        let mut look = Look::new(&fleet);
        loop {
            let mut run = run(&fleet, ITERATIONS, draws.below(2));
            if kills == times {
                run.end().exits(0);
                break;
            }
            if draws.below(2) == 0 {
                wait(&mut draws, 1000);
            } else {
                let aim = PHASES[draws.below(PHASES.len())];
                until(aim, || run.has_ended() || look.text(PHASE) == aim);
                wait(&mut draws, 20);
            }
            if run.has_ended() {
                run.end().exits(0);
                break;
            }
            run.kill();
            kills += 1;
            *phases.entry(look.text(PHASE)).or_default() += 1;
            // Its sessions end a moment later, and with them its lock.
            fleet.reaches(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND pid IN (SELECT pid FROM pg_stat_activity WHERE application_name NOT LIKE 'popper worker%')",
                0,
            );
        }
        drop((workers, look));
        expected.assert_same(&fleet, &format!("run {runs}"));
    }
    println!("{kills} kills in {runs} runs: {phases:?}");
    assert!(times < 100 || PHASES.iter().all(|phase| phases.contains_key(*phase)));
}

#[test]
fn server_restarts_2() {
    restart(postgres::server(), 2);
}

#[test]
#[ignore = "long: 10 restarts"]
fn server_restarts_10() {
    restart(postgres::durable_server(), 10);
}

#[test]
#[ignore = "long: 20 restarts"]
fn server_restarts_20() {
    restart(postgres::durable_server(), 20);
}

/// A run that is long enough for a number of faults, and two workers.
fn long_run(fleet: &Fleet, faults: u32) -> (Process, [Process; 2], Expected) {
    let iterations = 3 + 2 * faults;
    fleet.migrate();
    let workers = [0, 1].map(|number| fleet.worker(&format!("w{number}")));
    for worker in &workers {
        worker.says("it computes");
    }
    let expected = Expected::new(&place(20), iterations, 1);
    let run = run(fleet, iterations, 1);
    run.says("writing to ");
    (run, workers, expected)
}

/// Checks that a run and its workers came through all faults.
fn assert_survived(fleet: &Fleet, run: Process, workers: [Process; 2], expected: &Expected) {
    only_own_lines(&run.end().exits(0));
    for worker in &workers {
        worker.signal("-TERM");
    }
    for worker in workers {
        only_own_lines(&worker.end().exits(130));
    }
    expected.assert_same(fleet, "after all faults");
}

/// Checks that a process logged its faults in its own words.
fn only_own_lines(ran: &Ran) {
    for line in ran.stderr.lines() {
        let is_own = ["writing to ", "iteration ", "worker ", "it computes "]
            .iter()
            .any(|begin| line.starts_with(begin))
            || line.starts_with("postgres://") && line.ends_with("; trying again")
            || line.starts_with("workers gave no sign of life");
        assert!(is_own, "{}", ran.stderr);
    }
}

/// The server crashes and starts again, at random instants.
fn restart(server: Option<Server>, times: u32) {
    let Some(mut server) = server else {
        return;
    };
    let fleet = Fleet::on(&server, place(20));
    let (mut run, workers, expected) = long_run(&fleet, times);
    let mut draws = RandomNumbers(u64::from(times));
    for time in 0..times {
        wait(&mut draws, 800);
        assert!(!run.has_ended(), "{time} restarts: {:?}", run.end());
        server.restart();
    }
    assert_survived(&fleet, run, workers, &expected);
}

#[test]
fn ended_sessions_5() {
    end_sessions(5);
}

#[test]
#[ignore = "long: 50 times"]
fn ended_sessions_50() {
    end_sessions(50);
}

/// All sessions are ended, at random instants.
fn end_sessions(times: u32) {
    let Some(fleet) = Fleet::new(place(20)) else {
        return;
    };
    let (mut run, workers, expected) = long_run(&fleet, times);
    let mut draws = RandomNumbers(u64::from(times));
    for time in 0..times {
        wait(&mut draws, 600);
        assert!(!run.has_ended(), "{time} times: {:?}", run.end());
        fleet.number(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
    }
    assert_survived(&fleet, run, workers, &expected);
}

#[test]
fn two_coordinators_exclude_each_other() {
    let Some(fleet) = Fleet::new(place(LAWS)) else {
        return;
    };
    fleet.migrate();
    for round in 0..4 {
        // Nobody decides anything, so the first one stays.
        let mut both = [0, 1].map(|_| run(&fleet, 1, 0));
        until("two coordinators at once", || {
            both.iter_mut().any(Process::has_ended)
        });
        let [mut first, second] = both;
        let (ended, stays) = if first.has_ended() {
            (first, second)
        } else {
            (second, first)
        };
        let ran = ended.end().exits(1);
        let lines: Vec<&str> = ran.stderr.lines().collect();
        let [line] = lines[..] else {
            panic!("{}", ran.stderr);
        };
        assert!(
            line.contains(" (popper run on the server's machine, session ")
                && line.ends_with(
                    "in use by another process; let it finish or stop it, then try again"
                ),
            "{line}"
        );
        stays.says("writing to ");
        if round == 3 {
            let worker = fleet.worker("w");
            stays.end().exits(0);
            worker.signal("-TERM");
            worker.end().exits(130);
        } else {
            stays.kill();
            fleet.reaches(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
                0,
            );
        }
    }
    Expected::new(&place(LAWS), 1, 1).assert_same(&fleet, "two coordinators");
}

#[test]
fn runs_in_different_universes_go_on_at_once() {
    let Some(fleet) = Fleet::new(place(LAWS)) else {
        return;
    };
    let folder = fleet.place.path();
    for seed in ["3", "4"] {
        let made = fresh(folder, &["universe", "random", "--seed", seed]).output();
        std::fs::write(folder.join(format!("{seed}.json")), made.unwrap().stdout).unwrap();
    }
    let flags = |seed: &str| format!("--iterations 2 --universe {seed}.json");
    // One after the other in files.
    let alone = ["3", "4"].map(|seed| {
        let line = format!(
            "run --config config.json --proposer enumerative --db {seed}.db {}",
            flags(seed)
        );
        fleet.start(&line).end().exits(0);
        comparable(
            &fleet
                .start(&format!("export --db {seed}.db"))
                .end()
                .exits(0),
        )
    });
    fleet.migrate();
    let workers = [0, 1].map(|number| fleet.worker(&format!("w{number}")));
    let runs = ["3", "4"].map(|seed| fleet.run(&format!("{} --threads 0 --json", flags(seed))));
    let together = runs.map(|run| {
        let id = run.end().exits(0).json()["run_id"].as_i64().unwrap();
        let exported = fleet
            .popper(&format!("export --run-id {id}"))
            .end()
            .exits(0);
        comparable(&exported)
    });
    assert!(together == alone, "both runs are as if they were alone");
    drop(workers);
    fleet.assert_clean();
}

#[test]
fn a_server_that_stays_away_ends_the_run_and_the_printed_command_continues_it() {
    let Some(mut server) = postgres::server() else {
        return;
    };
    let fleet = Fleet::on(&server, place(20));
    let expected = Expected::new(&place(20), 8, 1);
    let flags = words("run --config config.json --proposer enumerative --iterations 8 --threads 1");
    let times = format!("{} --lease 1s --patience 2s", flags.join(" "));
    let run = fleet.popper(&times);
    run.says("iteration 2 of 8: ");
    let crashed = Instant::now();
    server.crash();
    let ran = run.end().exits(1);
    let took = crashed.elapsed();
    assert!(
        took >= Duration::from_secs(2) && took < Duration::from_secs(20),
        "{took:?}"
    );
    let mark = "popper: to continue: popper ";
    let (_, command) = ran.stderr.split_once(mark).unwrap();
    server.begin();
    let script = format!("{} {command}", env!("CARGO_BIN_EXE_popper"));
    let resumed = Command::new("sh")
        .args(["-c", &script])
        .current_dir(fleet.place.path())
        .output();
    Ran::from(resumed.unwrap()).exits(0);
    expected.assert_same(&fleet, "resumed");
}

/// The guide gives this number, for servers that limit their sessions.
#[test]
fn a_run_has_twelve_sessions_at_most() {
    let Some(fleet) = Fleet::new(place(20)) else {
        return;
    };
    let run = fleet.run("--iterations 90 --threads 2 --audit 100");
    run.says("iteration 6 of 90: ");
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'popper run%' AND datname = current_database()";
    let most = (0..200).map(|_| fleet.number(sessions)).max();
    assert!((5..=12).contains(&most.unwrap()), "{most:?}");
    run.kill();
}
