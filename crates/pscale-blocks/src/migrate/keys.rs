//! A copy of what the stores do, until both are one.

use std::borrow::Cow;

/// What stands where a key was.
const KEY_REMOVED: &str = "[key removed]";

/// The text without keys, and how many there were.
///
/// A key is `sk-ant-` or `sk-or-` with at least 8 letters, digits, `_` or `-` behind it, or `sk-` with at least 20. The
/// last two do not count inside of a word: `risk-adjusted-returns-of-funds` is none.
pub(super) fn remove_keys(text: &str) -> (Cow<'_, str>, u32) {
    let mut clean = String::new();
    let mut kept = 0;
    let mut at = 0;
    let mut keys = 0;
    while let Some(found) = text[at..].find("sk-") {
        let start = at + found;
        match key_length(&text[..start], &text[start..]) {
            Some(length) => {
                clean.push_str(&text[kept..start]);
                clean.push_str(KEY_REMOVED);
                kept = start + length;
                at = kept;
                keys += 1;
            }
            None => at = start + "sk-".len(),
        }
    }
    if keys == 0 {
        return (Cow::Borrowed(text), 0);
    }
    clean.push_str(&text[kept..]);
    (Cow::Owned(clean), keys)
}

/// The bytes of the key that `text`, which begins with `sk-`, begins with.
fn key_length(before: &str, text: &str) -> Option<usize> {
    let in_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = text.bytes().take_while(|byte| in_key(byte)).count();
    let in_word = before.ends_with(|letter: char| letter.is_alphanumeric());
    let is = |prefix: &str, behind| text.starts_with(prefix) && length >= prefix.len() + behind;
    let found = is("sk-ant-", 8) || (!in_word && (is("sk-or-", 8) || is("sk-", 20)));
    found.then_some(length)
}
