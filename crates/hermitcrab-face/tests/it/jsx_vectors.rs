//! Row 13: every case of the shared vectors, group `jsx`.

use hermitcrab_face::jsx::compile_shell;
use serde_json::Value;

/// The size that is refused: one byte more than the limit.
const TOO_LARGE: usize = 256 * 1024 + 1;

#[test]
fn every_case() {
    let vectors = std::fs::read(test_support::fixture("hermitcrab/vectors/vectors.json")).unwrap();
    let vectors: Value = serde_json::from_slice(&vectors).unwrap();
    let cases = vectors["jsx"].as_array().unwrap();
    assert!(cases.len() >= 32, "{} cases", cases.len());
    let wrong: Vec<_> = cases.iter().filter_map(differs).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The difference between the answer to a case and the expected one.
fn differs(case: &Value) -> Option<String> {
    let expected = &case["expected"];
    let text = match expected["built"].as_bool() {
        Some(true) => {
            let shell = "function App() { return <p/>; }";
            format!("{shell}{}", " ".repeat(TOO_LARGE - shell.len()))
        }
        _ => case["input"].as_str()?.to_owned(),
    };
    let complain = |what: String| Some(format!("{}: {what}", case["name"]));
    match (compile_shell(&text), &expected["error"]) {
        (Ok(shell), Value::Null) => {
            let dropped = expected.get("dropped_imports").cloned();
            let is_right = expected["ok"] == true
                && expected["component"] == shell.component.as_str()
                && dropped
                    .is_none_or(|dropped| dropped == Value::from(shell.dropped_imports.clone()));
            if is_right {
                None
            } else {
                complain(format!("{shell:?}"))
            }
        }
        (Err(errors), Value::Object(fault)) => {
            let first = errors.first()?;
            let line = &fault["line"];
            let is_right = fault["kind"] == first.kind.as_str()
                && (line.is_null() || *line == Value::from(first.line))
                && fault
                    .get("col")
                    .is_none_or(|col| *col == Value::from(first.column))
                && fault
                    .get("truncated")
                    .is_some_and(|truncated| truncated == true)
                    == first.truncated
                && fault
                    .get("name")
                    .and_then(Value::as_str)
                    .is_none_or(|name| first.message.contains(name));
            if is_right {
                None
            } else {
                complain(format!("{errors:?}"))
            }
        }
        (Ok(shell), _) => complain(format!("compiles to {}", shell.script)),
        (Err(errors), _) => complain(format!("{errors:?}")),
    }
}
