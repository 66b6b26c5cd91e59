//! The number of calls at a time, on which the order of results does not depend.

use std::time::Duration;

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column, timeless};

#[test]
fn at_most_n_calls_are_under_way_and_results_keep_their_order() {
    let mut all = Vec::new();
    for limit in [1, 2, 8] {
        let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
        stub.set_latency(Duration::from_millis(50));
        let concurrency = limit.to_string();
        let arguments = ["run", "--all", "--concurrency", &concurrency];
        let ran = place.asking(&stub, &arguments).exits(0);
        let most = stub.stats().max_in_flight;
        assert!((1..=limit).contains(&most), "{most} of {limit}");
        assert_eq!(stub.stats().calls, 24);
        assert_eq!(
            column(&ran.results(), "/testCaseId"),
            ["1a", "1b", "2a", "3a"]
        );
        all.push(timeless(ran.json()));
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
}

#[test]
fn five_waves_are_enough_for_four_texts() {
    for (limit, waves) in [(8, 5), (2, 12), (1, 24)] {
        let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
        stub.hold(4, limit);
        let concurrency = limit.to_string();
        let arguments = ["run", "--all", "--concurrency", &concurrency];
        place.asking(&stub, &arguments).exits(0);
        assert!(stub.waves().iter().all(|wave| *wave <= limit));
        assert_eq!(stub.waves().len(), waves, "{:?}", stub.waves());
    }
}

#[test]
fn eight_is_the_default() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let line = |n| format!("{{\"id\": \"{n}\", \"text\": \"text number {n}\"}}\n");
    place.file("ten.jsonl", (0..10).map(line).collect::<String>());
    stub.hold(10, 8);
    place
        .asking(&stub, &["run", "--dataset", "ten.jsonl"])
        .exits(0);
    assert_eq!(stub.waves()[0], 8);
    assert_eq!(stub.stats().max_in_flight, 8);
}
