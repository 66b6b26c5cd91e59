//! Statistics of a repeated experiment: means with intervals, tests of differences, and sources of the spread.
//!
//! Every sum runs in the order of its input, so the same input gives the same bits. Random numbers come from a generator that the
//! caller passes.
//!
//! Next: [`mean_with_interval`] for one mean, [`paired_test`], [`drop_p`], [`holm`] and [`texts_to_separate`] for differences, [`variance_components`] for
//! repeats, [`panel_score`] and [`krippendorff_alpha`] for judges.

mod agreement;
mod components;
mod drop;
mod holm;
mod interval;
mod median;
mod paired;
mod separation;

pub use agreement::krippendorff_alpha;
pub use components::{Components, StatsError, pooled_variance_components, variance_components};
pub use drop::{DROP_ERROR, drop_p, texts_needed};
pub use holm::holm;
pub(crate) use interval::quantile;
pub use interval::{Interval, IntervalMethod, MeanEstimate, UNBOUNDED, mean_with_interval};
pub use median::{panel_score, sample_median};
pub use paired::{EXACT_FLIPS_UP_TO, PairedResult, RANDOM_FLIPS, paired_test};
pub use separation::{SIGNIFICANT, least_texts, texts_to_separate};

/// Returns the mean; `None` for an empty list.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the mean and the variance of a sample; `None` for fewer than two values.
pub(crate) fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(values).filter(|_| values.len() >= 2)?;
    let squares = squares(values.iter().copied(), mean);
    Some((mean, squares / (values.len() - 1) as f64))
}

/// Returns the sum of squared distances from `center`.
fn squares(values: impl IntoIterator<Item = f64>, center: f64) -> f64 {
    values
        .into_iter()
        .map(|value| (value - center) * (value - center))
        .sum()
}
