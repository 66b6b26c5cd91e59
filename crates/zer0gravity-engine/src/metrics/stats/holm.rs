//! Several tests at once.

/// The p values of a family of tests, adjusted after Holm: rejecting those at most 0.05 is wrong about any of them in at
/// most 5 % of families. In the order of the input.
///
/// ```
/// use zer0gravity_engine::metrics::stats::holm;
/// assert_eq!(holm(&[0.01, 0.5, 0.02]), [0.03, 0.5, 0.04]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        // Never below the one before it: a larger p is no better evidence.
        largest = largest.max((p.len() - rank) as f64 * p[index]).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}
