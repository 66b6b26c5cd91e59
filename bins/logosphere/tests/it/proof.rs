//! The head of a journal, calls that were under way, and counts of what is left.

use serde_json::Value;
use test_support::{MindFatal, MindScript, MindStub};

use crate::journal::{self, events};
use crate::program::{Place, finish, signal, words};

#[test]
fn l10_verify_prints_the_head_and_holds_it_against_an_expected_one() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "2", "--seed", "1"])
        .exits(0);
    let all = events(&place, "E");
    let head = all.last().unwrap()["chain"].as_str().unwrap().to_owned();
    let seq = all.len() - 1;
    let ran = place.alone(&["verify", "E"]).exits(0);
    assert!(
        ran.stdout.contains(&format!("head {head} (seq {seq})")),
        "{}",
        ran.stdout
    );
    let told: Value =
        serde_json::from_str(&place.alone(&["verify", "E", "--json"]).exits(0).stdout).unwrap();
    assert_eq!(
        (&told["head"], &told["last_seq"]),
        (&head.clone().into(), &seq.into())
    );
    place
        .alone(&["verify", "E", "--expect-head", &head])
        .exits(0);
    // A prefix is a journal of its own, but not this one.
    let journal = place.read(&journal::path("E"));
    let prefix: String = journal.split_inclusive('\n').take(4).collect();
    place.file("prefix.jsonl", prefix);
    place.alone(&["verify", "prefix.jsonl"]).exits(0);
    let ran = place
        .alone(&["verify", "prefix.jsonl", "--expect-head", &head])
        .exits(4);
    assert!(
        ran.stderr.contains("seq 3") && ran.stderr.contains(&head),
        "{}",
        ran.stderr
    );
    // A rewritten journal verifies, and has another head.
    let rewritten = journal.replacen("\"latency_ms\":", "\"latency_ms\":1", 1);
    place.file("rewritten.jsonl", journal::rechained(&all, &rewritten));
    place.alone(&["verify", "rewritten.jsonl"]).exits(0);
    place
        .alone(&["verify", "rewritten.jsonl", "--expect-head", &head])
        .exits(4);
    place.alone(&["report", "E"]).exits(0);
    assert!(place.read("E/report.html").contains(&head));
}

fn keep(place: &Place, stub: &MindStub) {
    for (number, request) in stub.requests().iter().enumerate() {
        place.file(&format!("kept/{number}.json"), &request.body);
    }
}

#[test]
fn l09_calls_that_were_not_committed_are_no_leak() {
    for fatal in [
        MindFatal::Auth,
        MindFatal::Quota,
        MindFatal::NoModel,
        MindFatal::BadRequest,
    ] {
        for (at, scheduling) in [(4, "sequential"), (0, "sequential"), (4, "snapshot")] {
            let stub = MindStub::start(MindScript {
                fatal: Some((at, fatal)),
                ..MindScript::default()
            });
            let place = Place::new();
            place.experiment("E");
            let run = format!("run E --rounds 3 --seed 2 --scheduling {scheduling}");
            let run = words(&run);
            place.asking(&stub, &run).exits(1);
            keep(&place, &stub);
            let leak = ["check-leaks", "E", "--bodies", "kept"];
            let ran = place.alone(&leak).exits(0);
            assert!(
                ran.stdout.contains(", uncommitted "),
                "{fatal:?} {}",
                ran.stdout
            );
            let foreign = stub.requests()[0]
                .text()
                .replacen("Read them.", "Read these.", 1);
            place.file("kept/x.json", foreign);
            place.alone(&leak).exits(4);
        }
    }
}

#[test]
fn l09_calls_under_way_at_a_kill_are_no_leak() {
    for (scheduling, uncommitted) in [("sequential", 1), ("snapshot", 3)] {
        let stub = MindStub::start(MindScript {
            hold: 3..usize::MAX,
            ..MindScript::default()
        });
        let place = Place::new();
        place.experiment("E");
        let run = format!("run E --rounds 3 --seed 2 --scheduling {scheduling}");
        let run = words(&run);
        let child = place.start_asking(&stub, &run);
        stub.wait_requests(3 + uncommitted);
        signal(child.id(), "-KILL");
        finish(child);
        keep(&place, &stub);
        let ran = place
            .alone(&["check-leaks", "E", "--bodies", "kept"])
            .exits(0);
        let words = format!(", uncommitted {uncommitted}");
        assert!(ran.stdout.contains(&words), "{}", ran.stdout);
        stub.release();
        place.resuming(&stub, "E", &[]).exits(0);
        keep(&place, &stub);
        place
            .alone(&["check-leaks", "E", "--bodies", "kept"])
            .exits(0);
    }
}

#[test]
fn l07_a_forecast_of_a_resumed_run_counts_by_its_settings_of_now() {
    let place = Place::new();
    place.experiment("E");
    place
        .alone(&["run", "E", "--rounds", "2", "--seed", "1"])
        .exits(0);
    let forecast = |flags: &[&str]| {
        let ran = place.alone(&[&["estimate", "E"], flags].concat()).exits(0);
        let line = ran.stdout.lines().next().unwrap().to_owned();
        let told: Value = serde_json::from_str(
            &place
                .alone(&[&["estimate", "E", "--json"], flags].concat())
                .exits(0)
                .stdout,
        )
        .unwrap();
        (line, told["left"]["calls"].clone())
    };
    place
        .alone(&["resume", "E", "--rounds", "6", "--max-wall", "0"])
        .exits(130);
    let (line, left) = forecast(&[]);
    assert_eq!(line, "calls     18: 3 minds in 6 rounds; 6 are done");
    assert_eq!(left, 12);
    let (line, _) = forecast(&["--rounds", "9"]);
    assert_eq!(line, "calls     27: 3 minds in 9 rounds; 6 are done");
    let (line, left) = forecast(&["--rounds", "1"]);
    assert_eq!(
        (line.as_str(), left),
        ("calls     6: 3 minds in 2 rounds; 6 are done", 0.into())
    );
    let ran = place
        .alone(&["estimate", "E", "--max-wall", "3600"])
        .exits(0);
    assert!(!ran.stdout.contains("cap "), "{}", ran.stdout);
    // What `resume` cannot change has no price.
    for flags in [["--minds", "9"], ["--token-limit", "5"], ["--seed", "7"]] {
        let ran = place.alone(&[&["estimate", "E"][..], &flags].concat());
        ran.exits(2).tells(&["a resumed run cannot change these"]);
    }
}
