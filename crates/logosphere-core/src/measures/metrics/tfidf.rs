//! TF-IDF vectors: words weighted by their rarity.

use super::corpus::Corpus;

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

    /// Returns the terms of a kind with their weights, by token.
    pub(crate) fn vector(&self, kind: usize) -> impl Iterator<Item = (usize, f64)> {
        let span = self.starts[kind]..self.starts[kind + 1];
        let terms = self.terms[span.clone()].iter().map(|&term| term as usize);
        terms.zip(self.weights[span].iter().copied())
    }
}

/// A sum of vectors that texts can enter and leave. Texts without a token have no effect.
#[derive(Debug)]
pub(crate) struct Sum<'a> {
    tfidf: &'a Tfidf,
    weights: Vec<f64>,
    /// The number of texts with each term. A term without texts has a weight of exactly 0.
    holders: Vec<u32>,
    texts: usize,
    /// The square of the sum's length.
    square: f64,
}

impl<'a> Sum<'a> {
    /// Returns an empty sum.
    pub(crate) fn new(tfidf: &'a Tfidf) -> Self {
        Self {
            tfidf,
            weights: vec![0.0; tfidf.vocabulary],
            holders: vec![0; tfidf.vocabulary],
            texts: 0,
            square: 0.0,
        }
    }

    /// Returns the number of texts in the sum.
    pub(crate) fn texts(&self) -> usize {
        self.texts
    }

    /// Adds a text.
    pub(crate) fn add(&mut self, kind: usize) {
        let mut change = 0.0;
        for (term, weight) in self.tfidf.vector(kind) {
            change += weight * (2.0 * self.weights[term] + weight);
            self.weights[term] += weight;
            self.holders[term] += 1;
        }
        if change > 0.0 {
            self.texts += 1;
            self.square += change;
        }
    }

    /// Removes a text, which must be in the sum.
    pub(crate) fn remove(&mut self, kind: usize) {
        let mut change = 0.0;
        for (term, weight) in self.tfidf.vector(kind) {
            change += weight * (2.0 * self.weights[term] - weight);
            self.holders[term] -= 1;
            self.weights[term] = match self.holders[term] {
                0 => 0.0,
                _ => self.weights[term] - weight,
            };
        }
        if change > 0.0 {
            self.texts -= 1;
            self.square = match self.texts {
                0 => 0.0,
                _ => self.square - change,
            };
        }
    }

    /// Returns the mean cosine of all pairs of texts in the sum; `None` for fewer than two texts.
    pub(crate) fn mean_cosine(&self) -> Option<f64> {
        let texts = self.texts as f64;
        (self.texts >= 2).then(|| ((self.square - texts) / (texts * (texts - 1.0))).clamp(0.0, 1.0))
    }

    /// Returns the sum of the cosines of a text with all texts in the sum.
    pub(crate) fn cosines(&self, kind: usize) -> f64 {
        let vector = self.tfidf.vector(kind);
        vector
            .map(|(term, weight)| weight * self.weights[term])
            .sum()
    }
}
