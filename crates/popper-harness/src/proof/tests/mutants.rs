//! Mutated proofs, and proofs of other laws, are refused.

use super::*;

/// The proofs of the fixtures and of laws of the other kinds.
pub(super) fn proofs() -> Vec<Proof> {
    let local = law(&json!({
        "schema_version": "1.0.0", "law_id": "l", "template": "local_transition", "quantifiers": {"T": 3},
        "preconditions": [], "observables": [], "claim": "", "forbidden": "it stays",
        "proposed_tests": [], "trigger_symbol": "X", "neighbor_pattern": ".X.", "result_op": "==", "result_symbol": ".",
    }));
    let composed = claim(
        "bound",
        &[(
            "f",
            "(count('>') + count('X')) * (count('<') + count('X')) + (count('.') - count('X')) % 3",
        )],
        "f(t) == f(0)",
    );
    let mut all: Vec<Proof> = laws("true")
        .iter()
        .chain([&local, &composed])
        .filter_map(|law| proof(law, &KineticGrid))
        .collect();
    assert_eq!(all.len(), 16);
    for (number, text) in [(184, "f(t) == f(0)"), (204, "f(t+1) <= f(t)")] {
        let law = claim("bound", &[("f", "count('1')")], text);
        all.extend(proof(&law, &elementary(number)));
    }
    let mirror = json!({
        "schema_version": "1.0.0", "law_id": "m", "template": "symmetry_commutation", "quantifiers": {"T": 3},
        "preconditions": [], "observables": [], "claim": "commutes(mirror)", "forbidden": "no", "proposed_tests": [],
    });
    all.extend(proof(&law(&mirror), &elementary(90)));
    assert_eq!(all.len(), 19);
    all
}

/// Every way to change one leaf of a JSON tree, or to add a key, with the path of the change.
fn mutants(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) => {
            let mut more = map.clone();
            more.insert("extra".into(), json!(1));
            found.push((format!("{path}.extra"), more.into()));
            for (key, inner) in map {
                let mut changed = Vec::new();
                mutants(inner, &format!("{path}.{key}"), &mut changed);
                found.extend(changed.into_iter().map(|(path, inner)| {
                    let mut whole = map.clone();
                    whole.insert(key.clone(), inner);
                    (path, whole.into())
                }));
                let mut fewer = map.clone();
                fewer.remove(key);
                found.push((format!("{path}.{key} removed"), fewer.into()));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let mut changed = Vec::new();
                mutants(item, &format!("{path}[{index}]"), &mut changed);
                found.extend(changed.into_iter().map(|(path, item)| {
                    let mut whole = items.clone();
                    whole[index] = item;
                    (path, whole.into())
                }));
            }
            if !items.is_empty() {
                found.push((format!("{path} cut"), items[1..].to_vec().into()));
            }
        }
        Value::Number(number) => {
            let number = number.as_i64().unwrap();
            for other in [number + 1, number - 1, number + 1000, -number - 1] {
                found.push((path.into(), json!(other)));
            }
            found.push((path.into(), json!(i64::MAX)));
        }
        Value::String(text) => {
            found.push((path.into(), json!(format!("{text}0"))));
            found.push((path.into(), json!(text.get(1..).unwrap_or("x"))));
        }
        Value::Bool(bool) => found.push((path.into(), json!(!bool))),
        Value::Null => {}
    }
}

fn refused(value: &Value, reseal: bool) -> bool {
    let Ok(mut proof) = serde_json::from_value::<Proof>(value.clone()) else {
        return true;
    };
    if reseal {
        proof.digest = subject::digest(&proof).unwrap();
    }
    verify_proof(&proof).is_err()
}

#[test]
fn every_mutant_is_refused() {
    let (mut changed, mut resealed) = (0, 0);
    for proof in proofs() {
        let mut found = Vec::new();
        mutants(&serde_json::to_value(&proof).unwrap(), "$", &mut found);
        for (path, mutant) in found {
            assert!(refused(&mutant, false), "{path} of {}", proof.law);
            changed += 1;
            // Sealed again, what the law, a mutant of the law or its fingerprint says must still be checked. A larger multiplier may
            // be as good as the one the prover chose.
            if !path.contains("multipliers") && !path.contains("unit") && path != "$.digest" {
                assert!(refused(&mutant, true), "{path} of {}", proof.law);
                resealed += 1;
            }
        }
    }
    assert!(changed > 2000 && resealed > 2000, "{changed} {resealed}");
}

#[test]
fn proofs_of_other_laws_and_universes_are_refused() {
    let proofs = proofs();
    // A certificate of one law under another law, with fingerprint and digest made to fit.
    let mut crossed = 0;
    for proof in &proofs {
        for other in &proofs {
            let same = proof.certificate == other.certificate || proof.universe != other.universe;
            if same {
                continue;
            }
            let mut forged = other.clone();
            forged.certificate = proof.certificate.clone();
            forged.method = proof.method;
            forged.digest = subject::digest(&forged).unwrap();
            assert!(
                verify_proof(&forged).is_err(),
                "{} for {}",
                proof.law,
                other.law
            );
            crossed += 1;
        }
    }
    assert!(crossed > 100);
    // The rule of the universe changed at one neighbourhood, with hash and digest made to fit.
    let mut rules = 0;
    for proof in proofs.iter().filter(|proof| proof.universe.is_object()) {
        for window in ["000", "001", "010", "011", "100", "101", "110", "111"] {
            let mut forged = proof.clone();
            let cell = &mut forged.universe["rule"]["table"][window];
            *cell = json!(if *cell == json!("0") { "1" } else { "0" });
            let universe = Tabulated::from_value(&forged.universe).unwrap();
            assert!(verify_proof(&forged).is_err());
            forged.sim_hash = universe.definition_hash();
            forged.digest = subject::digest(&forged).unwrap();
            // Another rule may obey the law too (a symmetric one stays so where a symmetric neighbourhood changes).
            if verify_proof(&forged).is_ok() {
                let law = NormalLaw::from_value(forged.law.clone(), "$.law")
                    .unwrap()
                    .to_law("forged");
                let program = Program::compile(&law, &universe).unwrap();
                let starts = starts(&universe, 9);
                assert_eq!(
                    contradiction(&program, &universe, &starts),
                    None,
                    "{window} of {}",
                    proof.law
                );
                continue;
            }
            rules += 1;
        }
    }
    assert!(rules >= 16, "{rules}");
}
