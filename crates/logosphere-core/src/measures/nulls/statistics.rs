//! Bands and p values of numbers among those of null runs.

use serde::Serialize;

use crate::measures::metrics::quantile;

/// The range of a number in the null runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NullBand {
    /// The median.
    pub median: f64,
    /// The quantile 0.025.
    pub low: f64,
    /// The quantile 0.975.
    pub high: f64,
}

impl NullBand {
    /// Returns the band of these numbers; `None` if there is none.
    pub fn new(mut null: Vec<f64>) -> Option<Self> {
        if null.is_empty() {
            return None;
        }
        null.sort_by(f64::total_cmp);
        Some(Self {
            median: quantile(&null, 0.5),
            low: quantile(&null, 0.025),
            high: quantile(&null, 0.975),
        })
    }
}

/// Returns a number without the last digits, which depend on the order of sums: equal numbers compare equal.
pub(super) fn comparable(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

/// Returns the share of null numbers at least as large: `(1 + #{null >= observed}) / (runs + 1)`.
pub fn upper_p(observed: f64, null: &[f64]) -> f64 {
    let as_large = null.iter().filter(|value| **value >= observed).count();
    (1 + as_large) as f64 / (null.len() + 1) as f64
}

/// Returns the p of a number that may be too small or too large: twice the smaller share of null numbers on one side,
/// counted as in [`upper_p`], and at most 1.
pub fn two_sided_p(observed: f64, null: &[f64]) -> f64 {
    let count =
        |is: fn(&f64, &f64) -> bool| 1 + (null.iter()).filter(|value| is(value, &observed)).count();
    let least = count(f64::le).min(count(f64::ge));
    (2.0 * least as f64 / (null.len() + 1) as f64).min(1.0)
}

/// Returns p values corrected for their number by Holm's method, in the order given.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut corrected = vec![1.0; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        let tests = (p.len() - rank) as f64;
        largest = largest.max((tests * p[at]).min(1.0));
        corrected[at] = largest;
    }
    corrected
}
