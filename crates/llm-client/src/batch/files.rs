//! Batches whose requests are an uploaded file: `/v1/files` and `/v1/batches`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::form::{BatchStatus, FormRules, ItemOutcome, id, word};
use super::key::Key;
use super::outcome::failed_whole;
use crate::codec::Fields;

/// The content type of an upload. In the file each line end is followed by `{` or its end, so by no boundary.
pub(super) const KIND: &str = "multipart/form-data; boundary=orrery-llm-client-spool";
/// The label of a batch.
const LABEL: &str = "orrery_spool";

pub(super) static RULES: FormRules = FormRules {
    requests: 50_000,
    bytes: 200_000_000,
    item_overhead: 200,
    begin: "--orrery-llm-client-spool\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
            --orrery-llm-client-spool\r\ncontent-disposition: form-data; name=\"file\"; filename=\"requests.jsonl\"\r\n\
            content-type: application/jsonl\r\n\r\n",
    end: "\r\n--orrery-llm-client-spool--\r\n",
    add,
    is_file: true,
    cursor: "after",
    status,
    outcome,
};

fn add(text: &mut Vec<u8>, key: &Key, route: &str, body: &[u8]) {
    let route = Value::from(route);
    let start = format!("{{\"custom_id\":\"{key}\",\"method\":\"POST\",\"url\":{route},\"body\":");
    text.extend_from_slice(start.as_bytes());
    // Line ends in JSON are white space: those inside of texts are escaped.
    text.extend(body.iter().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        byte => *byte,
    }));
    text.extend_from_slice(b"}\n");
}

/// The body of the request for a batch of an uploaded file.
pub(super) fn body(file: &str, route: &str, name: &str) -> Vec<u8> {
    let body = json!({
        "input_file_id": file, "endpoint": route, "completion_window": "24h", "metadata": {LABEL: name},
    });
    body.to_string().into_bytes()
}

fn status(fields: &Fields<'_>) -> Option<BatchStatus> {
    let state = word(fields, "status")?;
    let counts = fields.object("request_counts").unwrap_or_default();
    let created = fields
        .count("created_at")
        .and_then(|at| i64::try_from(at).ok());
    let errors = fields
        .object("errors")
        .and_then(|errors| errors.list("data"));
    let first = errors
        .as_ref()
        .and_then(|errors| Fields::of(errors.first()?.get()));
    let files = ["output_file_id", "error_file_id"];
    Some(BatchStatus {
        id: id(fields, "id")?,
        is_over: ["completed", "failed", "expired", "cancelled"].contains(&state.as_str()),
        answered: (counts.count("completed"))
            .map(|done| done.saturating_add(counts.count("failed").unwrap_or(0))),
        requests: counts.count("total").unwrap_or(0),
        created: created.and_then(|at| Timestamp::from_second(at).ok()),
        name: (fields.object("metadata")).and_then(|labels| labels.text(LABEL)),
        files: files.iter().filter_map(|name| id(fields, name)).collect(),
        why: first.filter(|_| state == "failed").map(|error| {
            let text = |name| word(&error, name).unwrap_or_default();
            failed_whole(&text("code"), &text("message"))
        }),
        word: state,
    })
}

/// The answer in the fields `response` and `error` of a line.
fn outcome<'a>(line: &Fields<'a>) -> Option<ItemOutcome<'a>> {
    if let Some(response) = line.object("response")
        && let Some(body) = response.raw("body")
    {
        let status = response.count("status_code").unwrap_or(200);
        let status = u16::try_from(status).unwrap_or(500);
        return Some(ItemOutcome::Answer { status, body });
    }
    let error = line.object("error")?;
    let why = word(&error, "code").or_else(|| word(&error, "message"));
    Some(ItemOutcome::Unanswered(
        why.unwrap_or_else(|| "error".to_owned()),
    ))
}
