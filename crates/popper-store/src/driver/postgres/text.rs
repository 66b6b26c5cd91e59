//! Texts in `PostgreSQL`, which refuses U+0000 in a text.
//!
//! A text with U+0000, or one that begins as such a text is stored, is stored as `NUL::` and the text with `%` as `%25` and
//! U+0000 as `%00`. All others are stored as they are.

use std::borrow::Cow;

const MARK: &str = "NUL::";

/// Returns the form in which a text is stored.
pub(crate) fn write(text: &str) -> Cow<'_, str> {
    if !text.contains('\0') && !text.starts_with(MARK) {
        return Cow::Borrowed(text);
    }
    let escaped = text.replace('%', "%25").replace('\0', "%00");
    Cow::Owned(format!("{MARK}{escaped}"))
}

/// Returns the text that was stored.
pub(crate) fn read(stored: &str) -> Cow<'_, str> {
    match stored.strip_prefix(MARK) {
        None => Cow::Borrowed(stored),
        Some(escaped) => Cow::Owned(escaped.replace("%00", "\0").replace("%25", "%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for text in [
            "",
            "%",
            "%00",
            "a\0b",
            "NUL::",
            "NUL::a%00b",
            "\0%00%2500\0",
            "NUL::\0NUL::",
            "x NUL::",
        ] {
            let stored = write(text);
            assert!(!stored.contains('\0'), "{stored}");
            assert_eq!(read(&stored), text);
        }
        assert!(matches!(write("50 %"), Cow::Borrowed("50 %")));
    }
}
