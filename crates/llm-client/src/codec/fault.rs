use serde_json::value::RawValue;

use crate::{Error, Redactor};

/// Who is asked, as far as it decides what an error means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub provider: &'a str,
    pub model: &'a str,
    /// A 403 can mean that the content was flagged (`OpenRouter`).
    pub moderates: bool,
    pub redactor: &'a Redactor,
}

/// The error that a reply with an error status is.
pub(crate) fn of_response(
    _asked: Asked<'_>,
    _status: u16,
    _headers: &[(String, String)],
    _body: &[u8],
) -> Error {
    Error::protocol("todo")
}

/// The error that an `error` object in a reply with a success status, or in a stream, is.
pub(crate) fn of_object(
    _asked: Asked<'_>,
    _headers: &[(String, String)],
    _object: &RawValue,
) -> Error {
    Error::protocol("todo")
}
