//! JSON that says something twice, or nests without end.

use serde_json::json;

use crate::process::{file, law, popper, quick, without_folder};

/// The first line on stderr of a command that ends with a usage error.
fn refusal(arguments: &[&str]) -> String {
    let ran = popper(arguments);
    assert_eq!(
        ran.code,
        Some(2),
        "{arguments:?}: {}{}",
        ran.stdout,
        ran.stderr
    );
    let first = ran.stderr.lines().next().unwrap_or_default();
    without_folder(first)
}

#[test]
fn p8_every_reader_refuses_a_repeated_key() {
    let sound = file("sound.json", law("sound").to_string());
    let text = law("twice").to_string();
    let twice = text.replace(r#""T":8"#, r#""T":8,"T":9"#);
    let twice = file("twice.json", twice);
    assert_eq!(
        refusal(&["check", &twice]),
        "popper: twice.json: $.quantifiers: the key \"T\" occurs twice"
    );
    let universe = r#"{"id": "u", "symbols": "ab", "radius": 0, "rule": {"table": {"a": "a", "b": "b", "a": "b"}}}"#;
    let universe = file("twice_universe.json", universe);
    assert_eq!(
        refusal(&["universe", "check", &universe]),
        "popper: twice_universe.json: $.rule.table: the key \"a\" occurs twice"
    );
    let config = file("twice_config.json", r#"{"seed": 1, "seed": 2}"#);
    assert_eq!(
        refusal(&["check", "--config", &config, &sound]),
        "popper: twice_config.json: $: the key \"seed\" occurs twice"
    );
    let expect = file(
        "twice_expect.json",
        r#"{"schema_version": "1.0.0", "expected": [{"law_id": "a", "law_id": "b"}]}"#,
    );
    assert_eq!(
        refusal(&["check", "--expect", &expect, &sound]),
        "popper: twice_expect.json: $.expected[0]: the key \"law_id\" occurs twice"
    );
    let evidence = file("twice_evidence.json", r#"[{"seed": 1, "seed": 2}]"#);
    assert_eq!(
        refusal(&["verify", &evidence]),
        "popper: twice_evidence.json: $[0]: the key \"seed\" occurs twice"
    );
}

#[test]
fn p8_two_laws_with_one_name_are_both_decided_after_a_warning() {
    let laws = file(
        "namesakes.json",
        json!([law("a"), law("b"), law("a")]).to_string(),
    );
    let ran = popper(&["check", "--json", "--config", &quick(), &laws]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.json().as_array().unwrap().len(), 3);
    assert_eq!(
        without_folder(&ran.stderr),
        "popper: namesakes.json: more than one law has the law_id `a`; all are decided\n"
    );
}

#[test]
fn p33_a_file_that_nests_200_deep_is_refused_with_the_limit() {
    let sound = file("sound.json", law("sound").to_string());
    let deep = file(
        "deep.json",
        format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200)),
    );
    for command in [
        &["check", &deep][..],
        &["universe", "check", &deep],
        &["check", "--config", &deep, &sound],
        &["check", "--expect", &deep, &sound],
        &["verify", &deep],
    ] {
        assert_eq!(
            refusal(command),
            "popper: deep.json: $: nests deeper than 64",
            "{command:?}"
        );
    }
}
