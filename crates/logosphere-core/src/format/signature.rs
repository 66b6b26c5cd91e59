//! What an answer or an `init.md` is signed with.

use std::ops::Range;

use super::notes::is_hidden;
use super::parsed::{is_blank_char, trimmed};

/// The longest signature in code points.
pub(super) const LONGEST: usize = 32;

/// Whether a text can be a signature: one line of 2 to 32 characters that begins with `~`, none of them a control
/// character, a line separator or an invisible format character, no blank at its end.
pub fn is_signature(text: &str) -> bool {
    may_be_signature(text) && !text.chars().any(is_hidden)
}

/// As [`is_signature`], with invisible characters, as journals of version 1 may have them.
pub(crate) fn may_be_signature(text: &str) -> bool {
    text.starts_with('~')
        && (2..=LONGEST).contains(&text.chars().take(LONGEST + 1).count())
        && !text.chars().any(char::is_control)
        && !text.ends_with(is_blank_char)
}

/// Returns the place of the signature in a block that is accepted as one. The block's range and the result are of `text`.
pub(crate) fn find(
    text: &str,
    block: Range<usize>,
    accepts: fn(&str) -> bool,
) -> Option<Range<usize>> {
    let place = trimmed(text, block);
    accepts(&text[place.clone()]).then_some(place)
}

/// A message as it is sent: with the signature below it.
pub(crate) fn with_signature(message: &str, signature: &str) -> String {
    if signature.is_empty() {
        return message.to_owned();
    }
    let mut text = String::with_capacity(message.len() + 2 + signature.len());
    text.push_str(message);
    text.push_str("\n\n");
    text.push_str(signature);
    text
}

/// A text without the stamp at its end, if it has one: two line feeds and a signature.
pub(crate) fn without_signature(text: &str) -> &str {
    match text.rsplit_once("\n\n") {
        Some((rest, last)) if may_be_signature(last) => rest,
        _ => text,
    }
}
