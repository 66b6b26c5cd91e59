//! `matrix`: plan order, calls that are shared, failures apart from means.

use serde_json::{Value, json};
use test_support::{CompressionStub, StubMode, StubRole};

use crate::program::{Place, column, list};

fn place() -> Place {
    let place = Place::new();
    place.file("a.txt", "Rules of a.\n");
    place.file("b.txt", "Rules of b.\n");
    place
}

const MATRIX: [&str; 8] = [
    "matrix",
    "--encoding",
    "a.txt",
    "b.txt",
    "--run-dir",
    "dir",
    "--trials",
    "2",
];

#[test]
fn results_stand_in_plan_order_and_shared_calls_are_made_once() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    let mut arguments = MATRIX.to_vec();
    arguments.extend(["--all", "--judge-model", "j1", "--judge-model", "j2"]);
    place.asking(&stub, &arguments).exits(0);
    let report = place.read_json("dir/report.json");
    let results = list(&report["results"]);
    let plan: Vec<_> = ["a", "b"]
        .iter()
        .flat_map(|encoding| ["1a", "1b", "2a", "3a"].map(|case| (encoding, case)))
        .flat_map(|(encoding, case)| [1, 2].map(|trial| format!("{encoding} {case} {trial}")))
        .collect();
    let found: Vec<_> = results
        .iter()
        .map(|result| {
            let text = |name: &str| result[name].as_str().unwrap().to_owned();
            format!(
                "{} {} {}",
                text("encodingId"),
                text("testCaseId"),
                result["trial"]
            )
        })
        .collect();
    assert_eq!(found, plan);
    assert_eq!(
        column(&results, "/details/semanticJudge/samples/1/model"),
        ["j2"; 16]
    );
    // Calls that others share count for each.
    assert_eq!(column(&results, "/metadata/totalApiCalls"), ["8"; 16]);

    let by_role: Vec<_> = stub.stats().by_role.into_iter().collect();
    let expected = [
        // Four texts, and their encodings, which are the same for both rules.
        (("count", 200), 8),
        (("decoder", 200), 16),
        (("encoder", 200), 16),
        // For each experiment and judge.
        (("implementability_judge", 200), 32),
        // Equal questions for both rules: four texts, two trials, two judges.
        (("semantic_judge", 200), 16),
    ];
    assert_eq!(by_role, expected);

    for (name, value) in [
        ("schema_version", json!(1)),
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
    let encodings = list(&report["encodings"]);
    assert_eq!(column(&encodings, "/id"), ["a", "b"]);
    assert_eq!(column(&encodings, "/path"), ["a.txt", "b.txt"]);
}

#[test]
fn rules_are_judged_once_if_that_is_asked_for() {
    let (place, stub) = (place(), CompressionStub::start(StubMode::Ok));
    let arguments = [
        "matrix",
        "--encoding",
        "a.txt",
        "b.txt",
        "--run-dir",
        "dir",
        "--all",
        "--implementability-once",
    ];
    place.asking(&stub, &arguments).exits(0);
    let judge = |call: &test_support::StubCall| call.role == StubRole::ImplementabilityJudge;
    let calls = stub.calls();
    assert_eq!(calls.iter().filter(|call| judge(call)).count(), 2);
    let results = list(&place.read_json("dir/report.json")["results"]);
    assert_eq!(column(&results, "/scores/implementability"), ["4"; 8]);
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

/// Whether a value stands anywhere in another.
fn holds(value: &Value, wanted: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| holds(item, wanted)),
        Value::Object(fields) => fields.values().any(|field| holds(field, wanted)),
        // 73 and 73.0 are the same number.
        Value::Number(number) => number.as_f64() == wanted.as_f64(),
        other => other == wanted,
    }
}
