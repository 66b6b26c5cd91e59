use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// SHA-256 as 64 hex digits.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

/// Two lower-case hex digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // A String takes everything.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
