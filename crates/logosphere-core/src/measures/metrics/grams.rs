//! Word n-grams as numbers.

use std::collections::HashMap;
use std::ops::Range;

use super::corpus::Corpus;

/// The n-grams of one length of all kinds; equal n-grams have the same number.
#[derive(Debug)]
pub(crate) struct Grams {
    length: usize,
    /// The number of each n-gram at the index of its first token; 0 if the text ends too early.
    ids: Vec<u32>,
    different: usize,
}

impl Grams {
    /// Returns the n-grams of two tokens.
    pub(crate) fn pairs(corpus: &Corpus<'_>) -> Self {
        Self::joined(corpus, 2, corpus.tokens(), corpus.tokens(), 1)
    }

    /// Returns the n-grams of three tokens, built from those of two.
    pub(crate) fn triples(corpus: &Corpus<'_>) -> Self {
        Self::joined(corpus, 3, &corpus.pairs().ids, corpus.tokens(), 2)
    }

    /// Returns the n-grams of five tokens, built from those of three.
    pub(crate) fn fives(corpus: &Corpus<'_>) -> Self {
        let triples = corpus.triples();
        Self::joined(corpus, 5, &triples.ids, &triples.ids, 2)
    }

    /// Builds n-grams from two shorter ones: the one that begins at the same token and the one `shift` tokens later.
    fn joined(
        corpus: &Corpus<'_>,
        length: usize,
        left: &[u32],
        right: &[u32],
        shift: usize,
    ) -> Self {
        let mut ids = vec![0; corpus.tokens().len()];
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        for kind in 0..corpus.kinds() {
            for at in starts(&corpus.span(kind), length) {
                let next = known.len() as u32;
                ids[at] = *known.entry((left[at], right[at + shift])).or_insert(next);
            }
        }
        Self {
            length,
            ids,
            different: known.len(),
        }
    }

    /// Returns the n-grams of a kind in order.
    pub(crate) fn of(&self, corpus: &Corpus<'_>, kind: usize) -> &[u32] {
        &self.ids[starts(&corpus.span(kind), self.length)]
    }

    /// Returns the number of each n-gram at the index of its first token in [`Corpus::tokens`]. Other entries are
    /// meaningless.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Returns the number of different n-grams.
    pub(crate) fn different(&self) -> usize {
        self.different
    }
}

/// Returns the indexes at which n-grams can begin.
fn starts(span: &Range<usize>, length: usize) -> Range<usize> {
    span.start..(span.end + 1).saturating_sub(length).max(span.start)
}
