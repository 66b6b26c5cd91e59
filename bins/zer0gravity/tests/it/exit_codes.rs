//! Each exit code, and which one wins.

#[cfg(unix)]
use std::io::{BufRead as _, BufReader};
#[cfg(unix)]
use std::process::{Child, ChildStderr};
use std::time::Duration;

use serde_json::json;
use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column, finish, list, signal, words};

/// A dataset of these texts.
fn lines(texts: &[&str]) -> String {
    let lines = texts.iter().zip(1..);
    let lines =
        lines.map(|(text, n)| json!({"id": n.to_string(), "text": text}).to_string() + "\n");
    lines.collect()
}

fn run(mode: StubMode, arguments: &[&str], code: i32) {
    let place = Place::new();
    place.file("some.jsonl", lines(&["Hello world!", "[refuse] it"]));
    let stub = CompressionStub::start(mode);
    place.asking(&stub, arguments).exits(code);
}

#[test]
fn all_scored_is_0() {
    run(
        StubMode::Ok,
        &["run", "--level", "1", "--min-total", "70"],
        0,
    );
}

#[test]
fn all_failed_is_1() {
    run(StubMode::RefusalEncode, &["run", "--all"], 1);
    run(
        StubMode::E401,
        &["run", "--level", "1", "--min-total", "99"],
        1,
    );
}

#[test]
fn usage_is_2() {
    run(StubMode::Ok, &["run"], 2);
    run(StubMode::Ok, &["run", "--level", "7"], 2);
}

#[test]
fn some_failed_is_3_whatever_was_checked() {
    run(StubMode::Ok, &["run", "--dataset", "some.jsonl"], 3);
    let arguments = ["run", "--dataset", "some.jsonl", "--min-total", "99"];
    run(StubMode::Ok, &arguments, 3);
}

#[test]
fn a_check_that_does_not_hold_is_4() {
    run(
        StubMode::Ok,
        &["run", "--level", "1", "--min-total", "73"],
        4,
    );
}

#[test]
fn a_check_that_does_not_hold_is_named_last() {
    let place = Place::new();
    let last = |arguments: &str, code: i32| {
        let ran = place.alone(&words(arguments)).exits(code);
        ran.stderr.lines().last().unwrap_or_default().to_owned()
    };
    let low = "zer0gravity: mean total 58.0 is below --min-total 99";
    for command in ["run -q", "run", "matrix", "matrix -q --run-dir dir"] {
        let gate = format!("{command} --level 1 --provider offline --min-total 99");
        assert_eq!(last(&gate, 4), low, "{command}");
    }
    assert_eq!(last("resume dir --min-total 99", 4), low);
    let flags = "zer0gravity: --fail-on-flag: results have flags: expansion (1a, 1b)";
    let gate = "run -q --level 1 --provider offline --fail-on-flag";
    assert_eq!(last(gate, 4), flags);
    let both = place
        .alone(&words(&format!("{gate} --min-total 99")))
        .exits(4);
    assert!(
        both.stderr.ends_with(&format!("{flags}\n{low}\n")),
        "{}",
        both.stderr
    );
}

