//! Stamps: the signature that stands at the end of a message, after a blank line.

/// Whether a text is a signature: `~` and 1 to 31 more characters, none of them a control character.
pub(crate) fn is_signature(text: &str) -> bool {
    text.starts_with('~')
        && (2..=32).contains(&text.chars().take(33).count())
        && !text.chars().any(char::is_control)
}

/// A text without the stamp at its end, if it has one: two line feeds and a signature.
pub(crate) fn without_stamp(text: &str) -> &str {
    match text.rsplit_once("\n\n") {
        Some((rest, last)) if is_signature(last) => rest,
        _ => text,
    }
}
