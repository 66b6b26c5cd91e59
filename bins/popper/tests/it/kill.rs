//! A run that is killed, again and again, ends as if nothing had happened.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use test_support::program::RandomNumbers;

use crate::process::{Ran, fresh, words};
use crate::runs::Place;
use crate::sql;

/// Iterations of the runs here.
const ITERATIONS: &str = "4";

/// The longest time that a process may take; far more than it needs.
const PATIENCE: Duration = Duration::from_mins(2);

/// A place whose iterations test `laws` laws: with some hundred an iteration is long enough to be interrupted.
pub fn place(laws: u32) -> Place {
    Place::with(&json!({
        "exhaustive_n": 6, "minimal_n": 6, "ladder": [8, 16, 33], "generations": 2,
        "propose": laws, "test": laws,
    }))
}

/// Begins the run of a place, or continues it.
fn start(place: &Place) -> Child {
    let arguments = format!(
        "run --config config.json --proposer enumerative --iterations {ITERATIONS} --db popper.db"
    );
    let arguments = words(&arguments);
    fresh(place.path(), &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn finish(place: &Place) {
    let ran: Ran = start(place).wait_with_output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

/// The moment of the kill: after the run begins, or after it reaches a phase.
struct Aim {
    at: Option<&'static str>,
    delay: Duration,
}

impl Aim {
    /// Instants alone would nearly all fall into the longest phase.
    fn draw(draws: &mut RandomNumbers, whole: Duration) -> Self {
        let short = Duration::from_millis(60);
        let (at, span) = match draws.number() % 4 {
            0 => (None, whole),
            1 => (None, short),
            2 => (Some(UNSTORED), short),
            _ => (Some(STORED), short),
        };
        Self {
            at,
            delay: draws.share_of(span),
        }
    }

    /// Kills the process at that moment, unless it ends before. Whether it was killed.
    fn shoot(&self, child: &mut Child, db: &Path) -> bool {
        let mut seen = self.at.is_none().then(Instant::now);
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                return false;
            }
            if seen.is_none() && self.at == Some(phase(db)) {
                seen = Some(Instant::now());
            }
            if seen.is_some_and(|seen| seen.elapsed() >= self.delay) {
                child.kill().unwrap();
                child.wait().unwrap();
                return true;
            }
            thread::yield_now();
        }
    }
}

/// Laws are tested, and none of them is stored yet.
const UNSTORED: &str = "testing, none stored";
/// Laws are tested, and some of them are stored.
const STORED: &str = "testing, some stored";

/// The phase of a run, from the rows of the database.
fn phase(db: &Path) -> &'static str {
    let statement = "SELECT CASE \
        WHEN i.status <> 'running' THEN 'between' \
        WHEN i.summary_json IS NULL THEN 'proposing' \
        WHEN NOT EXISTS (SELECT 1 FROM laws WHERE status = 'queued') THEN 'completing' \
        WHEN EXISTS (SELECT 1 FROM law_evaluations e WHERE e.started_at >= i.started_at) THEN 'stored' \
        ELSE 'unstored' END \
        FROM iterations i ORDER BY i.iteration_index DESC LIMIT 1";
    let Ok(last) = sql::try_column(db, statement) else {
        return "making the database";
    };
    match last.first().map(String::as_str) {
        None => "beginning",
        Some("proposing") => "proposing",
        Some("unstored") => UNSTORED,
        Some("stored") => STORED,
        Some("completing") => "completing",
        Some(_) => "between iterations",
    }
}

