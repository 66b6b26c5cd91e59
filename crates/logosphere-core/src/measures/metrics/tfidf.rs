//! Texts as directions: words weighted by how rare they are.

use super::corpus::Corpus;

/// The name of this way to compare texts, for results.
pub(crate) const ENCODER: &str = "tfidf";

/// The TF-IDF vectors of all kinds, of length 1. Those without a token have none.
#[derive(Debug)]
pub(crate) struct Tfidf {
    /// Where the terms of each kind begin, and at last where all end.
    starts: Vec<usize>,
    terms: Vec<u32>,
    weights: Vec<f64>,
    vocabulary: usize,
}

impl Tfidf {
    /// Counts times `ln((1 + D) / (1 + df)) + 1`: `D` measured texts, of which `df` have the token.
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

    /// The terms of a kind with their weights, by token.
    pub(crate) fn vector(&self, kind: usize) -> impl Iterator<Item = (usize, f64)> {
        let span = self.starts[kind]..self.starts[kind + 1];
        let terms = self.terms[span.clone()].iter().map(|&term| term as usize);
        terms.zip(self.weights[span].iter().copied())
    }
}

/// A sum of vectors that texts can enter and leave. Texts without a token do neither.
#[derive(Debug)]
pub(crate) struct Sum<'a> {
    tfidf: &'a Tfidf,
    weights: Vec<f64>,
    /// How many texts have each term: a weight without any is exactly 0.
    holders: Vec<u32>,
    texts: usize,
    /// The square of the sum's length.
    square: f64,
}

impl<'a> Sum<'a> {
    /// Nothing.
    pub(crate) fn new(tfidf: &'a Tfidf) -> Self {
        Self {
            tfidf,
            weights: vec![0.0; tfidf.vocabulary],
            holders: vec![0; tfidf.vocabulary],
            texts: 0,
            square: 0.0,
        }
    }

    /// How many texts are in it.
    pub(crate) fn texts(&self) -> usize {
        self.texts
    }

    /// One text more.
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

    /// One text less; it must be in it.
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

    /// The mean cosine of all pairs of texts in it; none below two texts.
    pub(crate) fn mean_cosine(&self) -> Option<f64> {
        let texts = self.texts as f64;
        (self.texts >= 2).then(|| ((self.square - texts) / (texts * (texts - 1.0))).clamp(0.0, 1.0))
    }

    /// The sum of the cosines of a text with all texts in it.
    pub(crate) fn cosines(&self, kind: usize) -> f64 {
        let vector = self.tfidf.vector(kind);
        vector
            .map(|(term, weight)| weight * self.weights[term])
            .sum()
    }
}
