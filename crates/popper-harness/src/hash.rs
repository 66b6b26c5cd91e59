//! sha256 as text.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The digest as 64 hex digits.
pub(crate) fn hex(hasher: Sha256) -> String {
    hasher
        .finalize()
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// The sha256 of a text, 64 hex digits.
pub(crate) fn of(text: &str) -> String {
    hex(Sha256::new().chain_update(text))
}
