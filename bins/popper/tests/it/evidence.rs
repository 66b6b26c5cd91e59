//! `popper verify`: what `check` found holds, and what was tampered with does not.

use std::sync::LazyLock;

use popper_harness::universe::KineticGrid;
use serde_json::{Value, json};

use crate::process::{Ran, false_law, file, law, popper, popper_reads, quick, without_folder};

/// The verdicts of a law that is proved and of one that is refuted.
static VERDICTS: LazyLock<Value> = LazyLock::new(|| {
    let laws = file(
        "evidence.laws.json",
        json!([law("movers"), false_law("collisions")]).to_string(),
    );
    popper(&["check", "--json", "--config", &quick(), &laws]).json()
});

fn run(name: &str, document: &Value) -> Ran {
    let file = file(&format!("{name}.evidence.json"), document.to_string());
    popper(&["verify", &file])
}

fn counterexample() -> Value {
    VERDICTS[1]["counterexample"].clone()
}

fn proof() -> Value {
    VERDICTS[0]["evidence"]["proof"].clone()
}

#[test]
fn evidence_holds_alone_in_its_verdict_and_in_the_array() {
    for (kind, alone, verdict) in [
        ("counterexample", counterexample(), 1),
        ("proof", proof(), 0),
    ] {
        let line = run(&format!("{kind}.alone"), &alone).stdout;
        let verdict = VERDICTS[verdict].clone();
        for (name, document) in [
            ("alone", alone),
            ("verdict", verdict.clone()),
            ("array", json!([verdict])),
        ] {
            let ran = run(&format!("{kind}.{name}"), &document);
            assert_eq!(
                (ran.code, ran.stderr.as_str()),
                (Some(0), ""),
                "{name}: {ran:?}"
            );
            assert_eq!(ran.stdout.lines().count(), 1, "{name}");
            let (told, alone) = (
                ran.stdout.split_once(": ").unwrap().1,
                line.split_once(": ").unwrap().1,
            );
            assert_eq!(told, alone, "{name}");
        }
    }
    insta::assert_snapshot!(run("told", &VERDICTS).stdout);
}

