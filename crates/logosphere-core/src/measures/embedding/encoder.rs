//! The identity of an encoder.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The texts whose vectors identify an encoder.
pub const PROBES: [&str; 4] = [
    "The moon is made of stone.",
    "Der Mond ist aus Stein gemacht.",
    "月は石でできている。",
    "for i in 0..10 { print(i); }",
];

/// The source of vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Encoder {
    /// The name that was asked for: `chargram/1`, or `PROVIDER:MODEL`.
    pub name: String,
    /// The name of the model that answered.
    pub model_answered: String,
    /// The number of numbers in a vector.
    pub dims: usize,
    /// The SHA-256 in hex of the name, the number of dimensions and the vectors of [`PROBES`], rounded to 1e-3.
    pub sha256: String,
}

impl Encoder {
    /// Returns the encoder that answers [`PROBES`] with these vectors, which have equal lengths.
    pub fn new(
        name: impl Into<String>,
        model_answered: impl Into<String>,
        probes: &[Vec<f32>; PROBES.len()],
    ) -> Self {
        let (name, dims) = (name.into(), probes[0].len());
        let mut hash = Sha256::new();
        hash.update(format!("{name}\n{dims}\n"));
        for vector in probes {
            for number in vector {
                let thousandths = (f64::from(*number) * 1000.0).round() as i64;
                hash.update(format!("{thousandths} "));
            }
            hash.update("\n");
        }
        Self {
            name,
            model_answered: model_answered.into(),
            dims,
            sha256: hex::encode(hash.finalize()),
        }
    }
}
