//! Replays have a budget (P15).

use popper_harness::counterexample::{Counterexample, RederiveError, rederive};
use popper_harness::decide::{Config, Harness};
use popper_harness::universe::Tabulated;
use serde_json::{Value, json};

use super::law;
use crate::random_law::random_universe;

/// A counterexample to a bound in a universe without a known period, bent by `change`.
fn bent(
    template: &str,
    claim: &str,
    change: impl Fn(&mut Counterexample),
) -> Result<(), RederiveError> {
    let universe = Tabulated::from_json(&random_universe(3).to_string()).unwrap();
    let harness = Harness::new(universe, Config::default()).unwrap();
    let more = json!({"quantifiers": {"T": 30, "H": 3}});
    let verdict = harness.evaluate(&law(template, claim, &more));
    let mut example = verdict.counterexample.unwrap();
    rederive(&example).unwrap();
    change(&mut example);
    rederive(&example)
}

fn stretch(example: &mut Counterexample, cells: usize, t: u64) {
    example.initial_state = ".".repeat(cells);
    example.config.n = cells;
    example.t = t;
    example.t_fail = t;
    example.config.law["quantifiers"]["T"] = t.into();
}

#[test]
fn a_ring_beyond_the_limit_is_refused() {
    let error = bent("bound", "x(t) <= 0", |example| {
        stretch(example, 100_000, 1_000_000);
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the initial state has 100000 cells, the limit is 4096"
    );
}

#[test]
fn work_beyond_the_limit_is_refused_with_both_numbers() {
    let error = bent("bound", "x(t) <= 0", |example| {
        stretch(example, 4096, 1_000_000);
    })
    .unwrap_err();
    assert!(
        matches!(
            error,
            RederiveError::TooLong {
                updates: 4_096_000_000,
                limit: 1_000_000_000
            }
        ),
        "{error}"
    );
    let far = |example: &mut Counterexample| {
        example.config.law["quantifiers"]["T"] = 1_000_000_000.into();
        example.config.law["claim"] = Value::from("x(t) <= 0 or x(999999999) > 5");
    };
    let error = bent("bound", "x(t) <= 0", far).unwrap_err();
    assert!(matches!(error, RederiveError::TooLong { .. }), "{error}");
    let wide = |example: &mut Counterexample| {
        example.config.law["quantifiers"]["H"] = 1_000_000_000.into();
    };
    let error = bent("eventually", "x(t) >= 0 -> x(t) > grid_length", wide).unwrap_err();
    assert!(matches!(error, RederiveError::TooWide { .. }), "{error}");
}

#[test]
fn a_long_replay_within_the_limit_is_made() {
    // Nothing happens on an empty ring for so long, and no state but two is in memory.
    let error = bent("bound", "x(t) <= 0", |example| {
        stretch(example, 64, 1_000_000);
    })
    .unwrap_err();
    assert!(
        matches!(
            error,
            RederiveError::Differs {
                field: "t_fail",
                ..
            }
        ),
        "{error}"
    );
}