#[test]
fn evidence_may_come_from_stdin() {
    let ran = popper_reads(
        "counterexample.stdin",
        counterexample().to_string(),
        &["verify", "-"],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = popper_reads("verify.stdin", VERDICTS[0].to_string(), &["verify", "-"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn the_evidence_of_a_verdict_of_version_1_holds() {
    let ran = popper(&[
        "verify",
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/popper/verdicts_1.json"
        ),
    ]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (
            Some(0),
            "momentum_conserved: holds: proved by induction: every ring size N >= 1, every t\n\
             at_most_twelve_collisions: holds: violated at t = 1 from .<>><<>><<>><<>><<>><<>><<> (N = 27)\n\
             odd_ring_pair_meets: not checked: PASS (exhaustive), without a proof\n"
        ),
        "{ran:?}"
    );
}

/// The document with another value at a JSON pointer.
fn tampered(mut document: Value, pointer: &str, value: Value) -> Value {
    *document.pointer_mut(pointer).unwrap() = value;
    document
}

#[test]
fn a_counterexample_that_was_tampered_with_does_not_hold() {
    let mut told = String::new();
    for (name, pointer, value) in [
        ("start", "/initial_state", json!(".>>")),
        ("forbidden_start", "/initial_state", json!("..X")),
        ("foreign_symbol", "/initial_state", json!("..a")),
        ("no_cell", "/initial_state", json!("")),
        ("t_fail", "/t_fail", json!(0)),
        ("ring", "/config/n", json!(4)),
        ("witness", "/witness/left", json!("12")),
        ("excerpt", "/trajectory_excerpt/0/state", json!("...")),
        (
            "law",
            "/config/law/observables/0/expr",
            json!("grid_length"),
        ),
    ] {
        let ran = run(name, &tampered(counterexample(), pointer, value));
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (Some(4), ""),
            "{name}: {ran:?}"
        );
        told += name;
        told += ": ";
        told += &ran.stdout;
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_proof_that_was_tampered_with_does_not_hold() {
    let zeros = || json!("0".repeat(64));
    for (name, pointer, value) in [
        ("digest", "/digest", zeros()),
        ("universe", "/universe", json!("kinetic_grid_v2")),
        ("law", "/law/quantifiers/T", json!(9)),
        ("fingerprint", "/law_fingerprint", zeros()),
        ("sim_hash", "/sim_hash", zeros()),
    ] {
        let ran = run(name, &tampered(proof(), pointer, value));
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (Some(4), ""),
            "{name}: {ran:?}"
        );
        assert!(
            ran.stdout.contains(": does not hold: "),
            "{name}: {}",
            ran.stdout
        );
    }
}

#[test]
fn evidence_of_another_law_says_nothing_for_a_verdict() {
    let mut swapped = VERDICTS[1].clone();
    swapped["law_fingerprint"] = VERDICTS[0]["law_fingerprint"].clone();
    let ran = run("other_law", &swapped);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(
        ran.stdout.contains("law_fingerprint of the verdict"),
        "{}",
        ran.stdout
    );
    let mut moved = VERDICTS[0].clone();
    moved["sim_hash"] = json!("0".repeat(64));
    let ran = run("other_universe", &moved);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(
        ran.stdout.contains("sim_hash of the verdict"),
        "{}",
        ran.stdout
    );
}

#[test]
fn evidence_under_the_former_hash_of_the_built_in_universe_holds() {
    for index in [0, 1] {
        let mut former = VERDICTS[index].clone();
        former["sim_hash"] = json!(KineticGrid::FORMER_HASH);
        let ran = run("former", &former);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn what_holds_no_evidence_is_a_usage_error() {
    let mut errors = String::new();
    let mut unproved = VERDICTS[0].clone();
    unproved["evidence"]["proof"] = Value::Null;
    unproved["evidence"]["strength"] = json!("sampled");
    for (name, document) in [
        ("unproved_verdict", unproved),
        ("empty_array", json!([])),
        ("a_number", json!(7)),
        ("a_law", law("a")),
        ("a_number_in_an_array", json!([7])),
    ] {
        let ran = run(name, &document);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{name}: {ran:?}"
        );
        errors.push_str(&without_folder(&ran.stderr));
    }
    insta::assert_snapshot!(errors);
}

#[test]
fn an_element_that_cannot_be_read_leaves_the_others_checked() {
    let mut broken = VERDICTS[1].clone();
    broken["counterexample"]["t_fail"] = json!("soon");
    let ran = run("mixed", &json!([broken, VERDICTS[1]]));
    assert_eq!(
        (ran.code, ran.stdout.lines().count()),
        (Some(3), 1),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("$[0].counterexample"), "{}", ran.stderr);
}

#[test]
fn the_results_are_one_object_in_json() {
    let file = file("json.evidence.json", VERDICTS.to_string());
    let results = popper(&["verify", "--json", &file]).json();
    let evidence = results["evidence"].as_array().unwrap();
    let kinds: Vec<_> = evidence.iter().map(|one| one["kind"].clone()).collect();
    assert_eq!(kinds, ["proof", "counterexample"]);
    assert!(evidence.iter().all(|one| one["holds"] == true), "{results}");
}

#[test]
fn a_verdict_without_evidence_is_refused_or_listed() {
    let forged = |strength: Value, status: &str| {
        let mut verdict = VERDICTS[1].clone();
        verdict["counterexample"] = Value::Null;
        verdict["status"] = json!(status);
        verdict["evidence"]["strength"] = strength;
        json!([VERDICTS[0], verdict])
    };
    for (strength, said) in [
        (json!("proved"), "carries no proof, though it says proved"),
        (Value::Null, "carries no strength of its evidence"),
        (json!("certain"), "carries no strength of its evidence"),
    ] {
        let ran = run("forged", &forged(strength, "PASS"));
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    }
    for (strength, status, said) in [
        (
            json!("exhaustive"),
            "PASS",
            "not checked: PASS (exhaustive), without a proof",
        ),
        (
            Value::Null,
            "UNKNOWN",
            "not checked: UNKNOWN, without a proof",
        ),
    ] {
        let document = forged(strength, status);
        let ran = run("unchecked", &document);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
        let file = file("unchecked.json.json", document.to_string());
        let told = popper(&["verify", "--json", &file]).json();
        assert_eq!(told["unchecked"].as_array().unwrap().len(), 1, "{told}");
    }
}
