//! The position of a number of a run among those of a null model.

use serde::Serialize;

use crate::measures::metrics::quantile;
use crate::verify::Transcript;

use super::model::{Null, NullModel};

/// The fewest runs of a null model.
pub const MIN_RUNS: u32 = 200;

/// A number of a run and its band under a null model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "the numbers of a comparison")]
pub struct NullBand {
    /// The number of the run.
    pub observed: f64,
    /// The median of the null model.
    pub median: f64,
    /// The quantile 0.025.
    pub low: f64,
    /// The quantile 0.975.
    pub high: f64,
    /// The number of runs of the null model that have the number.
    pub runs: u32,
    /// The probability of a distance from the median at least as large: `(count + 1) / (runs + 1)`.
    pub p: f64,
}

impl NullBand {
    /// Returns the band of `null`, the numbers of the null model's runs; `None` if it is empty.
    pub fn new(observed: f64, mut null: Vec<f64>) -> Option<Self> {
        if null.is_empty() {
            return None;
        }
        null.sort_by(f64::total_cmp);
        let median = quantile(&null, 0.5);
        let far = |value: f64| (value - median).abs();
        let count = null.iter().filter(|value| far(**value) >= far(observed));
        Some(Self {
            observed,
            median,
            low: quantile(&null, 0.025),
            high: quantile(&null, 0.975),
            runs: null.len() as u32,
            p: (count.count() + 1) as f64 / (null.len() + 1) as f64,
        })
    }
}

/// Returns the band of one number; `None` if the run or all runs of the null model lack it. See [`null_bands`].
pub fn null_band(
    run: &Transcript,
    null: Null,
    runs: u32,
    seed: u64,
    metric: impl Fn(&Transcript) -> Option<f64>,
) -> Option<NullBand> {
    let mut bands = null_bands(run, null, runs, seed, |run| vec![metric(run)]);
    bands.pop().flatten()
}

/// Returns the bands of several numbers, such as one for each round, from the same runs of the null model.
///
/// There are `runs` of them, at least [`MIN_RUNS`]. A number that `metric` does not give for the run has no band. A
/// number that it does not give for a run of the null model is left out there.
pub fn null_bands(
    run: &Transcript,
    null: Null,
    runs: u32,
    seed: u64,
    metric: impl Fn(&Transcript) -> Vec<Option<f64>>,
) -> Vec<Option<NullBand>> {
    let observed = metric(run);
    let mut values = vec![Vec::new(); observed.len()];
    let model = NullModel::new(run, null, seed);
    for index in 0..runs.max(MIN_RUNS) {
        for (values, value) in values.iter_mut().zip(metric(&model.run(index))) {
            values.extend(value);
        }
    }
    (observed.into_iter().zip(values))
        .map(|(observed, values)| NullBand::new(observed?, values))
        .collect()
}
