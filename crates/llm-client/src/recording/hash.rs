use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of `bytes` in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Serialises `value` as JSON with sorted keys and no white space.
///
/// `serde_json`'s map is a sorted one here: the workspace keeps out its feature `preserve_order`.
pub(crate) fn canonical_json(value: &Value) -> String {
    value.to_string()
}
