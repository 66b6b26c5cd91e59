//! Keys of model providers, which no block and no log may hold.

use std::borrow::Cow;
use std::sync::Arc;

use llm_types::KeyForms;

use super::{KeyFilter, Origins};
use crate::{Block, EditAuthor, MAX_TEXT, Op, Stamp};

/// The text that replaces a key.
pub const KEY_REMOVED: &str = KeyForms::Long.mask();

/// The text without keys of a long form, and how many there were: see [`KeyForms::Long`].
///
/// ```
/// let (text, keys) = pscale_blocks::store::remove_keys("use sk-ant-api03-abcdefgh, please");
/// assert_eq!((&*text, keys), ("use [key removed], please", 1));
/// ```
pub fn remove_keys(text: &str) -> (Cow<'_, str>, u32) {
    KeyForms::Long.hide(text)
}

/// The filters that a store has been given.
pub(crate) type KeyFilters = [Arc<dyn KeyFilter>];

/// A value that is about to be stored.
pub(crate) trait Clean: Clone {
    /// Takes the keys out, and answers how many of a long form there were.
    fn strip(&mut self, filters: &KeyFilters) -> u32;

    /// A copy without keys, and how many there were.
    fn clean(&self, filters: &KeyFilters) -> (Self, u32) {
        let mut clean = self.clone();
        let keys = clean.strip(filters);
        (clean, keys)
    }
}

impl Clean for String {
    fn strip(&mut self, filters: &KeyFilters) -> u32 {
        let text = std::mem::take(self);
        let text = filters.iter().fold(text, |text, filter| filter.hide(text));
        let (clean, keys) = remove_keys(&text);
        *self = clean.into_owned();
        keys
    }
}

impl Clean for Block {
    fn strip(&mut self, filters: &KeyFilters) -> u32 {
        let mut keys = 0;
        self.change_texts(|text| {
            keys += text.strip(filters);
            // A short key may be replaced by a longer text.
            text.truncate(text.floor_char_boundary(MAX_TEXT));
        });
        keys
    }
}

impl Clean for Op {
    fn strip(&mut self, filters: &KeyFilters) -> u32 {
        if let Self::Replace { block } = self {
            return block.strip(filters);
        }
        let mut keys = 0;
        self.change_texts(|text| keys += text.strip(filters));
        keys
    }
}

impl Clean for Stamp {
    fn strip(&mut self, filters: &KeyFilters) -> u32 {
        let strip = |text: &mut String| text.strip(filters);
        let by = match &mut self.by {
            EditAuthor::Model { id, web } => strip(id) + web.as_mut().map_or(0, &strip),
            EditAuthor::Web { url: text } | EditAuthor::Import { source: text } => strip(text),
            EditAuthor::Person | EditAuthor::Kernel => 0,
        };
        let note = self.note.as_mut().map_or(0, &strip);
        let sets = std::iter::once(&mut self.from).chain(self.labels.values_mut());
        by + note + sets.flat_map(Origins::texts_mut).map(strip).sum::<u32>()
    }
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
            ("SK-ANT-12345678", "[key removed]"),
            ("fläsk-och-potatisgratäng", "fläsk-och-potatisgratäng"),
            (
                "Bearer abcdefghij.0123456789/x=, done",
                "Bearer [key removed], done",
            ),
            ("a bearer of good news", "a bearer of good news"),
        ] {
            assert_eq!(remove_keys(text).0, clean, "{text}");
        }
        let two = "sk-ant-12345678 sk-or-12345678";
        assert_eq!(remove_keys(two), ("[key removed] [key removed]".into(), 2));
    }
}
