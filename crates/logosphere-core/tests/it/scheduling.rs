//! Who reads what of the same round.

use logosphere_core::{Scheduling, Settings};
use serde_json::Value;

use crate::desk;

/// For each call whether it read a message that was sent in its own round.
fn reads_own_round(settings: &Settings) -> Vec<bool> {
    let (_, journal) = desk::run(settings, desk::mind(settings));
    let mut before = 0;
    let mut reads = Vec::new();
    for event in desk::lines(&journal) {
        match event["type"].as_str().unwrap() {
            "round_start" => before = event["pool_size"].as_u64().unwrap(),
            "mind_invocation" => {
                let ids = event["sampled_ids"].as_array().unwrap();
                reads.push(ids.iter().any(|id| id.as_u64().unwrap() >= before));
            }
            _ => {}
        }
    }
    reads
}

#[test]
fn one_by_one_a_mind_can_read_what_those_before_it_sent() {
    let reads = reads_own_round(&desk::settings(Scheduling::Sequential));
    assert_eq!(reads.len(), 20);
    assert!(
        reads.iter().filter(|reads| **reads).count() > 5,
        "{reads:?}"
    );
    // Nobody was before the first of a round.
    assert!(reads.iter().step_by(4).all(|reads| !reads));
}

#[test]
fn from_a_snapshot_nobody_reads_what_was_sent_in_the_round() {
    for concurrency in [1, 4, 16] {
        let settings = Settings {
            concurrency,
            ..desk::settings(Scheduling::Snapshot)
        };
        let reads = reads_own_round(&settings);
        assert_eq!(reads, [false; 20]);
    }
}

#[test]
fn a_pool_that_forgets_gives_the_same_run() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let all = desk::settings(scheduling);
        let active = Settings {
            keep: logosphere_core::KeepSetting::Active,
            ..all.clone()
        };
        let inputs = |settings: &Settings| {
            let (_, journal) = desk::run(settings, desk::mind(settings));
            let events = desk::lines(&journal).into_iter();
            let calls = events.filter(|event| event["type"] == "mind_invocation");
            calls
                .map(|call| call["input_messages"].clone())
                .collect::<Vec<Value>>()
        };
        assert_eq!(inputs(&all), inputs(&active));
    }
}
