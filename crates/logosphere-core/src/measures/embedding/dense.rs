//! The vectors of a corpus by an encoder.

use super::chargram::{CharGrams, DIMS};
use super::vectors::Embeddings;
use crate::measures::metrics::corpus::Corpus;
use crate::measures::metrics::vectors::TextVectors;

/// The vectors of the kinds of a corpus.
#[derive(Debug)]
pub(crate) struct Dense {
    dims: usize,
    /// The place of each kind in `numbers`, in vectors; `None` without a vector.
    places: Vec<Option<usize>>,
    numbers: Vec<f32>,
}

impl Dense {
    fn new(dims: usize) -> Self {
        Self {
            dims,
            places: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Returns the vectors of the texts of a corpus.
    pub(crate) fn of(corpus: &Corpus<'_>, embeddings: &Embeddings) -> Self {
        let mut dense = Self::new(embeddings.encoder().dims);
        for kind in 0..corpus.kinds() {
            dense.push(embeddings.get(&Embeddings::hash(corpus.text(kind))));
        }
        dense
    }

    /// Returns the vectors by `chargram/1` of a corpus of lists, whose texts are its tokens, one space apart.
    pub(crate) fn of_lists(corpus: &Corpus<'_>, words: &[String]) -> Self {
        let mut dense = Self::new(DIMS);
        let mut grams = CharGrams::default();
        for kind in 0..corpus.kinds() {
            let tokens = corpus.tokens()[corpus.span(kind)].iter();
            let text: Vec<&str> = tokens.map(|&token| &*words[token as usize]).collect();
            dense.push(grams.vector(&text.join(" ")).as_deref());
        }
        dense
    }

    fn push(&mut self, vector: Option<&[f32]>) {
        let place = self.numbers.len() / self.dims;
        self.numbers.extend_from_slice(vector.unwrap_or_default());
        self.places.push(vector.map(|_| place));
    }
}

impl TextVectors for Dense {
    const LEAST: f64 = -1.0;

    fn dims(&self) -> usize {
        self.dims
    }

    fn has(&self, kind: usize) -> bool {
        self.places[kind].is_some()
    }

    fn vector(&self, kind: usize) -> impl Iterator<Item = (usize, f64)> {
        let start = self.places[kind].map_or(0, |place| place * self.dims);
        let length = if self.has(kind) { self.dims } else { 0 };
        let numbers = self.numbers[start..start + length].iter();
        numbers.map(|number| f64::from(*number)).enumerate()
    }
}
