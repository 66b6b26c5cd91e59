//! The cheating and the honest systems as a contest.

use zer0gravity_engine::report::Board;
use zer0gravity_engine::result::Metrics;

use super::systems;
use crate::report::sample::{item, report};

/// The systems of a file that are out, with the reasons.
fn excluded(file: &str) -> Vec<String> {
    let results = systems(file).into_iter().map(|system| {
        let mut result = item(&system.name, "text", &system.original);
        result.flags = system.flags();
        result.metrics = Some(Metrics::of(&system.original, &system.decoded));
        result.encoding_system = system.rules.into();
        result
    });
    let board = Board::of(&report(results.collect()), Board::MIN_CRITICAL_RECALL);
    let out = board.out.into_iter();
    out.map(|system| format!("{}: {}", system.encoding_id, system.reasons.join("; ")))
        .collect()
}

#[test]
fn n17_cheating_systems_are_out_and_honest_ones_stay() {
    let cheating = excluded("cheating.json");
    assert!(cheating.len() >= 12, "{}: {cheating:#?}", cheating.len());
    let honest = excluded("honest.json");
    assert!(honest.len() <= 1, "{honest:#?}");
}
