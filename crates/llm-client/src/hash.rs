use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of `bytes` in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

/// `value` as JSON with the keys of every object in order and no white space.
///
/// `serde_json`'s map is a sorted one here: the workspace keeps out its feature `preserve_order`.
pub(crate) fn canonical_json(value: &Value) -> String {
    value.to_string()
}
