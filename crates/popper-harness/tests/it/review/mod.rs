//! Laws that once got a wrong verdict, took too long, or could not be stopped.

mod brute;
mod claims;
mod config;
mod constants;
mod errors;
mod json;
mod latch;
mod limits;
mod mutation_search;
mod replay;
mod shrink;
mod tautologies;

use popper_harness::decide::Verdict;
use popper_harness::law::{Extensions, Law};
use serde_json::{Value, json};

/// A law about observables `x`, `r` and what `more` adds or replaces.
fn law(template: &str, claim: &str, more: &Value) -> Law {
    let mut value = json!({
        "law_id": "review", "template": template, "quantifiers": {"T": 20, "H": 2}, "claim": claim, "forbidden": "the opposite",
        "observables": [{"name": "x", "expr": "count('X')"}, {"name": "r", "expr": "count('>') + count('X')"}],
    });
    for (key, field) in more.as_object().unwrap() {
        value[key] = field.clone();
    }
    let extensions = Extensions::ALL;
    Law::from_value(value, "$", extensions).unwrap()
}

/// Returns the text `STATUS reason: notes` of a verdict.
fn answer(verdict: &Verdict) -> String {
    let status = json!(verdict.status);
    let reason = json!(verdict.reason_code);
    format!(
        "{} {}: {}",
        status.as_str().unwrap(),
        reason.as_str().unwrap_or("-"),
        verdict.notes.join("; ")
    )
}
