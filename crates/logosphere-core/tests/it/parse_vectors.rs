//! The results of the parser for recorded answers, in all three modes.

use serde_json::{Value, json};
use test_support::fixture;

#[path = "../../examples/logosphere_vectors/check.rs"]
pub mod check;

pub fn vectors(file: &str) -> Value {
    let path = fixture("logosphere/vectors").join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Asserts that every vector holds, and returns the sizes of the groups.
pub fn hold(file: &Value) -> Vec<(String, usize)> {
    let groups = check::groups(file).unwrap();
    let failures: Vec<_> = groups.iter().flat_map(|group| &group.failures).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let sizes = groups
        .iter()
        .map(|group| (group.name.clone(), group.passed()));
    sizes.collect()
}

#[test]
fn every_vector_holds_in_three_modes() {
    let sizes = hold(&vectors("parse_vectors.json"));
    let modes = ["legacy", "strict", "lenient"];
    assert_eq!(sizes, modes.map(|mode| (mode.to_owned(), 77)));
}

#[test]
fn a_changed_vector_is_noticed() {
    let file = vectors("parse_vectors.json");
    for (mode, field, value) in [
        ("legacy", "thinking", json!("other")),
        ("legacy", "signature", json!("~other")),
        ("strict", "messages", json!(["one", "two"])),
        ("strict", "end", json!("adjacent")),
        ("lenient", "completed", json!(false)),
        ("lenient", "reason", json!("silence")),
        ("lenient", "notes", json!(["lenient_end"])),
        ("lenient", "lost_chars", json!(1)),
        ("lenient", "unheard_of", json!(1)),
    ] {
        let mut file = file.clone();
        file["vectors"][0][mode][field] = value;
        let groups = check::groups(&file).unwrap();
        let group = groups.iter().find(|group| group.name == mode).unwrap();
        assert_eq!(group.failures.len(), 1, "{mode}: {field}");
    }
    let mut missing = file;
    let lenient = missing["vectors"][0]["lenient"].as_object_mut().unwrap();
    lenient.remove("notes").unwrap();
    assert_eq!(check::groups(&missing).unwrap()[2].failures.len(), 1);
}

#[test]
fn a_file_that_says_nothing_is_refused() {
    for file in [
        json!([]),
        json!({}),
        json!({"schema_version": 1}),
        json!({"schema_version": 2, "vectors": [{"id": "a", "input": "", "legacy": {}}]}),
        json!({"schema_version": 1, "vectors": []}),
        json!({"schema_version": 1, "vectors": [{"id": "a", "input": ""}]}),
        json!({"schema_version": 1, "vectors": [{"id": "a", "input": "", "loose": {}}]}),
        json!({"schema_version": 1, "cases": [{"id": "a"}]}),
        json!({"schema_version": 1, "algorithm": "pcg", "draws": [{}]}),
        json!({"schema_version": 1, "algorithm": "chacha20/1", "draws": []}),
    ] {
        assert!(check::groups(&file).is_err(), "{file}");
    }
}
