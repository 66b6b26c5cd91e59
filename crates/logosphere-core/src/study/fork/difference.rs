//! The differences of the two arms of a fork, replicate by replicate.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::super::interval::interval;
use crate::measures::nulls::holm;
use crate::pool::SampleRng;

/// The fewest replicates with a p.
pub const LEAST_REPLICATES: usize = 6;
/// The largest number of replicates of which all signs are tried; for more, [`DRAWN`] are drawn.
const MOST_EXACT: usize = 13;
/// The number of signs that are drawn.
const DRAWN: u32 = 9_999;

/// The mean difference of a number between the arms, treated less control.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ArmDifference {
    /// The number of the runs, such as `tfidf_similarity`.
    pub measure: String,
    /// The part of the runs: `rounds`, the mean over the rounds since the fork, or `last`, the last window.
    pub part: &'static str,
    /// The number of replicates that have it in both arms.
    pub replicates: usize,
    /// The mean of the control arm.
    pub control: f64,
    /// The mean of the treated arm.
    pub treated: f64,
    /// The mean difference.
    pub mean: f64,
    /// The lower end of the 95 % interval of the mean difference by Student's distribution.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The share of sign changes of the differences with a mean at least as far from 0; `None` for fewer than
    /// [`LEAST_REPLICATES`] replicates.
    pub p: Option<f64>,
    /// That, corrected for all rows by Holm's method.
    pub p_holm: Option<f64>,
}

impl ArmDifference {
    /// Returns the difference of these pairs of control and treated; `None` without a pair. `seed` is that of drawn signs.
    pub(super) fn of(
        measure: impl Into<String>,
        part: &'static str,
        pairs: &[(f64, f64)],
        seed: u64,
    ) -> Option<Self> {
        let measure = measure.into();
        let differences: Vec<f64> = (pairs.iter())
            .map(|(control, treated)| treated - control)
            .collect();
        let [mean, low, high] = interval(&differences)?;
        let count = pairs.len() as f64;
        let p = (pairs.len() >= LEAST_REPLICATES)
            .then(|| sign_flips(&differences, key(seed, &measure, part)));
        Some(Self {
            part,
            replicates: pairs.len(),
            control: pairs.iter().map(|(control, _)| control).sum::<f64>() / count,
            treated: pairs.iter().map(|(_, treated)| treated).sum::<f64>() / count,
            mean,
            low,
            high,
            p,
            p_holm: None,
            measure,
        })
    }

    /// Sets the corrected p of all rows.
    pub(super) fn correct(rows: &mut [Self]) {
        let p: Vec<f64> = rows.iter().filter_map(|row| row.p).collect();
        let tested = rows.iter_mut().filter(|row| row.p.is_some());
        for (row, p) in tested.zip(holm(&p)) {
            row.p_holm = Some(p);
        }
    }
}

fn key(seed: u64, measure: &str, part: &str) -> [u8; 32] {
    Sha256::digest(format!("logosphere/signs/v1\n{seed}\n{measure}\n{part}")).into()
}

/// The share of sign changes with a sum at least as far from 0.
fn sign_flips(differences: &[f64], key: [u8; 32]) -> f64 {
    let least = differences.iter().sum::<f64>().abs() - 1e-9;
    let is_far = |signs: &mut dyn FnMut() -> bool| {
        let sum: f64 = (differences.iter())
            .map(|difference| if signs() { -difference } else { *difference })
            .sum();
        sum.abs() >= least
    };
    if differences.len() <= MOST_EXACT {
        let all = 1_u32 << differences.len();
        let far = (0..all).filter(|&signs| {
            let mut left = signs;
            is_far(&mut || {
                let is_flipped = left & 1 == 1;
                left >>= 1;
                is_flipped
            })
        });
        return far.count() as f64 / f64::from(all);
    }
    let mut rng = SampleRng::keyed(key);
    let far = (0..DRAWN).filter(|_| is_far(&mut || rng.below(2) == 1));
    (1 + far.count()) as f64 / f64::from(DRAWN + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(differences: &[f64]) -> ArmDifference {
        let pairs: Vec<_> = differences.iter().map(|by| (1.0, 1.0 + by)).collect();
        ArmDifference::of("m", "last", &pairs, 7).unwrap()
    }

    #[test]
    fn all_signs_of_a_few_replicates_are_tried() {
        // Of 64 sign changes only that without a change and that of all are as far.
        let found = difference(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(found.p, Some(2.0 / 64.0));
        assert!((found.mean - 3.5).abs() < 1e-12 && found.low > 0.0);
        assert_eq!(difference(&[0.0; 8]).p, Some(1.0));
        assert_eq!(difference(&[1.0; 5]).p, None);
        assert_eq!(ArmDifference::of("m", "last", &[], 7), None);
    }

    #[test]
    fn drawn_signs_agree_with_the_normal_approximation() {
        // 20 differences, 15 of them up: the sum 10 has a standard deviation of the root of 20 under sign changes.
        let up = [vec![1.0; 15], vec![-1.0; 5]].concat();
        let p = difference(&up).p.unwrap();
        // The binomial test: 2 P(X >= 15) = 0.0414.
        assert!((0.035..0.048).contains(&p), "{p}");
        assert_eq!(difference(&up), difference(&up));
    }

    #[test]
    fn p_are_corrected_together() {
        let mut rows = vec![
            difference(&[1.0; 10]),
            difference(&[0.0; 10]),
            difference(&[1.0; 3]),
        ];
        ArmDifference::correct(&mut rows);
        assert_eq!(rows[0].p_holm, Some(2.0 * 2.0 / 1024.0));
        assert_eq!((rows[1].p_holm, rows[2].p_holm), (Some(1.0), None));
    }
}
