//! Counterexamples on large rings are made small within a budget (P14).

use std::sync::atomic::{AtomicU64, Ordering};

use popper_harness::counterexample::{Counterexample, rederive};
use popper_harness::decide::{Config, Harness, Status};
use popper_harness::law::Law;
use popper_harness::universe::KineticGrid;
use serde_json::{Value, json};

use super::law;
use crate::fixtures::harness;

fn collisions(most: u64, horizon: u64, op: &str, cells: u64, tests: &Value) -> Law {
    let more = json!({
        "quantifiers": {"T": horizon}, "proposed_tests": tests,
        "preconditions": [{"lhs": "grid_length", "op": op, "rhs": cells}],
    });
    law("bound", &format!("x(t) <= {most}"), &more)
}

fn refuted(law: &Law) -> Counterexample {
    let verdict = harness().evaluate(law);
    assert_eq!(verdict.status, Status::Fail, "{:?}", verdict.notes);
    let example = verdict.counterexample.unwrap();
    rederive(&example).unwrap();
    example
}

fn movers(example: &Counterexample) -> usize {
    example
        .initial_state
        .chars()
        .filter(|&symbol| symbol != '.')
        .count()
}

#[test]
fn two_hundred_cells() {
    let example = refuted(&collisions(20, 300, ">=", 200, &Value::Null));
    assert_eq!((example.config.n, movers(&example)), (200, 42));
    assert!(example.minimized && !example.minimal);
}

#[test]
fn a_thousand_cells() {
    let tests =
        json!([{"family": "extreme_states", "params": {"grid_lengths": [1000], "cases": 64}}]);
    let example = refuted(&collisions(200, 300, ">=", 1000, &tests));
    assert_eq!((example.config.n, movers(&example)), (1000, 402));
}

#[test]
fn a_change_of_a_count_takes_two_movers() {
    for n in [1000, 2000] {
        let more = json!({"preconditions": [{"lhs": "grid_length", "op": "==", "rhs": n}]});
        let example = refuted(&law("invariant", "x(t) == x(0)", &more));
        assert_eq!((example.config.n, movers(&example)), (n, 2));
        assert!(example.minimized && !example.minimal);
        // The least rotation begins with the longest run of the background.
        assert!(example.initial_state.starts_with(&".".repeat(n / 2)));
    }
}

#[test]
fn where_the_budget_ends_the_counterexample_is_not_called_minimized() {
    let config = Config::default()
        .ladder(vec![3500])
        .exhaustive_n(4)
        .minimal_n(4);
    let harness = Harness::new(KineticGrid, config).unwrap();
    let verdict = harness.evaluate(&collisions(1700, 2000, "==", 3500, &Value::Null));
    let example = verdict.counterexample.unwrap();
    rederive(&example).unwrap();
    assert!(!example.minimized && !example.minimal);
}

#[test]
fn shrinking_asks_whether_to_stop() {
    let law = collisions(20, 300, ">=", 200, &Value::Null);
    let questions = |most: u64| {
        let asked = AtomicU64::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= most;
        let verdict = harness().evaluate_with_stop(&law, &stop);
        (asked.into_inner(), verdict)
    };
    let (all, whole) = questions(u64::MAX);
    let (_, stopped) = questions(all - 2);
    let (whole, stopped) = (
        whole.counterexample.unwrap(),
        stopped.counterexample.unwrap(),
    );
    rederive(&stopped).unwrap();
    assert!(whole.minimized && !stopped.minimized);
}
