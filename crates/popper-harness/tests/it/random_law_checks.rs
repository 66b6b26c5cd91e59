//! The generator is worth something only if its laws are valid, varied, and often true.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::oracle::{Oracle, Refusal, Universe};
use crate::random_law::{random_law, random_universe};

const KEYS: [&str; 15] = [
    "schema_version",
    "law_id",
    "template",
    "quantifiers",
    "preconditions",
    "observables",
    "claim",
    "forbidden",
    "claim_ast",
    "transform",
    "direction",
    "bound_value",
    "bound_op",
    "proposed_tests",
    "capability_requirements",
];

#[test]
fn one_seed_is_one_law() {
    for seed in 0..200 {
        assert_eq!(random_law(seed), random_law(seed));
    }
    let laws: BTreeSet<String> = (0..2000)
        .map(|seed| {
            let mut law = random_law(seed);
            law["law_id"] = Value::Null;
            law.to_string()
        })
        .collect();
    assert!(laws.len() > 1500, "{}", laws.len());
}

#[test]
fn laws_are_valid_and_a_useful_mix() {
    let grid = Universe::kinetic();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |what: &str| *counts.entry(what.into()).or_default() += 1;
    for seed in 0..3000 {
        let law = random_law(seed);
        for key in law.as_object().unwrap().keys() {
            assert!(KEYS.contains(&&**key), "{key}");
        }
        let template = law["template"].as_str().unwrap();
        let oracle = match Oracle::new(&law, &grid) {
            Ok(oracle) => oracle,
            // Only the laws whose text contradicts the fields.
            Err(Refusal::Ambiguous(_)) if law["claim"].as_str().unwrap().ends_with("and t < 1") => {
                count("ambiguous");
                continue;
            }
            Err(refusal) => panic!("{refusal:?}: {law:#}"),
        };
        count(template);
        count(if law["claim_ast"].is_object() {
            "tree"
        } else {
            "text"
        });
        let smallest = oracle.smallest(5);
        let sizes: Vec<_> = (1..=5).map(|n| oracle.rings(n)).collect();
        if sizes.iter().all(|s| s.admitted == 0) {
            count("never admitted");
        }
        if sizes.iter().any(|s| s.errors > 0) {
            count("errors");
        }
        let implies = template.starts_with("implication") || template == "eventually";
        if implies && sizes.iter().all(|s| s.triggers == 0) {
            count("never triggered");
        }
        match smallest {
            None => count("true"),
            Some(found) => count(&format!("false from {}", found.n)),
        }
        // Some test of every function, whatever the seed does next year.
        for o in law["observables"].as_array().unwrap() {
            let expr = o["expr"].as_str().unwrap();
            for name in [
                "count_even",
                "count_odd",
                "count_at_parity",
                "count_pattern",
                "leftmost",
                "rightmost",
                "spread",
                "max_gap",
                "adjacent_pairs",
                "gap_pairs",
                "grid_length",
                "incoming",
                "indicator",
                "%",
            ] {
                if expr.contains(name) {
                    count(name);
                }
            }
        }
    }
    let of = |what: &str| counts.get(what).copied().unwrap_or(0);
    for template in [
        "invariant",
        "monotone",
        "bound",
        "implication_step",
        "implication_state",
        "eventually",
        "symmetry_commutation",
    ] {
        assert!(of(template) > 150, "{template}: {}", of(template));
    }
    assert!((900..2100).contains(&of("true")), "{}", of("true"));
    assert!(of("tree") > 400 && of("errors") > 30 && of("ambiguous") > 5);
    assert!(of("false from 3") + of("false from 4") + of("false from 5") > 300);
    assert!(of("never admitted") < 300 && of("never triggered") < 300);
    for function in [
        "count_even",
        "count_odd",
        "count_at_parity",
        "count_pattern",
        "leftmost",
        "rightmost",
        "spread",
        "max_gap",
        "adjacent_pairs",
        "gap_pairs",
        "grid_length",
        "incoming",
        "indicator",
        "%",
    ] {
        assert!(of(function) > 20, "{function}: {}", of(function));
    }
}

#[test]
fn a_tree_and_its_text_say_the_same() {
    let grid = Universe::kinetic();
    let mut compared = 0;
    for seed in 0..3000 {
        let tree = random_law(seed);
        let text = tree["claim"].as_str().unwrap();
        if !tree["claim_ast"].is_object() || ["see the tree", "x(t) >", "1 == 2"].contains(&text) {
            continue;
        }
        assert!(!tree["claim_ast"].to_string().contains("\"%\""));
        let mut by_text = tree.clone();
        by_text["claim_ast"] = Value::Null;
        // An invariant of one observable reads its text only as an echo.
        let Ok(by_text) = Oracle::new(&by_text, &grid) else {
            continue;
        };
        let by_tree = Oracle::new(&tree, &grid).unwrap();
        for n in 1..=4 {
            assert_eq!(by_tree.cases(n), by_text.cases(n), "{tree:#}");
        }
        compared += 1;
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn laws_can_be_asked_of_other_universes() {
    let (mut decided, mut held) = (0, 0);
    for seed in 0..300 {
        let universe = Universe::table(&random_universe(seed)).unwrap();
        match Oracle::new(&random_law(seed), &universe) {
            Ok(oracle) => {
                decided += 1;
                held += usize::from(oracle.smallest(4).is_none());
            }
            Err(refusal) => assert!(refusal.reason_code().is_some(), "{refusal:?}"),
        }
    }
    assert!(decided > 150 && held > 30, "{decided} {held}");
}
