//! Our binary and the reference against the same server on this machine, run in turn.
//!
//! `cargo bench -p logosphere --bench side_by_side` (or `just bench-logosphere`) prints one JSON object: for each row of the
//! table of speed our figure, the reference's, their ratio and the goal. The reference, the Python program of
//! 2026-01-02, is run when `REF` names its folder; else its figures are those that the specification states, measured on
//! another machine, and the row says "not compared". Words as arguments choose rows by a part of their names, a
//! number the repeats (5).
//!
//! Figures are medians. Times are taken by the `time` of bash around the program alone, memory by `/usr/bin/time` in
//! separate runs, spans from the first to the last request by the server, less what the server itself took.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark fails by panicking"
)]

mod program;
mod rows;

use serde_json::{Value, json};

use program::Programs;

/// Repeats of each figure, unless the command line says otherwise.
const REPEATS: usize = 5;

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let repeats = words
        .iter()
        .find_map(|word| word.parse().ok())
        .unwrap_or(REPEATS);
    let chosen: Vec<_> = words
        .iter()
        .filter(|word| word.parse::<usize>().is_err())
        .collect();
    let programs = Programs::find();
    let before = load();
    let mut done = Vec::new();
    for row in rows::all() {
        if !chosen.is_empty() && !chosen.iter().any(|word| row.name.contains(word.as_str())) {
            continue;
        }
        let figures = row.measure(&programs, repeats);
        eprintln!("{}", line(&figures));
        done.push(figures);
    }
    let report = json!({
        "repeats": repeats,
        "reference": programs.reference_folder(),
        "load_average": {"before": before, "after": load()},
        "rows": done,
    });
    println!("{}", serde_json::to_string_pretty(&report).unwrap());
}

/// A row for people.
fn line(row: &Value) -> String {
    let number = |name: &str| match &row[name] {
        Value::Null => "-".to_owned(),
        value => value.to_string(),
    };
    let name = row["row"].as_str().unwrap_or_default();
    let unit = row["unit"].as_str().unwrap_or_default();
    let against = match (&row["reference"], &row["compared"]) {
        (Value::Null, _) => "not compared".to_owned(),
        (reference, Value::Bool(true)) => {
            format!("against {reference} {unit}, ratio {}", number("ratio"))
        }
        (reference, _) => format!(
            "stated for the reference {reference} {unit}, not compared, ratio {}",
            number("ratio")
        ),
    };
    format!(
        "{name}: {} {unit}, {against} (goal {})",
        number("ours"),
        number("goal")
    )
}

/// The machine's load of the last minute.
fn load() -> Value {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text
        .split(' ')
        .next()
        .and_then(|load| load.parse::<f64>().ok());
    json!(first)
}
