//! One number from several judges and samples.

use crate::judge::score::round_half_up;

/// The median; of an even number of values the mean of the two in the middle, rounded half up to a whole point. None of no
/// values; NaN if one of them is NaN, as a missing word of a judge must not turn into a number.
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

/// The points that a panel gives: the median over each judge's samples, then the median over judges. `samples` is
/// `[judge][sample]`; a judge without samples does not count.
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
