//! Counts of the words of a text.

use crate::atom::Language;
use crate::lists::FUNCTION;
use crate::text::{Form, Token};

/// The fewest words of a text whose language can be told.
const TELLING_WORDS: usize = 20;

/// The most words with a capital in a text that says nothing about where capitals are.
const FEW_CAPITALS: usize = 4;

/// The counts that tell the language of a text, or of several.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordCounts {
    letters: usize,
    latin: usize,
    words: usize,
    function: usize,
    /// The words that do not begin a sentence, and those of them with a capital.
    inner: usize,
    capitals: usize,
}

impl WordCounts {
    pub(super) fn new(text: &str, tokens: &[Token]) -> Self {
        let mut counts = Self::default();
        for letter in text.chars().filter(|char| char.is_alphabetic()) {
            counts.letters += 1;
            let is_latin = matches!(u32::from(letter), 0..=0x24f | 0x1e00..=0x1eff);
            counts.latin += usize::from(is_latin);
        }
        let words = tokens
            .iter()
            .filter(|token| token.form == Form::Word && !token.is_taken);
        for word in words {
            counts.words += 1;
            counts.function += usize::from(FUNCTION.contains(&*word.lower));
            if !word.starts_sentence {
                counts.inner += 1;
                counts.capitals += usize::from(word.written.starts_with(char::is_uppercase));
            }
        }
        counts
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.letters += other.letters;
        self.latin += other.latin;
        self.words += other.words;
        self.function += other.function;
        self.inner += other.inner;
        self.capitals += other.capitals;
    }

    pub(crate) fn language(self) -> Language {
        let is_foreign = self.words >= TELLING_WORDS && self.function * 100 < self.words * 14;
        if self.latin * 100 < self.letters * 60 || is_foreign {
            Language::Unsupported
        } else {
            Language::English
        }
    }

    /// Whether more than `percent` of the words that begin no sentence have a capital. Few capitals say nothing: they are those of
    /// the names in a short text.
    pub(crate) fn has_capitals(self, percent: usize) -> bool {
        self.capitals > FEW_CAPITALS && self.capitals * 100 > self.inner * percent
    }
}
