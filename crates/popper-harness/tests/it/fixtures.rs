//! The laws under `fixtures/popper/laws` get the verdicts of `expectations.json`.

use popper_harness::counterexample::rederive;
use popper_harness::decide::{Config, Harness, Status, Verdict};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::KineticGrid;
use serde_json::Value;

pub fn fixture(path: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/popper/");
    std::fs::read_to_string(format!("{root}{path}")).unwrap()
}

pub fn laws(file: &str) -> Vec<Law> {
    let laws = Law::read_all(
        &fixture(&format!("laws/{file}.json")),
        Extensions::default(),
    )
    .unwrap();
    laws.into_iter().map(Result::unwrap).collect()
}

pub fn all_laws() -> Vec<Law> {
    ["true", "false", "unknown"]
        .iter()
        .flat_map(|file| laws(file))
        .collect()
}

pub fn harness() -> Harness {
    Harness::new(KineticGrid, Config::default()).unwrap()
}

fn movers(state: &str) -> usize {
    state.chars().filter(|&symbol| symbol != '.').count()
}

/// Returns the first key in which a verdict differs from an expectation.
fn differs(expected: &Value, verdict: &Verdict) -> Option<String> {
    let found = serde_json::to_value(verdict).unwrap();
    let rank = |strength: &Value| {
        ["sampled", "exhaustive", "proved"]
            .iter()
            .position(|name| strength == name)
    };
    let cells = verdict
        .counterexample
        .as_ref()
        .map(|example| example.initial_state.as_str());
    for (key, value) in expected.as_object().unwrap() {
        let same = match key.as_str() {
            "law_id" | "note" => true,
            "strength" => rank(&found["evidence"]["strength"]) >= rank(value),
            "smallest_n" => cells.map(|state| state.chars().count() as u64) == value.as_u64(),
            "fewest_movers_at_smallest_n" => {
                cells.map(|state| movers(state) as u64) == value.as_u64()
            }
            key => found[key] == *value,
        };
        if !same {
            return Some(format!(
                "{}: {key} should be {value}: {found:#}",
                verdict.law_id
            ));
        }
    }
    None
}

#[test]
fn every_law_gets_its_verdict() {
    let harness = harness();
    let expectations: Value = serde_json::from_str(&fixture("expectations.json")).unwrap();
    let expected = expectations["expected"].as_array().unwrap();
    let mut wrong = Vec::new();
    for law in all_laws() {
        let verdict = harness.evaluate(&law);
        let expectation = expected
            .iter()
            .find(|entry| entry["law_id"] == law.law_id())
            .unwrap();
        wrong.extend(differs(expectation, &verdict));
        if verdict.status == Status::Fail {
            rederive(verdict.counterexample.as_ref().unwrap()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
