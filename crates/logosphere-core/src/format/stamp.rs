//! Stamps: the signature that stands at the end of a message, after a blank line.

use super::signature::may_be_signature;

/// A text without the stamp at its end, if it has one: two line feeds and a signature.
pub(crate) fn without_stamp(text: &str) -> &str {
    match text.rsplit_once("\n\n") {
        Some((rest, last)) if may_be_signature(last) => rest,
        _ => text,
    }
}
