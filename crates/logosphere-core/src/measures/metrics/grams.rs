//! Runs of words as numbers.

use std::collections::HashMap;
use std::ops::Range;

use super::corpus::Corpus;

/// The runs of so many tokens of all kinds, equal ones with the same number.
#[derive(Debug)]
pub(crate) struct Grams {
    length: usize,
    /// At the place of its first token; 0 where a text ends too early.
    ids: Vec<u32>,
    different: usize,
}

impl Grams {
    /// Runs of two.
    pub(crate) fn pairs(corpus: &Corpus<'_>) -> Self {
        Self::joined(corpus, 2, corpus.tokens(), corpus.tokens(), 1)
    }

    /// Runs of three, made of runs of two.
    pub(crate) fn triples(corpus: &Corpus<'_>, pairs: &Self) -> Self {
        Self::joined(corpus, 3, &pairs.ids, corpus.tokens(), 2)
    }

    /// Runs of five, made of runs of three.
    pub(crate) fn fives(corpus: &Corpus<'_>, triples: &Self) -> Self {
        Self::joined(corpus, 5, &triples.ids, &triples.ids, 2)
    }

    /// A run is known by what begins where it begins and by what begins `shift` tokens later.
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

    /// The runs of a kind in order.
    pub(crate) fn of(&self, corpus: &Corpus<'_>, kind: usize) -> &[u32] {
        &self.ids[starts(&corpus.span(kind), self.length)]
    }

    /// At the place of its first token in [`Corpus::tokens`]: each run's number. Other places mean nothing.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// How many are different.
    pub(crate) fn different(&self) -> usize {
        self.different
    }
}

/// Where runs can begin.
fn starts(span: &Range<usize>, length: usize) -> Range<usize> {
    span.start..(span.end + 1).saturating_sub(length).max(span.start)
}
