//! The sources of the spread of repeated scores: encoder, decoder or judge.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{mean, squares};

/// The variances of a balanced nested experiment, in squared points: encodings of a text, decodings of each, samples of a judge on
/// each.
///
/// The variance of a level with one repeat is `None`, because it was not measured. It is then part of the level above.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Components {
    /// The number of encodings of each text.
    pub encodes: usize,
    /// The number of decodings of each encoding.
    pub decodes: usize,
    /// The number of samples of the judge on each decoding.
    pub samples: usize,
    /// The variance between encodings of the same text.
    #[serde(with = "crate::judge::number::plain_option")]
    pub encode: Option<f64>,
    /// The variance between decodings of the same encoded text.
    #[serde(with = "crate::judge::number::plain_option")]
    pub decode: Option<f64>,
    /// The variance between samples of the judge on the same decoded text.
    #[serde(with = "crate::judge::number::plain_option")]
    pub judge: Option<f64>,
}

/// The reason why there are no components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StatsError {
    /// The input has no score.
    #[error("no scores")]
    Empty,
    /// An encoding differs from the first one in the number of decodings, or of samples per decoding.
    #[error("unbalanced: encoding {encode} has {actual} where the first has {expected}")]
    Unbalanced {
        /// The encoding, from 0.
        encode: usize,
        /// The number of repeats of the first encoding.
        expected: usize,
        /// The number of repeats of this encoding.
        actual: usize,
    },
    /// A score is NaN or infinite.
    #[error("a score of encoding {encode} is not a number")]
    NotFinite {
        /// The encoding, from 0.
        encode: usize,
    },
    /// A text differs from the first one in its numbers of repeats.
    #[error("text {text} has other numbers of repeats than the first")]
    OtherShape {
        /// The text, from 0.
        text: usize,
    },
}

/// Computes the components of one text's scores, `[encode][decode][judge sample]`.
///
/// # Errors
/// [`StatsError`]: there is no score, a score is not finite, or repeats are missing.
///
/// ```
/// use zer0gravity_engine::metrics::stats::variance_components;
/// let scores = [vec![vec![30.0, 32.0], vec![34.0, 36.0]], vec![vec![38.0, 40.0], vec![38.0, 40.0]]];
/// let components = variance_components(&scores).unwrap();
/// assert_eq!((components.judge, components.decode, components.encode), (Some(2.0), Some(3.0), Some(16.0)));
/// ```
pub fn variance_components(scores: &[Vec<Vec<f64>>]) -> Result<Components, StatsError> {
    MeanSquares::of(scores).map(MeanSquares::components)
}

/// Computes the common components of several texts, `[text][encode][decode][judge sample]`.
///
/// Mean squares are averaged over texts before they are subtracted. Otherwise the limit at 0 would bias each text upwards.
///
/// # Errors
/// [`StatsError`]: as [`variance_components`] for any of the texts, or they differ in their repeats.
///
/// ```
/// use zer0gravity_engine::metrics::stats::pooled_variance_components;
/// let quiet = vec![vec![vec![30.0, 30.0]]];
/// let loud = vec![vec![vec![30.0, 34.0]]];
/// assert_eq!(pooled_variance_components(&[quiet, loud]).unwrap().judge, Some(4.0));
/// ```
pub fn pooled_variance_components(texts: &[Vec<Vec<Vec<f64>>>]) -> Result<Components, StatsError> {
    let squares = (texts.iter())
        .map(|scores| MeanSquares::of(scores))
        .collect::<Result<Vec<_>, _>>()?;
    let first = *squares.first().ok_or(StatsError::Empty)?;
    if let Some(text) = squares.iter().position(|other| other.shape != first.shape) {
        return Err(StatsError::OtherShape { text });
    }
    let pooled = |level: fn(&MeanSquares) -> Option<f64>| {
        let values: Vec<f64> = squares.iter().filter_map(level).collect();
        mean(&values)
    };
    let pooled = MeanSquares {
        shape: first.shape,
        encode: pooled(|squares| squares.encode),
        decode: pooled(|squares| squares.decode),
        judge: pooled(|squares| squares.judge),
    };
    Ok(pooled.components())
}

/// Mean squares of the levels; `None` for a level with one repeat.
#[derive(Debug, Clone, Copy)]
struct MeanSquares {
    /// Encodes, decodes, judge samples.
    shape: [usize; 3],
    encode: Option<f64>,
    decode: Option<f64>,
    judge: Option<f64>,
}

impl MeanSquares {
    fn of(scores: &[Vec<Vec<f64>>]) -> Result<Self, StatsError> {
        let shape = shape(scores)?;
        let [e, d, k] = shape.map(|repeats| repeats as f64);
        let mut within_decodes = 0.0;
        let mut within_encodes = 0.0;
        let mut encode_means = Vec::with_capacity(scores.len());
        for decodes in scores {
            let mut decode_means = Vec::with_capacity(decodes.len());
            for samples in decodes {
                let center = mean(samples).ok_or(StatsError::Empty)?;
                within_decodes += squares(samples.iter().copied(), center);
                decode_means.push(center);
            }
            let center = mean(&decode_means).ok_or(StatsError::Empty)?;
            within_encodes += squares(decode_means, center);
            encode_means.push(center);
        }
        let center = mean(&encode_means).ok_or(StatsError::Empty)?;
        let between_encodes = squares(encode_means, center);
        let level = |repeats: f64, sum: f64, freedom: f64| (repeats > 1.0).then_some(sum / freedom);
        Ok(Self {
            shape,
            encode: level(e, d * k * between_encodes, e - 1.0),
            decode: level(d, k * within_encodes, e * (d - 1.0)),
            judge: level(k, within_decodes, e * d * (k - 1.0)),
        })
    }

    /// Returns the variance that each level adds to the next repeated level below it.
    fn components(self) -> Components {
        let [encodes, decodes, samples] = self.shape;
        let over = |own: Option<f64>, below: Option<f64>, times: usize| {
            own.map(|own| ((own - below.unwrap_or(0.0)) / times as f64).max(0.0))
        };
        Components {
            encodes,
            decodes,
            samples,
            encode: over(self.encode, self.decode.or(self.judge), decodes * samples),
            decode: over(self.decode, self.judge, samples),
            judge: self.judge,
        }
    }
}

/// Returns the number of repeats of each level, if it is the same everywhere.
fn shape(scores: &[Vec<Vec<f64>>]) -> Result<[usize; 3], StatsError> {
    let decodes = scores.first().map_or(0, Vec::len);
    let samples = scores.first().and_then(|d| d.first()).map_or(0, Vec::len);
    if samples == 0 {
        return Err(StatsError::Empty);
    }
    let equal = |encode: usize, expected: usize, actual: usize| {
        if expected == actual {
            Ok(())
        } else {
            Err(StatsError::Unbalanced {
                encode,
                expected,
                actual,
            })
        }
    };
    for (encode, of_encode) in scores.iter().enumerate() {
        equal(encode, decodes, of_encode.len())?;
        for of_decode in of_encode {
            equal(encode, samples, of_decode.len())?;
            if !of_decode.iter().all(|score| score.is_finite()) {
                return Err(StatsError::NotFinite { encode });
            }
        }
    }
    Ok([scores.len(), decodes, samples])
}
