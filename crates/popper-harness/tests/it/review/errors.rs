//! `evaluation_error` names the case, and the search ends early (P31).

use popper_harness::counterexample::rederive;
use popper_harness::decide::Status;
use serde_json::json;

use super::{answer, law};
use crate::fixtures::harness;

#[test]
fn the_note_names_the_smallest_start_the_step_the_expression_and_the_error() {
    let overflow =
        json!({"observables": [{"name": "big", "expr": "count('>') * 9223372036854775807 * 3"}]});
    let verdict = harness().evaluate(&law("invariant", "big(t) == big(0)", &overflow));
    assert_eq!(
        answer(&verdict),
        "UNKNOWN evaluation_error: `big = count('>') * 9223372036854775807 * 3` has no value at t = 0 of the run from `>`: \
         the result does not fit into 64 bits"
    );
    // Nothing beyond the exhausted rings was searched.
    assert!(verdict.power.rings.iter().all(|ring| ring.n <= 10));

    // The two meet at t = 2, and one collision makes the divisor 0.
    let late = json!({"observables": [{"name": "z", "expr": "7 % (count('X') - 1)"}]});
    let verdict = harness().evaluate(&law("bound", "z(t) < 7", &late));
    assert_eq!(
        answer(&verdict),
        "UNKNOWN evaluation_error: `z = 7 % (count('X') - 1)` has no value at t = 2 of the run from `.><`: division by zero"
    );

    let condition =
        json!({"preconditions": [{"lhs": "count('>') % count('<')", "op": "==", "rhs": 0}]});
    let verdict = harness().evaluate(&law("bound", "2*x(t) <= grid_length", &condition));
    assert_eq!(
        answer(&verdict),
        "UNKNOWN evaluation_error: the precondition's `count('>') % count('<')` has no value at t = 0 of the run from `.`: \
         division by zero"
    );

    let length = json!({"preconditions": [{"lhs": "6 % (grid_length - 3)", "op": ">=", "rhs": 0}]});
    let verdict = harness().evaluate(&law("bound", "2*x(t) <= grid_length", &length));
    assert_eq!(
        answer(&verdict),
        "UNKNOWN evaluation_error: a precondition has no value on rings of 3 cells: division by zero"
    );
}

/// A counterexample that evaluates without an error is FAIL, and only then does an error count. The extreme states of large
/// rings are tried before samples of small ones, so an error on these no longer ends the search before it is found.
#[test]
fn a_counterexample_is_found_although_smaller_rings_have_errors() {
    let divisor = "(grid_length - 11) * (grid_length - 12) * (grid_length - 13)";
    let beyond = json!({"observables": [
        {"name": "x", "expr": "count('X')"},
        {"name": "z", "expr": format!("7 % ({divisor})")},
    ]});
    let law = law("bound", "z(t) >= -2000 and x(t) <= 12", &beyond);
    let verdict = harness().evaluate(&law);
    assert_eq!(verdict.status, Status::Fail, "{:?}", verdict.notes);
    let example = verdict.counterexample.unwrap();
    assert_eq!((example.config.n, example.t_fail), (27, 1));
    rederive(&example).unwrap();
}

/// With errors on the exhausted rings the stages keep their order: a thousand of them end the search, whatever is beyond.
#[test]
fn errors_on_the_exhausted_rings_come_before_the_extreme_states() {
    let small = json!({"observables": [
        {"name": "x", "expr": "count('X')"},
        {"name": "z", "expr": "7 % (count('X') - 1)"},
    ]});
    let verdict = harness().evaluate(&law("bound", "z(t) >= 0 and x(t) <= 12", &small));
    assert_eq!(
        answer(&verdict),
        "UNKNOWN evaluation_error: `z = 7 % (count('X') - 1)` has no value at t = 2 of the run from `.><`: division by zero"
    );
    assert!(verdict.power.rings.iter().all(|ring| ring.n <= 10));
}
