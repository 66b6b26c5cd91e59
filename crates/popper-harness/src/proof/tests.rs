//! Proofs against the fixtures and against brute force, and mutants of proofs.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Proof, prove, subject, verify_proof};
use crate::eval::Horizon;
use crate::law::{Extensions, Law, Program};
use crate::universe::{KineticGrid, TableUniverse, Universe, random_universe};

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/popper")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

fn laws(name: &str) -> Vec<Law> {
    let extensions = Extensions {
        local_transition: true,
    };
    Law::read_all(&fixture(&format!("laws/{name}.json")), extensions)
        .unwrap()
        .into_iter()
        .filter_map(Result::ok)
        .collect()
}

fn law(value: &Value) -> Law {
    let extensions = Extensions {
        local_transition: true,
    };
    Law::from_value(value.clone(), "$", extensions).unwrap()
}

/// A law of a claim over named expressions.
fn claim(template: &str, observables: &[(&str, &str)], claim: &str) -> Law {
    law(&json!({
        "schema_version": "1.0.0", "law_id": "test", "template": template,
        "quantifiers": {"T": 9, "H": 2}, "preconditions": [], "proposed_tests": [],
        "observables": observables.iter().map(|(name, expr)| json!({"name": name, "expr": expr})).collect::<Vec<_>>(),
        "claim": claim, "forbidden": "the contrary",
        "direction": (template == "monotone").then_some("<="),
    }))
}

fn proof(law: &Law, universe: &dyn Universe) -> Option<Proof> {
    let program = Program::compile(law, universe).ok()?;
    let proof = prove(law, &program, universe)?;
    assert_eq!(verify_proof(&proof), Ok(()), "{}", law.claim);
    let text = serde_json::to_string(&proof).unwrap();
    let back: Proof = serde_json::from_str(&text).unwrap();
    assert_eq!(back, proof);
    assert_eq!(verify_proof(&back), Ok(()));
    Some(proof)
}

#[test]
fn true_fixtures_are_proved() {
    let expected: Value = serde_json::from_str(&fixture("expectations.json")).unwrap();
    let strength = |id: &str| {
        let entries = expected["expected"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["law_id"] == id).unwrap();
        entry["strength"].as_str().unwrap_or("").to_owned()
    };
    let also = [
        "incoming_becomes_collision",
        "collisions_at_most_half",
        "collision_leaves_room",
    ];
    let mut count = 0;
    for law in laws("true") {
        let wanted = strength(&law.law_id) == "proved" || also.contains(&law.law_id.as_str());
        assert_eq!(
            proof(&law, &KineticGrid).is_some(),
            wanted,
            "{}",
            law.law_id
        );
        count += usize::from(wanted);
    }
    assert_eq!(count, 14);
}

#[test]
fn false_and_undecided_fixtures_are_not_proved() {
    for law in laws("false") {
        assert!(proof(&law, &KineticGrid).is_none(), "{}", law.law_id);
    }
    let harmless = [
        "count_is_not_negative",
        "p_implies_p",
        "antecedent_never_holds",
    ];
    for law in laws("unknown") {
        let found = proof(&law, &KineticGrid).is_some();
        assert!(!found || harmless.contains(&law.law_id.as_str()), "{}", law.law_id);
    }
}
