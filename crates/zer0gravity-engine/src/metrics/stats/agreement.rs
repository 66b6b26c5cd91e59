//! Whether judges agree.

use super::{mean, squares};

/// Krippendorff's alpha for interval data: 1 for judges who agree, 0 for judges who agree as chance would, below that for
/// judges who contradict each other.
///
/// `units` is `[unit][judge]`: the values that a unit got, in any order; judges may be missing. A unit with fewer than two
/// values says nothing and is left out. None if nothing is left, and if all values are equal, as agreement cannot be told
/// from a constant then.
///
/// ```
/// use zer0gravity_engine::metrics::stats::krippendorff_alpha;
/// assert_eq!(krippendorff_alpha(&[vec![1.0, 1.0], vec![5.0, 5.0]]), Some(1.0));
/// assert_eq!(krippendorff_alpha(&[vec![1.0], vec![5.0]]), None);
/// ```
pub fn krippendorff_alpha(units: &[Vec<f64>]) -> Option<f64> {
    let paired: Vec<Vec<f64>> = (units.iter())
        .map(|unit| unit.iter().copied().filter(|v| v.is_finite()).collect())
        .filter(|unit: &Vec<f64>| unit.len() >= 2)
        .collect();
    let all: Vec<f64> = paired.iter().flatten().copied().collect();
    let n = all.len() as f64;
    // Squared distances of all pairs of m values are m times those from their mean, which sums without cancellation.
    let expected = squares(all.iter().copied(), mean(&all)?) / (n - 1.0);
    let mut observed = 0.0;
    for unit in &paired {
        let m = unit.len() as f64;
        observed += m * squares(unit.iter().copied(), mean(unit)?) / (m - 1.0);
    }
    (expected > 0.0).then(|| 1.0 - observed / n / expected)
}
