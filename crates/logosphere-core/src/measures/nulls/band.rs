//! The position of a number of a run among those of a null model.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;

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
    metric: impl Fn(&Transcript) -> Option<f64> + Sync,
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
    metric: impl Fn(&Transcript) -> Vec<Option<f64>> + Sync,
) -> Vec<Option<NullBand>> {
    let runs = NullRuns {
        model: NullModel::new(run, null, seed),
        count: runs,
        threads: 1,
    };
    bands(metric(run), &runs, metric, &mut || {})
}

/// Runs of a null model.
pub(crate) struct NullRuns<'a> {
    pub(crate) model: NullModel<'a>,
    /// The number of runs, at least [`MIN_RUNS`].
    pub(crate) count: u32,
    /// The number of threads that make and measure them.
    pub(crate) threads: usize,
}

/// Returns the bands of the numbers `observed`, as [`null_bands`] does. `on_run` is called after each run.
///
/// Threads measure the runs in any order. A band sorts its numbers, so the order has no effect.
pub(crate) fn bands(
    observed: Vec<Option<f64>>,
    runs: &NullRuns<'_>,
    metric: impl Fn(&Transcript) -> Vec<Option<f64>> + Sync,
    on_run: &mut dyn FnMut(),
) -> Vec<Option<NullBand>> {
    let mut values = vec![Vec::new(); observed.len()];
    let count = runs.count.max(MIN_RUNS);
    let next = AtomicU32::new(0);
    thread::scope(|scope| {
        // The channel is short, so that results do not pile up.
        let (sender, measured) = mpsc::sync_channel(1);
        for _ in 0..runs.threads.max(1) {
            let sender = sender.clone();
            let (next, metric) = (&next, &metric);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count || sender.send(metric(&runs.model.run(index))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for numbers in measured {
            for (values, number) in values.iter_mut().zip(numbers) {
                values.extend(number);
            }
            on_run();
        }
    });
    (observed.into_iter().zip(values))
        .map(|(observed, values)| NullBand::new(observed?, values))
        .collect()
}
