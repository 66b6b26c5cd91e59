//! The signature of answers and of `init.md`, and its place below a message.

use std::ops::Range;

use super::notes::is_hidden;
use super::parsed::{is_blank_char, trimmed};

/// The largest length of a signature in code points.
pub(crate) const LONGEST: usize = 32;

/// Returns whether a text can be a signature.
///
/// It is one line of 2 to 32 characters that begins with `~` and does not end with a blank. Control characters, line
/// separators and invisible format characters are refused.
pub fn is_signature(text: &str) -> bool {
    may_be_signature(text) && !text.chars().any(is_hidden)
}

/// Returns whether a text can be a signature of a version 1 journal, which allows invisible characters.
pub(crate) fn may_be_signature(text: &str) -> bool {
    text.starts_with('~')
        && (2..=LONGEST).contains(&text.chars().take(LONGEST + 1).count())
        && !text.chars().any(char::is_control)
        && !text.ends_with(is_blank_char)
}

/// Returns the range of the signature in a block that is accepted as one. The block's range and the result refer to
/// `text`.
pub(crate) fn find(
    text: &str,
    block: Range<usize>,
    accepts: fn(&str) -> bool,
) -> Option<Range<usize>> {
    let place = trimmed(text, block);
    accepts(&text[place.clone()]).then_some(place)
}

/// Returns a message as it is sent: with the signature below it.
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