#[test]
fn kill_9_at_any_instant_changes_nothing() {
    let rounds = std::env::var("POPPER_KILLS").map_or(15, |rounds| rounds.parse().unwrap());
    let reference = place(60);
    let begun = Instant::now();
    finish(&reference);
    let whole = begun.elapsed();
    let expected = sql::rows(&reference.db());

    let mut draws = RandomNumbers(rounds);
    let mut phases: BTreeMap<&str, u32> = BTreeMap::new();
    let mut runs = 0;
    let mut kills = 0;
    while kills < rounds {
        let place = place(60);
        runs += 1;
        loop {
            // After the last kill the run lives: every database is compared in the end.
            if kills == rounds {
                finish(&place);
                break;
            }
            let aim = Aim::draw(&mut draws, whole);
            let mut child = start(&place);
            if !aim.shoot(&mut child, &place.db()) {
                break;
            }
            kills += 1;
            *phases.entry(phase(&place.db())).or_default() += 1;
        }
        sql::assert_sound(&place.db());
        assert_eq!(sql::rows(&place.db()), expected, "run {runs}");
    }
    println!("{kills} kills in {runs} runs: {phases:?}");
    let main = ["proposing", UNSTORED, STORED];
    assert!(rounds < 100 || main.iter().all(|phase| phases.contains_key(phase)));
}

/// Waits until a statement on a database answers something, or a process ends.
fn wait_for(child: &mut Child, db: &Path, statement: &str) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return false;
        }
        assert!(Instant::now() < deadline, "nothing answers {statement}");
        if sql::try_column(db, statement).is_ok_and(|rows| !rows.is_empty()) {
            return true;
        }
        thread::yield_now();
    }
}

/// The signal of Ctrl-C.
fn interrupt(child: &Child) {
    signal(child, "-INT");
}

/// Sends a signal to a process that this test has started.
pub fn signal(child: &Child, name: &str) {
    test_support::program::signal(child.id(), name);
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_between_two_tests_and_the_run_goes_on_later() {
    let reference = place(60);
    finish(&reference);
    // In the middle of the tests of the second iteration.
    let some = "SELECT l.id FROM law_evaluations e JOIN laws l ON l.id = e.law_id \
                JOIN iterations i ON i.id = l.created_iteration_id WHERE i.iteration_index = 2";
    // A machine that is busy enough may miss the moment; then once more.
    for _ in 0..20 {
        let place = place(60);
        let mut child = start(&place);
        if !wait_for(&mut child, &place.db(), some) {
            continue;
        }
        interrupt(&child);
        let ran: Ran = child.wait_with_output().unwrap().into();
        let status = place.status("1");
        let last = &status["last_iteration"];
        if ran.code == Some(0) || last["status"] == "completed" {
            continue;
        }
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
        assert_eq!(last["status"], "aborted", "{status}");
        let hint = "popper: to continue: popper resume 1 --db popper.db --iterations 4\n";
        assert!(ran.stderr.ends_with(hint), "{}", ran.stderr);
        let shown = place.popper(&["status"]).stdout;
        assert!(shown.contains("aborted: "), "{shown}");

        let resumed = place.popper(&["resume", "--run-id", "1"]);
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        assert_eq!(sql::rows(&place.db()), sql::rows(&reference.db()));
        sql::assert_sound(&place.db());
        return;
    }
    panic!("no run was interrupted in the middle of an iteration");
}

#[test]
fn resume_after_kill_9_continues_to_the_number_of_iterations() {
    let place = place(8);
    let mut child = start(&place);
    wait_for(&mut child, &place.db(), "SELECT 1 FROM iterations");
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = place.popper(&["resume"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    let asked: u64 = ITERATIONS.parse().unwrap();
    assert_eq!(sql::count(&place.db(), "iterations"), asked);
    // Another number replaces it.
    let longer = place.popper(&["resume", "--iterations", "5"]);
    assert_eq!(longer.code, Some(0), "{}", longer.stderr);
    let kept = "SELECT config_json ->> 'iterations' FROM runs";
    assert_eq!(sql::number(&place.db(), kept), 5);
}

#[test]
fn one_process_at_a_time_writes_and_others_read() {
    let place = place(60);
    let mut child = start(&place);
    assert!(wait_for(
        &mut child,
        &place.db(),
        "SELECT 1 FROM iterations"
    ));
    let second = place.run(&["--iterations", "1"]);
    let status = place.popper(&["status"]);
    let still_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        (status.code, status.stderr.as_str()),
        (Some(0), "run: 1 (newest)\n")
    );
    if still_running {
        assert_eq!((second.code, second.stdout.as_str()), (Some(1), ""));
        let line = "popper: popper.db: in use by another process; let it finish or stop it, then try again\n";
        assert_eq!(second.stderr, line);
    }
}
