//! TF-IDF vectors: words weighted by their rarity.

use super::corpus::Corpus;
use super::vectors::TextVectors;

/// The name of this encoder in results.
pub(crate) const ENCODER: &str = "tfidf";

/// The TF-IDF vectors of all kinds, with length 1. A kind without a token has an empty vector.
#[derive(Debug)]
pub(crate) struct Tfidf {
    /// The index at which the terms of each kind begin, and the end of the last.
    starts: Vec<usize>,
    terms: Vec<u32>,
    weights: Vec<f64>,
    vocabulary: usize,
}

impl Tfidf {
    /// Returns the vectors. A weight is the count times `ln((1 + D) / (1 + df)) + 1`, for `D` measured texts of which
    /// `df` contain the token.
    pub(crate) fn of(corpus: &Corpus<'_>) -> Self {
        let mut starts = vec![0];
        let mut terms: Vec<u32> = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        let mut sorted: Vec<u32> = Vec::new();
        for kind in 0..corpus.kinds() {
            sorted.clear();
            sorted.extend_from_slice(&corpus.tokens()[corpus.span(kind)]);
            sorted.sort_unstable();
            for same in sorted.chunk_by(|a, b| a == b) {
                terms.push(same[0]);
                weights.push(same.len() as f64);
            }
            starts.push(terms.len());
        }
        let mut tfidf = Self {
            starts,
            terms,
            weights,
            vocabulary: corpus.vocabulary(),
        };
        tfidf.weigh(corpus);
        tfidf
    }

    fn weigh(&mut self, corpus: &Corpus<'_>) {
        let mut holders = vec![0_u64; self.vocabulary];
        for text in corpus.texts() {
            for &term in &self.terms[self.starts[text.kind]..self.starts[text.kind + 1]] {
                holders[term as usize] += 1;
            }
        }
        let all = corpus.texts().len() as f64;
        let rarity = |holders: u64| ((1.0 + all) / (1.0 + holders as f64)).ln() + 1.0;
        let rarity: Vec<f64> = holders.into_iter().map(rarity).collect();
        for kind in self.starts.windows(2) {
            let weights = &mut self.weights[kind[0]..kind[1]];
            for (weight, &term) in weights.iter_mut().zip(&self.terms[kind[0]..kind[1]]) {
                *weight *= rarity[term as usize];
            }
            let length = weights
                .iter()
                .map(|weight| weight * weight)
                .sum::<f64>()
                .sqrt();
            for weight in weights {
                *weight /= length;
            }
        }
    }
}

impl TextVectors for Tfidf {
    const LEAST: f64 = 0.0;

    fn dims(&self) -> usize {
        self.vocabulary
    }

    fn has(&self, kind: usize) -> bool {
        self.starts[kind] < self.starts[kind + 1]
    }

    fn vector(&self, kind: usize) -> impl Iterator<Item = (usize, f64)> {
        let span = self.starts[kind]..self.starts[kind + 1];
        let terms = self.terms[span.clone()].iter().map(|&term| term as usize);
        terms.zip(self.weights[span].iter().copied())
    }
}
