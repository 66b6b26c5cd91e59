use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of `bytes` in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Returns the SHA-256 of a value as canonical JSON in hex: without white space and with sorted keys, for any features of
/// `serde_json` in the program.
pub(crate) fn canonical_sha256(value: Value) -> String {
    hex::encode(canonical_sha256_bytes(value))
}

/// Returns the bytes of [`canonical_sha256`].
pub(crate) fn canonical_sha256_bytes(value: Value) -> [u8; 32] {
    Sha256::digest(canonical_json(value)).into()
}

/// Returns a value as canonical JSON.
pub(crate) fn canonical_json(value: Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.into_iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            let fields = fields.into_iter().map(|(key, value)| (key, sorted(value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}
