//! The tokens of a text.

use std::borrow::Cow;
use std::ops::Range;

/// Returns the tokens of a text: maximal runs of letters and digits in lower case.
///
/// Each character of the Japanese syllabaries and each Chinese character is a separate token.
///
/// ```
/// use logosphere_core::measures::metrics::tokens;
///
/// let found: Vec<_> = tokens("Ice-9, née 漢字カナ!").collect();
/// assert_eq!(found, ["ice", "9", "née", "漢", "字", "カ", "ナ"]);
/// ```
pub fn tokens(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    spans(text).map(|span| lower(&text[span]))
}

/// Returns the byte ranges of the tokens of a text.
pub(crate) fn spans(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) =
            chars.find(|&(_, char)| stands_alone(char) || char.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        if !stands_alone(first) {
            let goes_on =
                |&(_, char): &(usize, char)| char.is_alphanumeric() && !stands_alone(char);
            while let Some((at, char)) = chars.next_if(goes_on) {
                end = at + char.len_utf8();
            }
        }
        Some(start..end)
    })
}

/// Returns whether a character is a separate token, as in scripts without spaces between words.
fn stands_alone(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

pub(crate) fn lower(token: &str) -> Cow<'_, str> {
    if token
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    {
        Cow::Borrowed(token)
    } else {
        Cow::Owned(token.to_lowercase())
    }
}
