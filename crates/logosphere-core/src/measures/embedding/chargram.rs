//! The encoder `chargram/1`: the character n-grams of a text, hashed into 512 numbers. It sees spelling, not meaning.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::encoder::{Encoder, PROBES};
use super::vectors::Embeddings;

/// The name of the encoder in results.
pub const CHARGRAM: &str = "chargram/1";

/// The number of numbers in a vector.
pub(crate) const DIMS: usize = 512;

/// The lengths of n-grams in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=5;

/// Returns the vectors of these texts by `chargram/1`. A text without a letter has none.
///
/// A text is written in lower case, with one space for each run of white space and one space at both ends. Each of its
/// n-grams of 3, 4 and 5 characters has a place, the low 9 bits of the first 8 bytes of its SHA-256 as a little-endian number,
/// and a sign, minus if the highest bit is set. It adds sign x ln(1 + its count) there.
///
/// ```
/// use logosphere_core::measures::embedding::{Embeddings, chargram};
///
/// let vectors = chargram(["The moon is stone.", "the  MOON is stone."]);
/// assert_eq!(vectors.encoder().name, "chargram/1");
/// let of = |text| vectors.get(&Embeddings::hash(text)).unwrap();
/// assert_eq!(of("The moon is stone."), of("the  MOON is stone."));
/// ```
pub fn chargram<'a>(texts: impl IntoIterator<Item = &'a str>) -> Embeddings {
    let mut grams = CharGrams::default();
    let probes = PROBES.map(|probe| grams.vector(probe).unwrap_or_else(|| vec![0.0; DIMS]));
    let mut vectors = Embeddings::new(Encoder::new(CHARGRAM, CHARGRAM, &probes));
    for text in texts {
        if let Some(vector) = grams.vector(text) {
            vectors.set(Embeddings::hash(text), vector);
        }
    }
    vectors
}

/// The places and signs of n-grams, which are hashed once.
#[derive(Debug, Default)]
pub(crate) struct CharGrams {
    known: HashMap<String, CharGram>,
}

/// An n-gram with its place in a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CharGram {
    place: u16,
    is_negative: bool,
    /// The rest of the hash, which tells n-grams of one place apart.
    hash: u64,
}

impl CharGram {
    fn of(gram: &str) -> Self {
        let mut first = [0; 8];
        first.copy_from_slice(&Sha256::digest(gram)[..8]);
        let hash = u64::from_le_bytes(first);
        Self {
            place: (hash % DIMS as u64) as u16,
            is_negative: hash >> 63 == 1,
            hash,
        }
    }
}

impl CharGrams {
    /// Returns the vector of a text, of length 1; `None` if it has none.
    pub(crate) fn vector(&mut self, text: &str) -> Option<Vec<f32>> {
        let mut padded = String::with_capacity(text.len() + 2);
        padded.push(' ');
        for word in text.to_lowercase().split_whitespace() {
            padded.push_str(word);
            padded.push(' ');
        }
        let mut ends: Vec<usize> = padded.char_indices().map(|(at, _)| at).collect();
        ends.push(padded.len());
        let mut found = Vec::new();
        for length in LENGTHS {
            for span in ends.windows(length + 1) {
                let gram = &padded[span[0]..span[length]];
                let known = self.known.get(gram).copied();
                found.push(known.unwrap_or_else(|| {
                    let new = CharGram::of(gram);
                    self.known.insert(gram.to_owned(), new);
                    new
                }));
            }
        }
        found.sort_unstable();
        let mut sums = vec![0.0; DIMS];
        for same in found.chunk_by(|a, b| a == b) {
            let value = (1.0 + same.len() as f64).ln();
            let gram = same[0];
            sums[usize::from(gram.place)] += if gram.is_negative { -value } else { value };
        }
        let length = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
        (length > 0.0).then(|| sums.iter().map(|sum| (sum / length) as f32).collect())
    }
}
