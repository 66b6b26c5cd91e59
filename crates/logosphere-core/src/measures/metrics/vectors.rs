//! Vectors of texts, and sums of them.

use super::scope::SlidingMeasure;

/// The vectors of all kinds of a corpus, each of length 1.
pub(crate) trait TextVectors {
    /// The smallest cosine of two vectors.
    const LEAST: f64;

    /// Returns the number of numbers in a vector.
    fn dims(&self) -> usize;

    /// Returns whether a kind has a vector.
    fn has(&self, kind: usize) -> bool;

    /// Returns the numbers of a kind that are not 0, each with its index; empty for a kind without a vector.
    fn vector(&self, kind: usize) -> impl Iterator<Item = (usize, f64)>;
}

/// A sum of vectors that texts can enter and leave. Texts without a vector have no effect.
#[derive(Debug)]
pub(crate) struct Sum<'a, V> {
    vectors: &'a V,
    weights: Vec<f64>,
    /// The number of texts with each term. A term without texts has a weight of exactly 0.
    holders: Vec<u32>,
    texts: usize,
    /// The square of the sum's length.
    square: f64,
}

impl<'a, V: TextVectors> Sum<'a, V> {
    /// Returns an empty sum.
    pub(crate) fn new(vectors: &'a V) -> Self {
        Self {
            vectors,
            weights: vec![0.0; vectors.dims()],
            holders: vec![0; vectors.dims()],
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
        for (term, weight) in self.vectors.vector(kind) {
            change += weight * (2.0 * self.weights[term] + weight);
            self.weights[term] += weight;
            self.holders[term] += 1;
        }
        if self.vectors.has(kind) {
            self.texts += 1;
            self.square += change;
        }
    }

    /// Removes a text, which must be in the sum.
    pub(crate) fn remove(&mut self, kind: usize) {
        let mut change = 0.0;
        for (term, weight) in self.vectors.vector(kind) {
            change += weight * (2.0 * self.weights[term] - weight);
            self.holders[term] -= 1;
            self.weights[term] = match self.holders[term] {
                0 => 0.0,
                _ => self.weights[term] - weight,
            };
        }
        if self.vectors.has(kind) {
            self.texts -= 1;
            self.square = match self.texts {
                0 => 0.0,
                _ => self.square - change,
            };
        }
    }

    /// Removes all texts, which are of these kinds.
    pub(crate) fn clear(&mut self, kinds: impl Iterator<Item = usize>) {
        for (term, _) in kinds.flat_map(|kind| self.vectors.vector(kind)) {
            self.weights[term] = 0.0;
            self.holders[term] = 0;
        }
        self.texts = 0;
        self.square = 0.0;
    }

    /// Returns the mean cosine of all pairs of texts in the sum; `None` for fewer than two texts.
    pub(crate) fn mean_cosine(&self) -> Option<f64> {
        let texts = self.texts as f64;
        (self.texts >= 2)
            .then(|| ((self.square - texts) / (texts * (texts - 1.0))).clamp(V::LEAST, 1.0))
    }

    /// Returns the sum of the cosines of a text with all texts in the sum.
    pub(crate) fn cosines(&self, kind: usize) -> f64 {
        let vector = self.vectors.vector(kind);
        vector
            .map(|(term, weight)| weight * self.weights[term])
            .sum()
    }
}

impl<V: TextVectors> SlidingMeasure for Sum<'_, V> {
    fn add(&mut self, kind: usize) {
        Sum::add(self, kind);
    }

    fn remove(&mut self, kind: usize) {
        Sum::remove(self, kind);
    }
}
