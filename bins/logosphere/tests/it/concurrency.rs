//! The number of calls in flight changes nothing but the time that a run takes.

use std::time::Duration;

use test_support::{MindFaults, MindMode, MindScript, MindStub};

use crate::journal::{self, calls, events};
use crate::program::{Place, words};

fn late() -> MindScript {
    MindScript {
        mode: MindMode::Mix,
        latency: Duration::from_millis(2),
        jitter: Duration::from_millis(20),
        ..MindScript::default()
    }
}

#[test]
fn journals_are_equal_for_1_and_16() {
    for seed in ["1", "2", "3"] {
        let place = Place::new();
        for (name, concurrency) in [("one", "1"), ("many", "16")] {
            let stub = MindStub::start(late());
            place.experiment(name);
            let run = format!("run {name} --minds 10 --rounds 4 --scheduling snapshot");
            let run = words(&run);
            let flags = ["--seed", seed, "--concurrency", concurrency];
            place.asking(&stub, &[&run[..], &flags].concat()).exits(0);
            let stats = stub.stats();
            assert_eq!(stats.requests, 40);
            let limit = concurrency.parse().unwrap();
            assert!(stats.max_in_flight <= limit, "{stats:?}");
            assert!(stats.connections <= limit, "{stats:?}");
            assert!(limit == 1 || stats.max_in_flight > 4, "{stats:?}");
        }
        place
            .alone(&["diff", &journal::path("one"), &journal::path("many")])
            .exits(0);
    }
}

#[test]
fn failures_change_nothing_either() {
    let place = Place::new();
    for (name, concurrency) in [("one", "1"), ("many", "16")] {
        let stub = MindStub::start(MindScript {
            faults: Some(MindFaults::always(0.15)),
            ..late()
        });
        place.experiment(name);
        let run = format!("run {name} --minds 6 --rounds 3 --scheduling snapshot --seed 4");
        let run = words(&run);
        place
            .asking(&stub, &[&run[..], &["--concurrency", concurrency]].concat())
            .exits(3);
    }
    place
        .alone(&["diff", &journal::path("one"), &journal::path("many")])
        .exits(0);
}

#[test]
fn sequential_calls_follow_each_other_on_one_connection() {
    let stub = MindStub::start(late());
    let place = Place::new();
    place.experiment("E");
    place
        .asking(&stub, &words("run E --minds 4 --rounds 3 --concurrency 16"))
        .exits(0);
    let stats = stub.stats();
    assert_eq!(
        (stats.requests, stats.max_in_flight, stats.connections),
        (12, 1, 1)
    );
}

#[test]
fn only_sequential_minds_read_what_was_written_in_their_round() {
    let stub = MindStub::start(MindScript::default());
    for (scheduling, expected) in [("sequential", true), ("snapshot", false)] {
        let place = Place::new();
        place.experiment("E");
        let run = format!("run E --minds 6 --rounds 6 --seed 2 --scheduling {scheduling}");
        let run = words(&run);
        place.asking(&stub, &run).exits(0);
        let events = events(&place, "E");
        let mut size = 0;
        let mut read = false;
        for event in &events {
            if event["type"] == "round_start" {
                size = event["pool_size"].as_u64().unwrap();
            }
            let sampled = event["sampled_ids"].as_array();
            read |= sampled.is_some_and(|ids| ids.iter().any(|id| id.as_u64().unwrap() >= size));
        }
        assert_eq!(read, expected, "{scheduling}");
        assert_eq!(calls(&events).len(), 36);
    }
}

#[test]
fn a_difference_is_named() {
    let stub = MindStub::start(MindScript::default());
    let place = Place::new();
    place.experiment("E");
    place
        .asking(&stub, &["run", "E", "--rounds", "2", "--seed", "1"])
        .exits(0);
    let journal = place.read(&journal::path("E"));
    let other = journal.replacen("\"mind_id\":1", "\"mind_id\":7", 1);
    place.file(
        "other.jsonl",
        journal::rechained(&events(&place, "E"), &other),
    );
    let ran = place
        .alone(&["diff", &journal::path("E"), "other.jsonl"])
        .exits(4);
    assert!(ran.all().contains("mind_id"), "{}", ran.all());
    assert!(ran.all().contains("line 4"), "{}", ran.all());
}
