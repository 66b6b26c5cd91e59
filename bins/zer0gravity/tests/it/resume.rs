//! Runs that stop anywhere and are resumed.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::program::RandomNumbers;
use test_support::{CompressionStub, StubMode};

use crate::program::{Place, Ran, finish, server, signal, start, timeless};

/// Three encodings, four texts, two trials.
const MATRIX: [&str; 10] = [
    "matrix",
    "--encoding",
    "a.txt",
    "b.txt",
    "c.txt",
    "--all",
    "--trials",
    "2",
    "--run-dir",
    "dir",
];

/// Calls of [`MATRIX`]: the counts of four texts and their four encodings, an encoding and a decoding for each of 24
/// experiments, a judge of the meaning for each of two trials of four texts (its question is without the rules),
/// a judge of the rules for each experiment.
const CALLS: usize = 8 + 24 + 24 + 8 + 24;

fn place() -> Place {
    let place = Place::new();
    for name in ["a.txt", "b.txt", "c.txt"] {
        place.file(name, format!("Rules of {name}: drop vowels.\n"));
    }
    place
}

/// Lines of the file of calls that are whole.
fn stored(place: &Place) -> usize {
    let file = fs::read(place.path("dir/calls.jsonl")).unwrap_or_default();
    let lines = file.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| line.ends_with(b"\n")).count()
}

fn report(place: &Place) -> Value {
    timeless(place.read_json("dir/report.json"))
}

/// Continues the run: by `resume`, or by the same command if nothing was begun.
fn continued(place: &Place, stub: &CompressionStub) -> Ran {
    let begun = place.path("dir/run.json").exists();
    let arguments: &[&str] = if begun { &["resume", "dir"] } else { &MATRIX };
    place.asking(stub, arguments)
}

/// Ends the process by a signal some time after its call number `calls`. Returns whether it was still running.
fn end(
    mut child: Child,
    stub: &CompressionStub,
    calls: usize,
    later: Duration,
    name: &str,
) -> bool {
    stub.wait_calls(calls);
    let moment = Instant::now() + later;
    while Instant::now() < moment {
        thread::yield_now();
    }
    let alive = child.try_wait().unwrap().is_none();
    signal(child.id(), name);
    child.wait().unwrap();
    stub.server().settle();
    alive
}

/// The number of kills at each place.
type Kills = BTreeMap<&'static str, usize>;

fn kill_rounds(seed: u64, rounds: usize) -> Kills {
    let stub = CompressionStub::start(StubMode::Ok);
    stub.set_latency(Duration::from_millis(5));
    let whole = place();
    whole.asking(&stub, &MATRIX).exits(0);
    assert_eq!((stub.stats().calls, stored(&whole)), (CALLS, CALLS));
    let expected = report(&whole);

    let mut draws = RandomNumbers(seed);
    let mut kills = Kills::new();
    for round in 0..rounds {
        let place = place();
        stub.reset(StubMode::Ok);
        stub.set_latency(Duration::from_millis(5));
        let calls = draws.below(CALLS + 1);
        // Replies come 5 ms after their calls and are then stored: a little more than that.
        let later = Duration::from_micros(draws.number() % 9_000);
        let name = if round % 2 == 0 { "-KILL" } else { "-TERM" };
        let killed = end(
            place.start_asking(&stub, &MATRIX),
            &stub,
            calls,
            later,
            name,
        );
        let kept = stored(&place);
        let made = stub.stats().calls;
        stub.reset(StubMode::Ok);
        let ran = continued(&place, &stub);
        let told = format!(
            "round {round}: {name} after {calls} calls and {later:?}, {made} made, {kept} kept"
        );
        // A signal that asks lets the calls under way end: what was paid is kept.
        assert!(kept == made || kept < made && name == "-KILL", "{told}");
        assert_eq!(ran.code, Some(0), "{told}\n{}", ran.stderr);
        assert_eq!(stub.stats().calls, CALLS - kept, "{told}");
        assert_eq!(stored(&place), CALLS, "{told}");
        assert_eq!(report(&place), expected, "{told}");
        let phase = match kept {
            _ if !killed => "after the end",
            0 => "before the first call was kept",
            CALLS => "after the last call was kept",
            _ => "in the middle",
        };
        *kills.entry(phase).or_default() += 1;
    }
    println!("{kills:?}");
    kills
}

// 25 rounds, in parts that run side by side.

#[test]
fn kills_at_any_instant_change_nothing_1() {
    kill_rounds(1, 5);
}

#[test]
fn kills_at_any_instant_change_nothing_2() {
    kill_rounds(2, 5);
}

#[test]
fn kills_at_any_instant_change_nothing_3() {
    kill_rounds(3, 5);
}

#[test]
fn kills_at_any_instant_change_nothing_4() {
    kill_rounds(4, 5);
}

#[test]
fn kills_at_any_instant_change_nothing_5() {
    kill_rounds(5, 5);
}

#[test]
#[ignore = "minutes; the same with fewer rounds runs always"]
fn kills_two_hundred_times() {
    let kills = kill_rounds(0, 200);
    assert!(kills["in the middle"] > 100, "{kills:?}");
}

#[test]
fn a_finished_run_makes_no_call_and_the_same_bytes() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    place.asking(&stub, &MATRIX).exits(0);
    let files = ["run.json", "calls.jsonl", "report.json"];
    let bytes = |place: &Place| files.map(|name| place.read(&format!("dir/{name}")));
    let before = bytes(&place);
    stub.reset(StubMode::Ok);
    for arguments in [&["resume", "dir"][..], &MATRIX] {
        place.asking(&stub, arguments).exits(0);
        assert_eq!(bytes(&place), before);
        assert_eq!(stub.stats().calls, 0);
    }
}

