//! The statistics of a whole run.

use serde_json::{Value, json};
use test_support::{CompressionStub, StubMode};

use crate::matrix::{MATRIX, place};
use crate::program::{column, list};

#[test]
fn a_report_says_what_it_is() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    place
        .asking(&stub, &[&MATRIX[..], &["--all"]].concat())
        .exits(0);
    let report = place.read_json("dir/report.json");
    for (name, value) in [
        ("schema_version", json!(2)),
        ("kind", json!("zer0gravity.report")),
        ("offline", json!(false)),
    ] {
        assert_eq!(report[name], value, "{name}");
    }
    for name in [
        "engineVersion",
        "createdAt",
        "config",
        "cases",
        "outcomes",
        "statistics",
        "randomness",
    ] {
        assert!(
            report.get(name).is_some_and(|value| !value.is_null()),
            "{name}"
        );
    }
}

#[test]
fn failures_are_counted_and_are_not_in_the_means() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    let lines = [
        r#"{"id": "good", "text": "Hello world!"}"#,
        r#"{"id": "bad", "text": "[refuse] it"}"#,
    ];
    place.file("set.jsonl", lines.join("\n"));
    let mut arguments = MATRIX.to_vec();
    arguments.extend(["--dataset", "set.jsonl"]);
    place.asking(&stub, &arguments).exits(3);
    let report = place.read_json("dir/report.json");
    let results = list(&report["results"]);
    let statuses = column(&results, "/outcome/status");
    assert_eq!(statuses, ["ok", "ok", "refused", "refused"].repeat(2));
    let encodings = list(&report["statistics"]["perEncoding"]);
    assert_eq!(encodings.len(), 2);
    for encoding in &encodings {
        let text = encoding.to_string();
        assert!(
            holds(encoding, &json!(73)),
            "the mean of what was scored: {text}"
        );
        assert!(
            !holds(encoding, &json!(36.5)),
            "failures are no zeros: {text}"
        );
    }
    assert!(
        holds(&report["outcomes"], &json!(4)),
        "{}",
        report["outcomes"]
    );
}

/// Whether a value occurs anywhere in another.
fn holds(value: &Value, wanted: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| holds(item, wanted)),
        Value::Object(fields) => fields.values().any(|field| holds(field, wanted)),
        // 73 and 73.0 are the same number.
        Value::Number(number) => number.as_f64() == wanted.as_f64(),
        other => other == wanted,
    }
}
