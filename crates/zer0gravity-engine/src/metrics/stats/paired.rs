//! Whether one of two is better on the same cases.

use rand_chacha::rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::{Interval, UNBOUNDED, mean_with_interval};

/// Pairs up to which all sign flips are tried.
pub const EXACT_FLIPS_UP_TO: usize = 16;
/// Random sign flips beyond that, for a test that is not one of many.
pub const RANDOM_FLIPS: u32 = 10_000;

/// The difference of two series of paired values, in their unit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PairedResult {
    /// The number of pairs.
    pub n: usize,
    /// The mean of first minus second; `None` without pairs.
    #[serde(with = "crate::judge::number::plain_option")]
    pub mean_difference: Option<f64>,
    /// The 95 % interval of the mean by Student's t; `None` below 2 pairs.
    pub ci95: Option<Interval>,
    /// Two-sided p of the sign-flip test: the share of sign flips that give a difference at least as large, 0 to 1; `None`
    /// without pairs. With few pairs it cannot be small: n pairs give at least 2 / 2^n, and random flips at least 1 / (flips + 1).
    #[serde(with = "crate::judge::number::plain_option")]
    pub p: Option<f64>,
}

/// Compares `a` with `b`, paired by their index. A value without a partner, and a pair that is not finite, does not count.
///
/// Up to [`EXACT_FLIPS_UP_TO`] pairs the test tries all flips and draws nothing from `rng`; beyond that `flips` random ones, and the
/// given signs count as one more, so that p is never 0. A p above 0.05 after [`RANDOM_FLIPS`] draws no more.
///
/// ```
/// use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
/// use zer0gravity_engine::metrics::stats::{RANDOM_FLIPS, paired_test};
/// let mut rng = ChaCha20Rng::seed_from_u64(0);
/// let result = paired_test(&[80.0, 75.0, 90.0], &[70.0, 74.0, 85.0], RANDOM_FLIPS, &mut rng);
/// assert_eq!(result.p, Some(0.25));
/// assert!((result.mean_difference.unwrap() - 16.0 / 3.0).abs() < 1e-12);
/// ```
pub fn paired_test(a: &[f64], b: &[f64], flips: u32, rng: &mut impl Rng) -> PairedResult {
    let differences: Vec<f64> = (a.iter().zip(b))
        .map(|(a, b)| a - b)
        .filter(|difference| difference.is_finite())
        .collect();
    let estimate = mean_with_interval(&differences, UNBOUNDED);
    PairedResult {
        n: differences.len(),
        mean_difference: estimate.mean,
        ci95: estimate.ci95,
        p: sign_flip(&differences, flips, rng),
    }
}

fn sign_flip(differences: &[f64], flips: u32, rng: &mut impl Rng) -> Option<f64> {
    let n = differences.len();
    if n == 0 {
        return None;
    }
    let size: f64 = differences.iter().map(|d| d.abs()).sum();
    // Two flips with the same difference on paper may differ in the last bits.
    let least = differences.iter().sum::<f64>().abs() - 1e-9 * size;
    let tables: Vec<_> = differences.chunks(8).map(signed_sums).collect();
    let extreme = |flips: &[u64]| {
        let part = |index: usize| (flips[index / 8] >> (index % 8 * 8)) as usize;
        let signed = tables.iter().enumerate();
        let signed = signed.map(|(index, table)| table[part(index) & (table.len() - 1)]);
        signed.sum::<f64>().abs() >= least
    };
    if n <= EXACT_FLIPS_UP_TO {
        // A flip of all signs changes nothing, so the last sign may stay.
        let half = 1_u64 << (n - 1);
        let found = (0..half).filter(|flips| extreme(&[*flips])).count();
        return Some(found as f64 / half as f64);
    }
    let mut bits = vec![0_u64; n.div_ceil(64)];
    let (mut found, mut drawn) = (1, 0);
    // Of a difference that is not significant more flips would only say so again.
    while drawn < flips && (drawn != RANDOM_FLIPS || found <= RANDOM_FLIPS / 20) {
        bits.fill_with(|| rng.next_u64());
        found += u32::from(extreme(&bits));
        drawn += 1;
    }
    Some(f64::from(found) / f64::from(drawn + 1))
}

/// The sums of at most eight differences, by which of them are flipped.
fn signed_sums(differences: &[f64]) -> Vec<f64> {
    let sum = |flips: u32| {
        let signed = differences.iter().enumerate();
        let signed = signed.map(|(index, d)| if flips >> index & 1 == 1 { -d } else { *d });
        signed.sum()
    };
    (0..1 << differences.len()).map(sum).collect()
}
