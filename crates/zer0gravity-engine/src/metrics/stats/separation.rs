//! The number of texts that a comparison of several systems needs.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{mean, squares};

/// The adjusted p up to which a difference is significant.
pub const SIGNIFICANT: f64 = 0.05;
/// The share of comparisons that find a true difference.
const POWER: f64 = 0.8;

/// The number of common texts that can give an adjusted p of [`SIGNIFICANT`] for one of `pairs`: the smallest p of the sign-flip test
/// is 2 / 2^n, times the pairs. Random flips must be more than 20 times the pairs.
pub fn least_texts(pairs: usize) -> usize {
    let least = |texts: i32| 2.0_f64.powi(1 - texts) * pairs as f64;
    let needed = (1..64).find(|texts| least(*texts) <= SIGNIFICANT);
    needed.unwrap_or(64) as usize
}

/// The number of texts at which a true difference of `points` between two of several systems is significant in about 80 % of
/// comparisons, by the normal approximation. `totals` has the values of each system on the same texts, and all `pairs` are
/// tested together. At least [`least_texts`].
///
/// ```
/// use zer0gravity_engine::metrics::stats::texts_to_separate;
/// let totals = [vec![60.0, 70.0, 50.0, 65.0], vec![64.0, 66.0, 52.0, 63.0]];
/// assert_eq!(texts_to_separate(&totals, 3.0, 1), 12);
/// ```
pub fn texts_to_separate(totals: &[Vec<f64>], points: f64, pairs: usize) -> usize {
    let variances: Vec<f64> = (totals.iter().enumerate())
        .flat_map(|(index, a)| totals[index + 1..].iter().map(move |b| (a, b)))
        .filter_map(|(a, b)| {
            let differences: Vec<_> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            let center = mean(&differences).filter(|_| differences.len() > 1)?;
            Some(squares(differences.iter().copied(), center) / (differences.len() - 1) as f64)
        })
        .collect();
    let quantile = |share: f64| Normal::standard().inverse_cdf(share);
    let reach = quantile(1.0 - SIGNIFICANT / 2.0 / pairs.max(1) as f64) + quantile(POWER);
    let variance = mean(&variances).unwrap_or_default();
    let needed = (reach * reach * variance / (points * points)).ceil();
    (needed as usize).max(least_texts(pairs))
}
