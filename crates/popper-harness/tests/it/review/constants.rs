//! The constants of a law say which rings must be tried (P3), and the limit on rings is named (P9).

use popper_harness::counterexample::rederive;
use popper_harness::decide::Status;
use serde_json::json;

use super::{answer, law};
use crate::fixtures::harness;

#[test]
fn a_bound_beyond_the_ladder_is_refuted_on_the_smallest_ring() {
    // More than k collisions take 2(k + 1) movers; on rings of 2 times an odd number one cell is always left over.
    for (most, cells) in [(128, 259), (129, 260), (200, 403)] {
        let verdict = harness().evaluate(&law("bound", &format!("x(t) <= {most}"), &json!({})));
        assert_eq!(verdict.status, Status::Fail, "{most}: {}", answer(&verdict));
        let example = verdict.counterexample.unwrap();
        rederive(&example).unwrap();
        assert_eq!(example.config.n, cells, "{most}");
    }
}

#[test]
fn a_constant_inside_of_an_observable_or_a_precondition_counts_too() {
    let over = json!({"observables": [{"name": "over", "expr": "2*count('X') - 300"}]});
    let verdict = harness().evaluate(&law("bound", "over(t) <= 0", &over));
    assert_eq!(verdict.status, Status::Fail, "{}", answer(&verdict));
    let many = json!({"preconditions": [{"lhs": "count('>')", "op": "==", "rhs": 300}]});
    let verdict = harness().evaluate(&law("bound", "r(t) <= 299", &many));
    assert_eq!(verdict.status, Status::Fail, "{}", answer(&verdict));
}

#[test]
fn another_name_gives_the_same_starts() {
    let renamed = json!({"observables": [{"name": "k", "expr": "count('X')"}]});
    let first = harness().evaluate(&law(
        "bound",
        "x(t) <= 128",
        &json!({"observables": [{"name": "x", "expr": "count('X')"}]}),
    ));
    let second = harness().evaluate(&law("bound", "128 >= k(t)", &renamed));
    assert_eq!(first.law_fingerprint, second.law_fingerprint);
    let state = |verdict: popper_harness::decide::Verdict| {
        verdict.counterexample.map(|example| example.initial_state)
    };
    assert_eq!(state(first), state(second));
}

#[test]
fn a_constant_that_no_ring_reaches_is_a_limit() {
    for (claim, note) in [
        (
            "x(t) <= 2500",
            "the constant 2500 needs rings of 5001 cells, the limit is 4096",
        ),
        (
            "2*x(t) <= 5000",
            "the constant 2500 needs rings of 5001 cells, the limit is 4096",
        ),
        (
            "grid_length <= 5000",
            "the constant 5000 needs rings of 5001 cells, the limit is 4096",
        ),
    ] {
        let verdict = harness().evaluate(&law("bound", claim, &json!({})));
        assert_eq!(
            answer(&verdict),
            format!("UNKNOWN resource_limit: {note}"),
            "{claim}"
        );
    }
    // No admitted ring is that large, so nothing is missing.
    let small = json!({"preconditions": [{"lhs": "grid_length", "op": "<=", "rhs": 40}]});
    let verdict = harness().evaluate(&law("bound", "2*x(t) + 2100 <= grid_length + 2100", &small));
    assert_eq!(verdict.status, Status::Pass, "{}", answer(&verdict));
}

#[test]
fn preconditions_beyond_the_largest_ring_are_a_limit() {
    for (lhs, op, rhs, cells) in [
        ("grid_length", "==", 5000, 5000),
        ("2*grid_length", ">", 10_001, 5001),
        ("count('>')", ">=", 7000, 7000),
    ] {
        let more = json!({"preconditions": [{"lhs": lhs, "op": op, "rhs": rhs}]});
        let verdict = harness().evaluate(&law("bound", "x(t) <= 3", &more));
        let expected = format!(
            "UNKNOWN resource_limit: the preconditions need rings of {cells} cells or more, the limit is 4096"
        );
        assert_eq!(answer(&verdict), expected);
    }
    let none = json!({"preconditions": [
        {"lhs": "grid_length", "op": "==", "rhs": 5000}, {"lhs": "grid_length", "op": "<", "rhs": 5000},
    ]});
    let verdict = harness().evaluate(&law("bound", "x(t) <= 3", &none));
    assert!(
        answer(&verdict).starts_with("UNKNOWN unmet_preconditions"),
        "{}",
        answer(&verdict)
    );
}
