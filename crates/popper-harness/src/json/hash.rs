//! The sha256 of values as text, and the JSON that is hashed.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the digest as 64 hex digits.
pub(crate) fn hex(hasher: Sha256) -> String {
    hex::encode(hasher.finalize())
}

/// Returns the sha256 of a text, 64 hex digits.
pub(crate) fn of(text: &str) -> String {
    hex(Sha256::new().chain_update(text))
}

/// Writes a value of this crate as JSON text.
///
/// A failure is not hidden, since two values that cannot be written would share a text.
#[expect(
    clippy::expect_used,
    reason = "the keys of this crate's maps are strings, and its `Serialize` is derived"
)]
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a type of this crate can be written as JSON")
}

/// Writes a value of this crate as a JSON value.
#[expect(
    clippy::expect_used,
    reason = "the keys of this crate's maps are strings, and its `Serialize` is derived"
)]
pub(crate) fn value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("a type of this crate can be written as JSON")
}

/// Returns the fields of a struct of this crate by name; no field if it is not written as an object.
pub(crate) fn fields(of: &impl Serialize) -> BTreeMap<String, Value> {
    match value(of) {
        Value::Object(fields) => fields.into_iter().collect(),
        _ => BTreeMap::new(),
    }
}
