//! Keys of model providers, which no block and no log may hold.

use std::borrow::Cow;

use super::Origins;
use crate::{Block, EditAuthor, Op, Stamp};

/// The text that replaces a key.
pub const KEY_REMOVED: &str = "[key removed]";

/// The text without keys, and how many there were.
///
/// A key is `sk-ant-` or `sk-or-` with at least 8 more letters, digits, `_` or `-`, or `sk-` with at least 20. The last two
/// do not count inside of a word: `risk-adjusted-returns-of-funds` is not a key.
///
/// ```
/// let (text, keys) = pscale_blocks::store::remove_keys("use sk-ant-api03-abcdefgh, please");
/// assert_eq!((&*text, keys), ("use [key removed], please", 1));
/// ```
pub fn remove_keys(text: &str) -> (Cow<'_, str>, u32) {
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

/// A value that is about to be stored, without keys. Clean values are not copied.
pub(crate) trait Clean: ToOwned {
    /// The value without keys, and how many there were.
    fn clean(&self) -> (Cow<'_, Self>, u32);
}

impl Clean for Block {
    fn clean(&self) -> (Cow<'_, Self>, u32) {
        if !self.texts().any(|text| remove_keys(text).1 > 0) {
            return (Cow::Borrowed(self), 0);
        }
        let mut block = self.clone();
        let mut keys = 0;
        block.change_texts(|text| keys += strip(text));
        (Cow::Owned(block), keys)
    }
}

impl Clean for Op {
    fn clean(&self) -> (Cow<'_, Self>, u32) {
        match self {
            Self::Replace { block } => match block.clean() {
                (Cow::Borrowed(_), _) => (Cow::Borrowed(self), 0),
                (Cow::Owned(block), keys) => (Cow::Owned(Self::Replace { block }), keys),
            },
            other => {
                // The texts of the other operations are short.
                let mut op = other.clone();
                let keys = op.texts_mut().map(strip).sum();
                (Cow::Owned(op), keys)
            }
        }
    }
}

impl Clean for Stamp {
    fn clean(&self) -> (Cow<'_, Self>, u32) {
        let mut stamp = self.clone();
        let mut keys = stamp.note.as_mut().map_or(0, strip);
        match &mut stamp.by {
            EditAuthor::Model { id, web } => keys += strip(id) + web.as_mut().map_or(0, strip),
            EditAuthor::Web { url: text } | EditAuthor::Import { source: text } => {
                keys += strip(text);
            }
            EditAuthor::Person | EditAuthor::Kernel => {}
        }
        let sets = std::iter::once(&mut stamp.from).chain(stamp.labels.values_mut());
        keys += sets.flat_map(Origins::texts_mut).map(strip).sum::<u32>();
        (Cow::Owned(stamp), keys)
    }
}

impl Op {
    /// The texts it would write, except those of a block.
    fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let (first, second) = match self {
            Self::Write { text, .. } => (Some(text), None),
            Self::Append { text, summary } => (
                Some(text),
                summary.as_mut().map(|summary| &mut summary.text),
            ),
            Self::Grow { summary } => (Some(&mut summary.text), None),
            Self::Remove { .. }
            | Self::Relocate { .. }
            | Self::Replace { .. }
            | Self::SetDecimal { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Takes the keys out of `text`; answers how many there were.
fn strip(text: &mut String) -> u32 {
    let (clean, keys) = remove_keys(text);
    if let Cow::Owned(clean) = clean {
        *text = clean;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::remove_keys;

    #[test]
    fn keys_go_and_what_looks_like_them_stays() {
        for (text, clean) in [
            ("sk-ant-12345678", "[key removed]"),
            ("sk-ant-1234567", "sk-ant-1234567"),
            ("a sk-or-v1-abcde b", "a [key removed] b"),
            ("(sk-0123456789abcdefghij)", "([key removed])"),
            ("sk-0123456789abcdefghi", "sk-0123456789abcdefghi"),
            ("keysk-ant-12345678", "key[key removed]"),
            ("key=sk-ant-a_b-c_d-e.", "key=[key removed]."),
            (
                "risk-adjusted-returns-of-funds",
                "risk-adjusted-returns-of-funds",
            ),
            ("sk-sk-ant-12345678", "sk-[key removed]"),
            ("ü sk-ant-ä", "ü sk-ant-ä"),
        ] {
            assert_eq!(remove_keys(text).0, clean, "{text}");
        }
        let two = "sk-ant-12345678 sk-or-12345678";
        assert_eq!(remove_keys(two), ("[key removed] [key removed]".into(), 2));
    }
}
