//! Calls that no client should make.

use serde_json::json;
use test_support::mcp::{MalformedCalls, refuses_malformed_calls};

use super::wire;
use crate::process::law;

#[test]
fn ten_thousand_malformed_calls_open_nothing_and_are_all_refused() {
    let mut refused = vec![
        ("simulate", json!({"start": ".", "steps": 1001})),
        ("simulate", json!({"start": ".".repeat(4097)})),
        ("span", json!({"width": 5})),
        ("check", json!({"laws": []})),
        ("check", json!({"laws": [law("a")], "exhaustive_n": 15})),
        (
            "check",
            json!({"laws": [law("a")], "budget": 20_000_000_001_u64}),
        ),
        (
            "explain",
            json!({"counterexample": {"initial_state": 3, "config": {}}}),
        ),
        (
            "explain",
            json!({"counterexample": {"initial_state": "\u{0}", "config": [[]]}}),
        ),
    ];
    for key in ["template", "quantifiers", "observables", "forbidden"] {
        for value in [json!(-1), json!({"": null}), json!(true), json!(1e300)] {
            let mut wrong = law("wrong");
            wrong[key] = value;
            refused.push(("check", json!({"laws": [wrong]})));
        }
    }
    let mut wire = wire();
    assert_eq!(wire.open(), "popper");
    let calls = MalformedCalls {
        good: (
            "check",
            json!({"laws": [law("a")], "exhaustive_n": 4, "detail": "short"}),
        ),
        keys: &["laws", "universe", "seed", "exhaustive_n", "detail"],
        quick: ("simulate", json!({"start": ">.<"})),
        refused: &refused,
    };
    refuses_malformed_calls(wire, 10_000, &calls);
}
