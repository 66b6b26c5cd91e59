//! Tests of the public interface.
#![expect(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

mod compare;
mod corpus;
mod extract;
mod honest;
mod language;
mod properties;

use std::collections::HashSet;
use std::sync::LazyLock;

use atoms::{Atoms, Lexicon, atoms};

/// The 20,000 most frequent words of the list of zer0gravity-engine.
static WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../zer0gravity-engine/src/data/english_words.txt"
    );
    let words = std::fs::read_to_string(path).unwrap();
    words.lines().take(20_000).map(str::to_owned).collect()
});

struct English;

impl Lexicon for English {
    fn knows(&self, word: &str) -> bool {
        WORDS.contains(word)
    }
}

fn english(text: &str) -> Atoms {
    atoms(text, &English)
}
