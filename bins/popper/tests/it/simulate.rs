//! Tests of `popper simulate`.

use serde_json::Value;

use crate::process::{command, popper, popper_reads, words};

#[test]
fn a_run_has_a_line_for_each_step() {
    let ran = popper(&["simulate", ">.<X", "--steps", "3"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), ">.<X\n>X<.\n<X>.\n<.>X\n")
    );
    let ran = popper(&["simulate", "--steps=0", ">.<X"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ">.<X\n"));
}

#[test]
fn states_from_stdin_are_runs_apart() {
    let ran = popper_reads("states", ">.\r\n<..", &["simulate", "-", "--steps", "1"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), ">.\n.>\n\n<..\n..<\n")
    );
    let ran = popper_reads(
        "states",
        ">.\r\n<..",
        &["simulate", "-", "--steps", "1", "--json"],
    );
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "[\">.\",\".>\"]\n[\"<..\",\"..<\"]\n")
    );
    let ran = popper_reads("nothing", "", &["simulate", "-", "--steps", "1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
}

#[test]
fn the_vectors_by_hand_are_what_is_printed() {
    let vectors =
        std::fs::read(test_support::fixture("popper/vectors/state_vectors.json")).unwrap();
    let vectors: Value = serde_json::from_slice(&vectors).unwrap();
    for vector in vectors["hand"].as_array().unwrap() {
        let state = vector["state"].as_str().unwrap();
        let ran = popper(&["simulate", "--steps=5", "--json", "--", state]);
        assert_eq!(ran.json(), vector["traj5"], "{state}");
    }
}

#[test]
fn a_state_that_is_none_is_named_with_its_place() {
    let mut errors = String::new();
    for state in ["", ">.a<", "> <", "\u{1b}[2J"] {
        let ran = popper(&["simulate", "--steps", "1", state]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{state:?}");
        errors.push_str(&ran.stderr);
    }
    for (name, states) in [
        ("blank_line", ">.\n\n<.\n".as_bytes()),
        ("foreign", ">.\n.o\n".as_bytes()),
        ("not_utf8", b">.\n.\xff\n".as_slice()),
    ] {
        let ran = popper_reads(name, states, &["simulate", "-", "--steps", "1"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ">.\n.>\n"),
            "{name}: {ran:?}"
        );
        errors.push_str(&ran.stderr);
    }
    let ran = popper(&words(
        "simulate .# --steps 1 --universe fixtures/popper/universes/elementary_90.json",
    ));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ".#\n..\n"));
    insta::assert_snapshot!(errors);
}

#[test]
fn an_endless_run_ends_when_its_reader_leaves() {
    let mut child = command(&["simulate", ">..", "--steps", "18446744073709551615"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
