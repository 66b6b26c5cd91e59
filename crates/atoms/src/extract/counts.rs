//! Counts of the words of a text.

use crate::atom::Language;
use crate::lists::FUNCTION;
use crate::text::{Form, Token};

/// The fewest words of a text whose language can be told.
const TELLING_WORDS: usize = 20;

/// The counts that tell the language of a text, or of several.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordCounts {
    letters: usize,
    latin: usize,
    words: usize,
    function: usize,
    /// The words that do not begin a sentence.
    pub(crate) inner: usize,
}

impl WordCounts {
    pub(super) fn new(text: &str, tokens: &[Token]) -> Self {
        let mut counts = Self::default();
        for letter in text.chars().filter(|char| char.is_alphabetic()) {
            counts.letters += 1;
            let is_latin = matches!(u32::from(letter), 0..=0x24f | 0x1e00..=0x1eff);
            counts.latin += usize::from(is_latin);
        }
        for word in tokens.iter().filter(|token| is_word(token)) {
            counts.words += 1;
            counts.function += usize::from(FUNCTION.contains(&*word.lower));
            counts.inner += usize::from(is_inner(word));
        }
        counts
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.letters += other.letters;
        self.latin += other.latin;
        self.words += other.words;
        self.function += other.function;
        self.inner += other.inner;
    }

    pub(crate) fn language(self) -> Language {
        let is_foreign = self.words >= TELLING_WORDS && self.function * 100 < self.words * 14;
        if self.latin * 100 < self.letters * 60 || is_foreign {
            Language::Unsupported
        } else {
            Language::English
        }
    }
}

fn is_word(token: &Token) -> bool {
    token.form == Form::Word && !token.is_taken
}

/// Whether a token is a word that begins no sentence.
pub(super) fn is_inner(token: &Token) -> bool {
    is_word(token) && !token.starts_sentence
}
