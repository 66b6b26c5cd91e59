//! A recorded attempt as it is written: [`super::cassette::Line`] with texts that are borrowed.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::cassette::{RecordedError, RecordedEvent, StreamTail};

/// Names and values, in their order.
pub(super) type WrittenHeaders<'a> = Vec<(&'a str, Cow<'a, str>)>;

/// The fields for a body: JSON on one line as a value, anything else as a text.
pub(super) fn body_fields(text: &str) -> (Option<&RawValue>, Option<&str>) {
    if text.is_empty() {
        return (None, None);
    }
    let one_line = !b"\n\r".iter().any(|end| text.as_bytes().contains(end));
    match serde_json::from_str::<&RawValue>(text) {
        // White space around the value would be lost.
        Ok(raw) if one_line && raw.get().len() == text.len() => (Some(raw), None),
        _ => (None, Some(text)),
    }
}

#[derive(Serialize)]
pub(super) struct WrittenLine<'a> {
    pub schema_version: u32,
    pub root: &'a str,
    pub n: u64,
    pub call: u64,
    pub attempt: u32,
    pub final_hint: bool,
    pub provider: &'a str,
    pub model: &'a str,
    pub t: jiff::Timestamp,
    pub request: WrittenRequest<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<WrittenResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RecordedError>,
}

#[derive(Serialize)]
pub(super) struct WrittenRequest<'a> {
    pub method: &'a str,
    pub path: Cow<'a, str>,
    pub headers: WrittenHeaders<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_text: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct WrittenResponse<'a> {
    pub status: u16,
    pub headers: WrittenHeaders<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<RecordedEvent>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<StreamTail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_text: Option<&'a str>,
}
