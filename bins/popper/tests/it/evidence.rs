//! `popper replay` and `popper verify`: what `check` found holds, and what was tampered with does not.

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

fn run(command: &str, name: &str, document: &Value) -> Ran {
    popper(&[
        command,
        &file(&format!("{name}.{command}.json"), document.to_string()),
    ])
}

fn counterexample() -> Value {
    VERDICTS[1]["counterexample"].clone()
}

fn proof() -> Value {
    VERDICTS[0]["evidence"]["proof"].clone()
}

#[test]
fn evidence_holds_alone_in_its_verdict_and_in_the_array() {
    for (command, alone, verdict) in [("replay", counterexample(), 1), ("verify", proof(), 0)] {
        let line = run(command, "alone", &alone).stdout;
        for (name, document) in [
            ("alone", alone),
            ("verdict", VERDICTS[verdict].clone()),
            ("array", VERDICTS.clone()),
        ] {
            let ran = run(command, name, &document);
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
    let told = run("replay", "told", &VERDICTS).stdout + &run("verify", "told", &VERDICTS).stdout;
    insta::assert_snapshot!(told);
}

#[test]
fn evidence_may_come_from_stdin() {
    let ran = popper_reads(
        "replay.stdin",
        counterexample().to_string(),
        &["replay", "-"],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = popper_reads("verify.stdin", VERDICTS[0].to_string(), &["verify", "-"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
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
        let ran = run("replay", name, &tampered(counterexample(), pointer, value));
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
        let ran = run("verify", name, &tampered(proof(), pointer, value));
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
    let ran = run("replay", "other_law", &swapped);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(
        ran.stdout.contains("law_fingerprint of the verdict"),
        "{}",
        ran.stdout
    );
    let mut moved = VERDICTS[0].clone();
    moved["sim_hash"] = json!("0".repeat(64));
    let ran = run("verify", "other_universe", &moved);
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(
        ran.stdout.contains("sim_hash of the verdict"),
        "{}",
        ran.stdout
    );
}

#[test]
fn evidence_under_the_former_hash_of_the_built_in_universe_holds() {
    for (command, index) in [("verify", 0), ("replay", 1)] {
        let mut former = VERDICTS[index].clone();
        former["sim_hash"] = json!(KineticGrid::FORMER_HASH);
        let ran = run(command, "former", &former);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn what_holds_no_evidence_is_a_usage_error() {
    let mut errors = String::new();
    for (command, name, document) in [
        ("replay", "proved_verdict", VERDICTS[0].clone()),
        ("verify", "refuted_verdict", VERDICTS[1].clone()),
        ("replay", "empty_array", json!([])),
        ("replay", "a_number", json!(7)),
        ("verify", "a_law", law("a")),
    ] {
        let ran = run(command, name, &document);
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
    let ran = run("replay", "mixed", &json!([broken, VERDICTS[1]]));
    assert_eq!(
        (ran.code, ran.stdout.lines().count()),
        (Some(3), 1),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("$[0].counterexample"), "{}", ran.stderr);
}
