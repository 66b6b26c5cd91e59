//! Tests of `popper check --expect`.

use serde_json::{Value, json};

use crate::process::{Ran, false_law, file, law, popper, quick, without_folder};

fn check(name: &str, expected: &Value, flags: &[&str]) -> Ran {
    let laws = file(
        &format!("{name}.json"),
        json!([law("movers"), false_law("collisions")]).to_string(),
    );
    let expectations = json!({"schema_version": "1.0.0", "expected": expected}).to_string();
    let expectations = file(&format!("{name}.expect.json"), expectations);
    let config = quick();
    let mut arguments = vec![
        "check",
        "--config",
        &config,
        "--expect",
        &expectations,
        &laws,
    ];
    arguments.extend(flags);
    popper(&arguments)
}

#[test]
fn a_strength_is_a_floor_and_a_law_that_is_not_given_does_not_matter() {
    let expected = json!([
        {"law_id": "movers", "status": "PASS", "strength": "sampled", "note": "proved in fact"},
        {"law_id": "collisions", "status": "FAIL", "smallest_n": 3, "fewest_movers_at_smallest_n": 2},
        {"law_id": "of_another_file", "status": "PASS"},
    ]);
    let ran = check("floor", &expected, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("2 as expected\n"), "{}", ran.stdout);
}

#[test]
fn every_key_that_differs_is_named() {
    let expected = json!([
        {"law_id": "movers", "status": "UNKNOWN", "reason_code": "vacuous_pass", "smallest_n": 3},
        {"law_id": "collisions", "status": "PASS", "strength": "exhaustive", "smallest_n": 4, "fewest_movers_at_smallest_n": 1},
    ]);
    let ran = check("differences", &expected, &[]);
    assert_eq!(ran.code, Some(4));
    insta::assert_snapshot!(ran.text());
    let ran = check("differences", &expected, &["--json"]);
    assert_eq!(
        (ran.code, ran.json().as_array().unwrap().len()),
        (Some(4), 2)
    );
    insta::assert_snapshot!("differences_beside_json", ran.stderr);
}

#[test]
fn a_law_without_an_expectation_is_a_difference() {
    let ran = check(
        "gap",
        &json!([{"law_id": "movers", "status": "PASS"}]),
        &["--json"],
    );
    assert_eq!(ran.code, Some(4));
    assert_eq!(
        ran.stderr,
        "popper: law collisions: law_id: expected an expectation, found none\n"
    );
}

#[test]
fn a_law_that_cannot_be_read_outranks_a_difference() {
    let laws = file("both.json", json!([law("movers"), 7]).to_string());
    let expectations =
        json!({"schema_version": "1.0.0", "expected": [{"law_id": "movers", "status": "FAIL"}]});
    let expectations = file("both.expect.json", expectations.to_string());
    let ran = popper(&[
        "check",
        "--json",
        "--config",
        &quick(),
        "--expect",
        &expectations,
        &laws,
    ]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr.contains("status: expected FAIL, found PASS"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_expectations_file_that_is_wrong_says_where() {
    let mut errors = String::new();
    for (name, expected) in [
        (
            "unknown_key",
            json!([{"law_id": "a", "status": "PASS"}, {"law_id": "b", "status": "PASS", "stength": "proved"}]),
        ),
        ("unknown_word", json!([{"law_id": "a", "status": "PASSED"}])),
        ("no_status", json!([{"law_id": "a"}])),
        (
            "twice",
            json!([{"law_id": "a", "status": "PASS"}, {"law_id": "a", "status": "FAIL"}]),
        ),
        ("no_array", json!({"a": "PASS"})),
    ] {
        let ran = check(&format!("expect_{name}"), &expected, &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{name}");
        errors.push_str(&without_folder(&ran.stderr));
    }
    let version = file(
        "version.expect.json",
        r#"{"schema_version": "2.0.0", "expected": []}"#,
    );
    let ran = popper(&[
        "check",
        "--expect",
        &version,
        "fixtures/popper/laws/true.json",
    ]);
    assert_eq!(ran.code, Some(2));
    errors.push_str(&without_folder(&ran.stderr));
    insta::assert_snapshot!(errors);
}
