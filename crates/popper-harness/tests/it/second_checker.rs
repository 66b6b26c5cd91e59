//! The checker in Python, which a second author wrote from `docs/proof-format.md`, judges as `verify_proof` does.

use std::collections::HashSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use popper_harness::proof::{Method, Proof, verify_proof};
use popper_harness::universe::random_universe;
use rayon::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use test_support::offers_program;

use crate::generated;
use crate::random_law::Rng;
use crate::regular::proof;

/// The proofs of all generated laws that have one.
fn proofs() -> Vec<Proof> {
    let laws = generated::laws();
    let passed: Vec<_> = laws.iter().filter(|law| law.passed).collect();
    let found = |law: &&generated::GeneratedLaw| proof(&law.law, &random_universe(law.seed));
    passed.par_iter().filter_map(found).collect()
}

/// Returns for each proof whether it holds for the script.
fn judged(proofs: &[Value]) -> Vec<bool> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tools/check_proof.py");
    let mut process = Command::new("python3")
        .args([script, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = json!(proofs).to_string();
    let mut input = process.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = process.wait_with_output().unwrap();
    writer.join().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let held: Vec<bool> = lines
        .lines()
        .map(|line| line.ends_with(": holds"))
        .collect();
    assert_eq!(held.len(), proofs.len(), "{lines}");
    let all = held.iter().all(|&held| held);
    assert_eq!(output.status.code(), Some(if all { 0 } else { 4 }));
    held
}

fn sha256(value: &Value) -> String {
    hex::encode(Sha256::digest(value.to_string()))
}

/// The proof with the two hashes that depend on what was changed in it.
pub fn sealed(mut proof: Value) -> Value {
    proof["law_fingerprint"] = json!(sha256(&proof["law"]));
    proof.as_object_mut().unwrap().remove("digest");
    proof["digest"] = json!(sha256(&proof));
    proof
}

/// Changes one byte of the claim, the preconditions or the certificate, so that it is still JSON.
fn changed(proof: &Value, random: &mut Rng) -> Value {
    let part = match random.below(8) {
        0 if proof["law"].get("claim_ast").is_some() => "/law/claim_ast",
        1 if proof["law"]["preconditions"] != json!([]) => "/law/preconditions",
        _ => "/certificate",
    };
    let before = proof.pointer(part).unwrap();
    let text = before.to_string();
    loop {
        let mut bytes = text.clone().into_bytes();
        let byte = &mut bytes[random.below(text.len())];
        let others: &[u8] = match byte {
            b'0'..=b'9' => b"0123456789",
            b'a'..=b'z' | b'A'..=b'Z' => b"abcdefX.",
            b'.' | b'<' | b'>' | b'+' | b'-' | b'*' | b'=' => b"<>=+-*.",
            _ => continue,
        };
        *byte = others[random.below(others.len())];
        let Ok(value) = serde_json::from_slice::<Value>(&bytes) else {
            continue;
        };
        if value != *before {
            let mut proof = proof.clone();
            *proof.pointer_mut(part).unwrap() = value;
            return sealed(proof);
        }
    }
}

#[test]
fn every_proof_holds_for_both() {
    if !offers_program("python3") {
        return;
    }
    let proofs = proofs();
    assert!(proofs.len() > 700, "{}", proofs.len());
    let values: Vec<Value> = proofs.iter().map(|proof| json!(proof)).collect();
    for (value, held) in values.iter().zip(judged(&values)) {
        assert!(held, "{value}");
    }
    assert_eq!(sealed(values[0].clone()), values[0]);
}

#[test]
fn a_changed_proof_is_judged_alike() {
    if !offers_program("python3") {
        return;
    }
    let proofs = proofs();
    let (regular, other): (Vec<_>, Vec<_>) =
        (proofs.iter()).partition(|proof| proof.method == Method::Regular);
    let picked = |from: &[&Proof]| -> Vec<Value> {
        let every = from.iter().step_by(from.len() / 25);
        every.take(25).map(|proof| json!(proof)).collect()
    };
    let originals = [picked(&regular), picked(&other)].concat();
    let mut random = Rng::new(27);
    let all: Vec<Value> = (originals.iter())
        .flat_map(|proof| {
            let changes: Vec<_> = (0..20).map(|_| changed(proof, &mut random)).collect();
            changes
        })
        .collect();
    assert_eq!(all.len(), 1_000);
    let mut held = 0;
    for (value, theirs) in all.iter().zip(judged(&all)) {
        let ours = serde_json::from_value::<Proof>(value.clone())
            .map_err(|error| error.to_string())
            .and_then(|proof| verify_proof(&proof).map_err(|error| error.to_string()));
        // The page has no rules for normal forms, so the script takes any law that it can read.
        if ours == Err("law: not in normal form".to_owned()) {
            continue;
        }
        assert_eq!(ours.is_ok(), theirs, "{ours:?}: {value}");
        held += usize::from(theirs);
    }
    // A larger set of words may still prove the law, and so may another name of it.
    assert!(held < 100, "{held}");
    assert!(all.iter().collect::<HashSet<_>>().len() > 900);
}
