//! The median of several judges and samples.

use crate::judge::score::round_half_up;

/// Returns the median. For an even number of values it is the mean of the two middle ones, rounded half up to a whole point.
///
/// The result is `None` for no values, and NaN if one value is NaN, because a missing score must not become a number.
///
/// ```
/// use zer0gravity_engine::metrics::stats::sample_median;
/// assert_eq!(sample_median(&[38.0, 30.0, 36.0]), Some(36.0));
/// assert_eq!(sample_median(&[38.0, 35.0]), Some(37.0));
/// assert_eq!(sample_median(&[]), None);
/// ```
pub fn sample_median(values: &[f64]) -> Option<f64> {
    if values.iter().any(|value| value.is_nan()) {
        return Some(f64::NAN);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len() % 2 == 1 {
        upper
    } else {
        let lower = sorted[sorted.len() / 2 - 1];
        round_half_up(f64::midpoint(lower, upper))
    })
}

/// Returns the points of a panel: the median over the medians of each judge's samples. `samples` is `[judge][sample]`; a judge
/// without samples does not count.
///
/// ```
/// use zer0gravity_engine::metrics::stats::panel_score;
/// assert_eq!(panel_score(&[vec![38.0, 38.0, 20.0], vec![31.0], vec![35.0]]), Some(35.0));
/// ```
pub fn panel_score(samples: &[Vec<f64>]) -> Option<f64> {
    let judges: Vec<f64> = (samples.iter())
        .filter_map(|samples| sample_median(samples))
        .collect();
    sample_median(&judges)
}
