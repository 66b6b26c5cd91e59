use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of `bytes` in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}

/// `value` as JSON with the keys of every object in order and no white space.
///
/// `serde_json`'s map is a sorted one here: the workspace keeps out its feature `preserve_order`.
pub(crate) fn canonical_json(value: &Value) -> String {
    value.to_string()
}