#[test]
fn a_torn_last_line_is_cut_with_a_notice() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    place.asking(&stub, &MATRIX).exits(0);
    let (calls, expected) = (place.read("dir/calls.jsonl"), report(&place));
    let last = calls[..calls.len() - 1].rfind('\n').unwrap() + 1;
    let line = &calls[last..];
    for end in [1, 2, line.len() / 2, line.len() - 2, line.len() - 1] {
        let cut = line
            .char_indices()
            .map(|(at, _)| at)
            .take_while(|at| *at <= end)
            .last();
        place.file("dir/calls.jsonl", &calls[..last + cut.unwrap()]);
        // The process that was killed in this line had written no report of it.
        fs::remove_file(place.path("dir/report.json")).unwrap();
        stub.reset(StubMode::Ok);
        let ran = place.asking(&stub, &["resume", "dir"]).exits(0);
        assert_eq!(stub.stats().calls, 1, "{end}");
        assert!(ran.stderr.contains("calls.jsonl"), "{end}\n{}", ran.stderr);
        assert_eq!(report(&place), expected, "{end}");
        assert_eq!(place.read("dir/calls.jsonl").lines().count(), CALLS);
    }
}

#[test]
fn a_bad_line_elsewhere_is_named_and_nothing_is_asked() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    place.asking(&stub, &MATRIX).exits(0);
    let calls = place.read("dir/calls.jsonl");
    fs::remove_file(place.path("dir/report.json")).unwrap();
    stub.reset(StubMode::Ok);
    for bad in ["", "{", "null", "{\"schema_version\": 1}"] {
        let mut lines: Vec<_> = calls.lines().collect();
        lines[16] = bad;
        let damaged = lines.join("\n") + "\n";
        place.file("dir/calls.jsonl", &damaged);
        let ran = place.asking(&stub, &["resume", "dir"]).exits(1);
        assert!(ran.stderr.contains("17"), "{bad}\n{}", ran.stderr);
        assert!(ran.stderr.contains("calls.jsonl"), "{bad}\n{}", ran.stderr);
        assert_eq!(place.read("dir/calls.jsonl"), damaged);
        assert_eq!(stub.stats().calls, 0);
    }
}

#[test]
fn api_errors_are_asked_again_and_refusals_are_not() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::E529Always));
    place.file(
        "set.jsonl",
        "{\"id\": \"a\", \"text\": \"Hello\"}\n{\"id\": \"b\", \"text\": \"[refuse]\"}\n",
    );
    let arguments = ["run", "--dataset", "set.jsonl", "--run-dir", "dir"];
    place.asking(&stub, &arguments).exits(1);
    stub.reset(StubMode::Ok);
    place.asking(&stub, &["resume", "dir"]).exits(3);
    // The counts of both texts are known; one experiment has five calls left, the other ends at the first.
    assert_eq!(stub.stats().calls, 5 + 1);
    stub.reset(StubMode::Ok);
    place.asking(&stub, &["resume", "dir"]).exits(3);
    assert_eq!(stub.stats().calls, 0);
}

#[cfg(unix)]
#[test]
fn ctrl_c_in_every_stage_can_be_resumed() {
    let stub = CompressionStub::start(StubMode::Ok);
    let arguments = ["run", "--level", "3", "--run-dir", "dir"];
    let whole = Place::new();
    whole.asking(&stub, &arguments).exits(0);
    let expected = report(&whole);
    for calls in 1..=6 {
        let place = Place::new();
        stub.reset(StubMode::Ok);
        stub.set_latency(Duration::from_millis(200));
        let child = place.start_asking(&stub, &arguments);
        stub.wait_calls(calls);
        signal(child.id(), "-INT");
        let ran = finish(child);
        // Replies under way may be waited for: those of the last stage finish the run.
        assert!(ran.code == Some(130) || calls >= 5, "{calls}: {ran:?}");
        let kept = stored(&place);
        stub.reset(StubMode::Ok);
        place.asking(&stub, &["resume", "dir"]).exits(0);
        assert_eq!(stub.stats().calls, 6 - kept, "{calls}");
        assert_eq!(report(&place), expected, "{calls}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_run_which_can_be_resumed() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    // The size of a file is limited: a write beyond it fails, as on a full disk.
    let limited = "trap '' XFSZ; ulimit -f 32; exec \"$0\" \"$@\"";
    let program = env!("CARGO_BIN_EXE_zer0gravity");
    let mut command = place.command(&[]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", limited, program])
        .args(MATRIX)
        .args(server(&stub.url()));
    shell
        .current_dir(command.get_current_dir().unwrap())
        .env_clear();
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap());
    }
    shell.stdin(std::process::Stdio::null());
    shell
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    command = shell;
    let ran = finish(start(&mut command)).exits(1);
    assert!(ran.stderr.contains("calls.jsonl"), "{}", ran.stderr);
    let kept = stored(&place);
    assert!(kept > 0 && kept < CALLS, "{kept}");
    stub.reset(StubMode::Ok);
    place.asking(&stub, &["resume", "dir"]).exits(0);
    assert_eq!(stub.stats().calls, CALLS - kept);
    assert_eq!(stored(&place), CALLS);
}
