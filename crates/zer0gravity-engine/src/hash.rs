use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of `bytes` in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// `bytes` in lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}

/// The bytes of lower-case hex; `None` for any other text.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

/// The SHA-256 of a value as canonical JSON, in hex: no white space, the keys of every object sorted, whatever the features
/// of `serde_json` in the program that embeds this crate.
pub(crate) fn canonical_sha256(value: Value) -> String {
    hex(&canonical_sha256_bytes(value))
}

/// As [`canonical_sha256`], as bytes.
pub(crate) fn canonical_sha256_bytes(value: Value) -> [u8; 32] {
    Sha256::digest(sorted(value).to_string()).into()
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
