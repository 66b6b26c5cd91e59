//! `tautological_claim` is a statement that was shown (P2, P10).

use popper_harness::decide::{Status, UnknownReason};
use serde_json::json;

use super::{answer, law};
use crate::fixtures::harness;

#[test]
fn a_bound_that_only_a_certain_ring_breaks_is_refuted() {
    let cases = [
        ("grid_length", "f(t) != 34", 34),
        ("grid_length", "f(t) <= 256", 257),
        ("count_pattern('>>.>>..>.>><<.')", "f(t) == 0", 14),
        ("count('>')", "f(t) <= 256", 257),
    ];
    for (expr, claim, cells) in cases {
        let more = json!({"observables": [{"name": "f", "expr": expr}]});
        let verdict = harness().evaluate(&law("bound", claim, &more));
        assert_eq!(verdict.status, Status::Fail, "{expr}: {}", answer(&verdict));
        assert_eq!(verdict.counterexample.unwrap().config.n, cells, "{expr}");
    }
}

#[test]
fn what_arithmetic_shows_is_a_tautology() {
    let three = json!({"T": 3});
    let ast = json!({"op": "<", "lhs": {"var": "t"}, "rhs": {"const": 3}});
    let cases = [
        // t + 1 is named, so t ends before T.
        (
            "implication_step",
            "x(t) >= 0 -> t < 3",
            json!({"quantifiers": three}),
        ),
        (
            "monotone",
            "",
            json!({"quantifiers": three, "claim_ast": ast}),
        ),
        ("bound", "r(t) <= grid_length", json!({})),
        ("bound", "x(t) * x(t) >= 0", json!({})),
        ("bound", "x(t) * r(0) >= -1", json!({})),
        ("bound", "3*x(t) + 2 != 3*r(t) + 1", json!({})),
        ("bound", "x(t) % 5 < 5", json!({})),
        (
            "implication_state",
            "x(t) * r(t) > 5 -> r(t) * x(t) > 4",
            json!({}),
        ),
        (
            "implication_state",
            "x(t) / 2 > 3 -> x(t) / 2 > 3",
            json!({}),
        ),
        (
            "bound",
            "x(t) <= 2500",
            json!({"preconditions": [{"lhs": "grid_length", "op": "<=", "rhs": 8}]}),
        ),
    ];
    for (template, claim, more) in cases {
        let verdict = harness().evaluate(&law(template, claim, &more));
        assert_eq!(
            verdict.reason_code,
            Some(UnknownReason::TautologicalClaim),
            "{template} {claim}: {}",
            answer(&verdict)
        );
    }
}

#[test]
fn t_runs_to_the_last_step_that_the_template_uses() {
    let three = json!({"T": 3});
    let verdict = harness().evaluate(&law(
        "bound",
        "t < 3 or x(t) < 0",
        &json!({"quantifiers": three}),
    ));
    assert_eq!(verdict.status, Status::Fail, "{}", answer(&verdict));
}

#[test]
fn what_is_neither_broken_nor_shown_is_inconclusive() {
    // True of all states, but for a reason that is not in the ranges of the two.
    let more = json!({"observables": [{"name": "g", "expr": "max_gap('>')"}, {"name": "c", "expr": "count('>')"}]});
    let verdict = harness().evaluate(&law("bound", "g(t) <= c(t)", &more));
    assert_eq!(verdict.status, Status::Unknown);
    assert_eq!(
        verdict.reason_code,
        Some(UnknownReason::InconclusiveLowPower),
        "{}",
        answer(&verdict)
    );
}
