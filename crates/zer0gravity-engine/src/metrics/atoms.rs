//! The commitments of a text, and those that a decoded text kept.

use ::atoms::{Atoms, Comparison};

use crate::text::Lexicon;

/// The number of most frequent English words that the start of a sentence does not make names.
const COMMON_WORDS: usize = 20_000;

/// Finds the atoms of a text, with the 20,000 most frequent words of [`Lexicon::english`] as common words.
///
/// ```
/// use zer0gravity_engine::metrics::atoms_of;
/// let kinds: Vec<_> = atoms_of("Do not open valve V-12.").all().iter().map(|atom| atom.kind.name()).collect();
/// assert_eq!(kinds, ["negation", "identifier"]);
/// ```
pub fn atoms_of(text: &str) -> Atoms {
    let common = |word: &str| Lexicon::english().is_frequent(word, COMMON_WORDS);
    ::atoms::atoms(text, &common)
}

/// Compares the atoms of a decoded text with those of its original.
pub fn compare_atoms(original: &str, decoded: &str) -> Comparison {
    ::atoms::compare(&atoms_of(original), &atoms_of(decoded))
}