#[test]
fn n5_lost_and_invented_commitments_are_4_and_change_no_score() {
    let place = Place::new();
    let pair = |id: &str, decoded: &str| {
        json!({
            "id": id, "text": "Do not open valve V-12. Ask Ann.", "encodedText": "x", "decodedText": decoded,
            "originalTokens": 10, "encodedTokens": 5, "semanticScore": 38, "implementabilityScore": 5,
        })
        .to_string()
    };
    let kept = pair("kept", "Do not open the valve V-12. Ask Ann.");
    let wrong = pair("wrong", "Open valve V-12. Ask Bob.");
    place.file("pairs.jsonl", format!("{kept}\n{wrong}\n"));
    place.file("kept.jsonl", kept);
    let scored = |file: &str, checks: &str, code: i32| {
        let ran = place.alone(&words(&format!("score {file} {checks}")));
        ran.exits(code)
    };
    let plain = scored("pairs.jsonl", "", 0).results();
    assert_eq!(plain[0]["total"], plain[1]["total"]);
    for (check, said) in [
        (
            "--min-critical-recall 0.9",
            "/wrong keeps 0.3333 of the critical commitments",
        ),
        (
            "--max-invented 0",
            "/wrong has commitments that the original lacks: 1",
        ),
    ] {
        scored("kept.jsonl", check, 0);
        let ran = scored("pairs.jsonl", check, 4);
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert!(last.ends_with(said), "{last}");
        assert_eq!(column(&ran.results(), "/total"), column(&plain, "/total"));
    }
    scored(
        "pairs.jsonl",
        "--min-critical-recall 0.3 --max-invented 1",
        0,
    );
    for wrong in [
        "--min-critical-recall 1.5",
        "--min-critical-recall x",
        "--max-invented -1",
    ] {
        scored("kept.jsonl", wrong, 2);
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_is_130_and_what_is_finished_is_written() {
    // The reply that finishes the first text may be under way when the signal comes; then once more.
    for _ in 0..20 {
        let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
        // The program may look for the signal now and then only: a reply on its way comes after that.
        stub.set_latency(Duration::from_millis(200));
        place.file("set.jsonl", lines(&["Hello world!", "[hold] it"]));
        let child = place.start_asking(&stub, &["run", "--dataset", "set.jsonl"]);
        stub.wait_calls(7);
        bin_support::block_on(stub.server().wait_in_flight(1)).unwrap();
        signal(child.id(), "-INT");
        stub.release();
        let ran = finish(child).exits(130);
        assert_eq!(stub.stats().calls, 7);
        let results = ran.results();
        let rest = results.get(1..).unwrap_or_default();
        assert_eq!(column(rest, "/outcome/kind"), ["interrupted"]);
        assert_eq!(column(rest, "/outcome/status"), ["not_run"]);
        if results[0]["total"] == 73 {
            return;
        }
    }
    panic!("a finished item is not written");
}

#[cfg(unix)]
#[test]
fn z15_sigterm_and_sighup_are_treated_as_ctrl_c() {
    for name in ["-TERM", "-HUP"] {
        let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
        place.file("set.jsonl", lines(&["[hold] it"]));
        let run = "run --dataset set.jsonl --run-dir dir --output out.json";
        let arguments: Vec<_> = run.split(' ').collect();
        let child = place.start_asking(&stub, &arguments);
        stub.wait_calls(1);
        // Only then the reply comes: the program has begun to stop.
        let (mut stderr, child) = stopping(child, name);
        stub.release();
        finish(child).exits(130);
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut rest).unwrap();
        assert_eq!(place.names("."), ["dir", "out.json", "set.jsonl"], "{rest}");
        let results = list(&place.read_json("out.json"));
        assert_eq!(column(&results, "/outcome/kind"), ["interrupted"], "{name}");
        place.asking(&stub, &["resume", "dir"]).exits(0);
        assert_eq!(
            place
                .names("dir")
                .iter()
                .filter(|name| name.contains("part"))
                .count(),
            0
        );
    }
}

/// Sends the signal and reads stderr until the program says that it stops.
#[cfg(unix)]
fn stopping(mut child: Child, name: &str) -> (BufReader<ChildStderr>, Child) {
    signal(child.id(), name);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("stopping") {
        let read = stderr.read_line(&mut told).unwrap();
        assert_ne!(read, 0, "it ends without a word about that: {told}");
    }
    (stderr, child)
}

#[cfg(unix)]
#[test]
fn one_more_ctrl_c_ends_at_once() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    place.file("set.jsonl", lines(&["[hold] it"]));
    let arguments = ["run", "--dataset", "set.jsonl", "--run-dir", "dir"];
    let mut child = place.start_asking(&stub, &arguments);
    stub.wait_calls(1);
    // Two signals that come together are one.
    while child.try_wait().unwrap().is_none() {
        signal(child.id(), "-INT");
    }
    finish(child).exits(130);
}
