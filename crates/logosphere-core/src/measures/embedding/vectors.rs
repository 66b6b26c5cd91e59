//! The vectors of texts.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::encoder::Encoder;
use crate::measures::metrics::corpus::Corpus;
use crate::verify::Transcript;

/// The SHA-256 of a text, by which its vector is found.
pub type TextHash = [u8; 32];

/// The error of a vector that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingError {
    /// A vector of another length.
    #[error("expected vectors of {expected} numbers, got one of {found}")]
    OtherLength {
        /// The number of dimensions of the encoder.
        expected: usize,
        /// The length of the vector.
        found: usize,
    },
    /// A number that is not finite.
    #[error("expected finite numbers, got {found} at index {index}")]
    NotFinite {
        /// The index of the number.
        index: usize,
        /// The number.
        found: String,
    },
    /// A vector without a direction.
    #[error("expected a vector with a direction, got zeros only")]
    Zero,
}

/// The vectors of texts by one encoder, each of length 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    encoder: Encoder,
    of_text: HashMap<TextHash, Vec<f32>>,
}

impl Embeddings {
    /// Returns no vectors of an encoder.
    pub fn new(encoder: Encoder) -> Self {
        Self {
            encoder,
            of_text: HashMap::new(),
        }
    }

    /// Returns the encoder.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Returns the hash of a text.
    pub fn hash(text: &str) -> TextHash {
        Sha256::digest(text).into()
    }

    /// Returns the number of texts with a vector.
    pub fn len(&self) -> usize {
        self.of_text.len()
    }

    /// Returns whether no text has a vector.
    pub fn is_empty(&self) -> bool {
        self.of_text.is_empty()
    }

    /// Returns the vector of the text with this hash.
    pub fn get(&self, text: &TextHash) -> Option<&[f32]> {
        self.of_text.get(text).map(Vec::as_slice)
    }

    /// Sets the vector of the text with this hash, scaled to length 1.
    ///
    /// # Errors
    /// The vector has another length than those of the encoder, a number that is not finite, or only zeros.
    pub fn insert(&mut self, text: TextHash, vector: Vec<f32>) -> Result<(), EmbeddingError> {
        let vector = unit(vector, self.encoder.dims)?;
        self.set(text, vector);
        Ok(())
    }

    /// Sets the vector, of length 1, of the text with this hash.
    pub(super) fn set(&mut self, text: TextHash, vector: Vec<f32>) {
        self.of_text.insert(text, vector);
    }
}

/// Returns a vector with the length 1.
fn unit(mut vector: Vec<f32>, dims: usize) -> Result<Vec<f32>, EmbeddingError> {
    if vector.len() != dims {
        return Err(EmbeddingError::OtherLength {
            expected: dims,
            found: vector.len(),
        });
    }
    if let Some(index) = vector.iter().position(|number| !number.is_finite()) {
        return Err(EmbeddingError::NotFinite {
            index,
            found: vector[index].to_string(),
        });
    }
    let squares = vector.iter().map(|number| f64::from(*number).powi(2));
    let length = squares.sum::<f64>().sqrt();
    if length == 0.0 {
        return Err(EmbeddingError::Zero);
    }
    for number in &mut vector {
        *number = (f64::from(*number) / length) as f32;
    }
    Ok(vector)
}

/// Returns the different texts of a run that are measured, without signatures, in the order of their first message.
pub fn texts(run: &Transcript) -> Vec<&str> {
    let corpus = Corpus::of(run);
    let mut seen = vec![false; corpus.kinds()];
    let kinds = corpus.texts().iter().map(|text| text.kind);
    kinds
        .filter(|&kind| !std::mem::replace(&mut seen[kind], true))
        .map(|kind| corpus.text(kind))
        .collect()
}
