//! Confidence intervals of means.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::pool::SampleRng;

/// The number of resamples of a bootstrap.
pub const RESAMPLES: usize = 2000;

/// The fewest values of a series with an interval. Of fewer there are too few blocks to resample.
pub const MIN_VALUES: usize = 8;

/// The share of resamples that an interval leaves out at each end.
const TAIL: f64 = 0.025;

/// A confidence interval: the middle 95 % of the resampled means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Returns the interval of the mean of a series of values, such as those of rounds; `None` for fewer than [`MIN_VALUES`].
///
/// It is a moving-block bootstrap with blocks of [`block_length`] values, which keeps the correlation of neighbours.
/// `name` and the seed choose the random numbers.
pub fn block_interval(values: &[f64], seed: u64, name: &str) -> Option<Interval> {
    if values.len() < MIN_VALUES {
        return None;
    }
    bootstrap(values, block_length(values.len()), seed, name)
}

/// Returns the interval of the mean of independent values, such as those of several runs with the same settings; `None`
/// for fewer than two.
pub fn replicate_interval(values: &[f64], seed: u64, name: &str) -> Option<Interval> {
    bootstrap(values, 1, seed, name)
}

/// Returns the length of blocks for this number of values: the cube root, rounded up.
pub fn block_length(values: usize) -> usize {
    let mut length: usize = 1;
    while length.pow(3) < values {
        length += 1;
    }
    length
}

/// Returns the random numbers of a resampling.
pub(crate) fn resampling(what: &str, seed: u64, name: &str) -> SampleRng {
    let key = Sha256::digest(format!("logosphere/{what}/v1\n{seed}\n{name}"));
    SampleRng::keyed(key.into())
}

fn bootstrap(values: &[f64], block: usize, seed: u64, name: &str) -> Option<Interval> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let sums = |length: usize| -> Vec<f64> {
        values[..n - block + length]
            .windows(length)
            .map(|block| block.iter().sum())
            .collect()
    };
    let (whole, rest) = (n / block, n % block);
    let blocks = sums(block);
    // The last block is cut so that a resample has as many values as there are.
    let rests = if rest > 0 { sums(rest) } else { Vec::new() };
    let mut rng = resampling("bootstrap", seed, name);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let mut draw = |sums: &[f64]| sums[rng.below(sums.len() as u64) as usize];
            let mut sum: f64 = (0..whole).map(|_| draw(&blocks)).sum();
            if rest > 0 {
                sum += draw(&rests);
            }
            sum / n as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    Some(Interval {
        low: quantile(&means, TAIL),
        high: quantile(&means, 1.0 - TAIL),
    })
}

/// Returns a quantile of sorted values, interpolated linearly. At least one value is needed.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let below = sorted[at.floor() as usize];
    let above = sorted[at.ceil() as usize];
    below + (above - below) * at.fract()
}
