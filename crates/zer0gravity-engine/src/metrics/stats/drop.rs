//! A test for a drop of a mean.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{mean, squares};

/// The share of unchanged means that are called dropped.
pub const DROP_ERROR: f64 = 0.05;
/// The largest number of texts that [`texts_needed`] returns.
const MOST_TEXTS: usize = 100_000;
/// A spread below this counts as 0: differences that are equal on paper may differ in their last bits.
const EQUAL: f64 = 1e-9;

/// The one-sided p, 0 to 1, of `differences` (new minus old, one for each text) if their true mean is not below 0, by
/// Student's t; `None` below 2. At most [`DROP_ERROR`] means that the one-sided 95 % bound of the mean lies below 0.
///
/// Equal differences have no spread to compute t from. They get the one-sided p of the sign-flip test
/// ([`paired_test`](super::paired_test)), which is never 0: n equal drops give 1 / 2^n.
///
/// ```
/// use zer0gravity_engine::metrics::stats::drop_p;
/// assert!(drop_p(&[-4.0, -6.0, -5.0, -5.0]).unwrap() < 0.05);
/// assert!(drop_p(&[-9.0, 3.0, -6.0, 0.0]).unwrap() > 0.05);
/// assert_eq!(drop_p(&[-55.0, -55.0]), Some(0.25));
/// assert_eq!(drop_p(&[-9.0]), None);
/// ```
pub fn drop_p(differences: &[f64]) -> Option<f64> {
    let (mean, spread) = mean_and_spread(differences)?;
    let n = differences.len() as f64;
    if spread <= EQUAL {
        return Some(if mean < -EQUAL { 0.5_f64.powf(n) } else { 1.0 });
    }
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    Some(student.cdf(mean / (spread / n.sqrt())))
}

/// The number of texts with the same mean and spread of differences that would show a drop; `None` below 2 texts, without a drop, and
/// if no number of texts up to 100,000 would do.
///
/// ```
/// use zer0gravity_engine::metrics::stats::texts_needed;
/// assert_eq!(texts_needed(&[-9.0, 3.0, -6.0, 0.0]), Some(11));
/// assert_eq!(texts_needed(&[-9.0, -9.0]), Some(5));
/// ```
pub fn texts_needed(differences: &[f64]) -> Option<usize> {
    let (mean, spread) = mean_and_spread(differences)?;
    let shows = |n: usize| {
        if spread <= EQUAL {
            return 0.5_f64.powf(n as f64) <= DROP_ERROR;
        }
        let reach = StudentsT::new(0.0, 1.0, n as f64 - 1.0)
            .map(|student| student.inverse_cdf(1.0 - DROP_ERROR));
        reach.is_ok_and(|reach| mean + reach * spread / (n as f64).sqrt() <= 0.0)
    };
    if mean >= 0.0 || !shows(MOST_TEXTS) {
        return None;
    }
    // The bound falls with every text, so the first that shows it can be searched for by halves.
    let (mut fewer, mut enough) = (1, MOST_TEXTS);
    while enough - fewer > 1 {
        let middle = usize::midpoint(fewer, enough);
        if shows(middle) {
            enough = middle;
        } else {
            fewer = middle;
        }
    }
    Some(enough)
}

fn mean_and_spread(differences: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(differences).filter(|_| differences.len() >= 2)?;
    let variance = squares(differences.iter().copied(), mean) / (differences.len() - 1) as f64;
    Some((mean, variance.sqrt()))
}
