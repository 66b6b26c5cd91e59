//! Batches whose requests are the body of the request for a batch: `/v1/messages/batches`.

use serde_json::value::RawValue;

use super::form::{BatchStatus, FormRules, ItemOutcome, id, word};
use super::key::Key;
use crate::codec::Fields;

const BEGIN: &str = "{\"requests\":[";

pub(super) static RULES: FormRules = FormRules {
    requests: 100_000,
    bytes: 256_000_000,
    item_overhead: 100,
    begin: BEGIN,
    end: "]}",
    add,
    is_file: false,
    cursor: "after_id",
    status,
    outcome,
};

fn add(text: &mut Vec<u8>, key: &Key, _: &str, body: &[u8]) {
    if text.len() > BEGIN.len() {
        text.push(b',');
    }
    // A key has no character that JSON escapes.
    text.extend_from_slice(format!("{{\"custom_id\":\"{key}\",\"params\":").as_bytes());
    text.extend_from_slice(body);
    text.push(b'}');
}

fn status(fields: &Fields<'_>) -> Option<BatchStatus> {
    let state = word(fields, "processing_status")?;
    let counts = fields.object("request_counts").unwrap_or_default();
    let sum = |kinds: &[&str]| {
        let counts = kinds.iter().filter_map(|kind| counts.count(kind));
        counts.reduce(u64::saturating_add)
    };
    let others = sum(&["processing", "canceled", "expired"]).unwrap_or(0);
    let answered = sum(&["succeeded", "errored"]);
    Some(BatchStatus {
        id: id(fields, "id")?,
        is_over: state == "ended",
        answered,
        requests: answered.unwrap_or(0).saturating_add(others),
        created: fields.text("created_at").and_then(|at| at.parse().ok()),
        name: None,
        files: Vec::new(),
        why: None,
        word: state,
    })
}

/// The answer in the field `result` of a line.
fn outcome<'a>(line: &Fields<'a>) -> Option<ItemOutcome<'a>> {
    let result = line.object("result")?;
    let kind = word(&result, "type")?;
    let body: Option<&'a RawValue> = match kind.as_str() {
        "succeeded" => Some(result.raw("message")?),
        // An error object in a success: its type decides what it is.
        "errored" => Some(result.raw("error")?),
        _ => None,
    };
    Some(match body {
        Some(body) => ItemOutcome::Answer { status: 200, body },
        None => ItemOutcome::Unanswered(kind),
    })
}
