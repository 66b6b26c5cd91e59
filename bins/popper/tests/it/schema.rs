//! Laws that break the schema: each is an error that names the place and what was expected.

use serde_json::{Value, json};

use crate::process::{file, law, popper, without_folder};

#[test]
fn every_broken_rule_names_the_place_and_the_limit() {
    let deep = |depth: usize| {
        let leaf = json!({"lhs": {"const": 1}, "op": "==", "rhs": {"const": 1}});
        let step = |inner, _| json!({"op": "=>", "lhs": leaf, "rhs": inner});
        (0..depth).fold(leaf.clone(), step)
    };
    let observables: Vec<Value> = (0..65)
        .map(|index| json!({"name": format!("o{index}"), "expr": "grid_length"}))
        .collect();
    let long = format!("1{}", " + 1".repeat(1100));
    let test = |key: &str, value: Value| json!([{"family": "random_density_sweep", "params": {key: value}}]);
    let changes: [(&str, Value); 17] = [
        ("quantifiers", json!({"T": 0})),
        ("quantifiers", json!({"T": 1_000_000_001})),
        ("quantifiers", json!({})),
        ("template", json!("causal")),
        ("template", json!("eventually")),
        ("template", json!("local_transition")),
        ("forbidden", json!("  ")),
        ("forbidden", Value::Null),
        ("law_id", json!("")),
        (
            "preconditions",
            json!([{"lhs": "grid_length", "op": "=~", "rhs": 4}]),
        ),
        ("observables", json!(observables)),
        ("observables", json!([{"name": "r", "expr": long}])),
        ("claim_ast", deep(70)),
        ("proposed_tests", test("grid_lengths", json!([-8]))),
        ("proposed_tests", test("cases", json!(1_000_000_000))),
        ("clam", json!("a key with a letter missing")),
        ("schema_version", json!("2.0.0")),
    ];
    let laws: Vec<Value> = changes
        .into_iter()
        .map(|(key, value)| {
            let mut law = law("broken");
            law[key] = value;
            law
        })
        .collect();
    let count = laws.len();
    let path = file("schema.json", Value::from(laws).to_string());
    let ran = popper(&["check", &path]);
    assert_eq!(ran.code, Some(2));
    for index in 0..count {
        assert!(
            ran.stderr.contains(&format!("schema.json: $[{index}].")),
            "{index}: {}",
            ran.stderr
        );
    }
    insta::assert_snapshot!(without_folder(&ran.stderr));
}
