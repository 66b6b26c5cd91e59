//! The measures of a cell: the mean over its repeats, and the difference from the first cell.

use serde::Serialize;

use super::super::interval::interval;
use crate::measures::metrics::Metric;
use crate::pool::SampleRng;

/// The largest number of ways to split the repeats of two cells that are all tried; of more, [`DRAWN`] are drawn.
const MOST_SPLITS: u64 = 20_000;
/// The number of splits that are drawn.
const DRAWN: u32 = 9_999;

/// A measure over the repeats of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Effect {
    /// The measure: its mean over the rounds of a run.
    pub measure: Metric,
    /// The number of runs that have it.
    pub repeats: usize,
    /// The mean over the runs.
    pub mean: f64,
    /// The lower end of the 95 % interval of the mean by Student's distribution; the mean itself for one run.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Cliff's delta against the first cell, -1 to 1: the share of pairs in which this cell is larger, less the share in which
    /// it is smaller. `None` for the first cell.
    pub delta: Option<f64>,
    /// The p of the delta: the share of splits of all these runs with one at least as far from 0.
    pub p: Option<f64>,
    /// The p corrected for all deltas of the sweep by Holm's method.
    pub p_holm: Option<f64>,
}

impl Effect {
    /// Returns the effect of these values, one of each run; `None` without a value. `first` are the values of the first
    /// cell, and `key` chooses random numbers.
    pub(super) fn of(
        measure: Metric,
        values: &[f64],
        first: Option<&[f64]>,
        key: [u8; 32],
    ) -> Option<Self> {
        let [mean, low, high] = interval(values)?;
        let first = first.filter(|first| !first.is_empty());
        Some(Self {
            measure,
            repeats: values.len(),
            mean,
            low,
            high,
            delta: first.map(|first| delta(values, first)),
            p: first.map(|first| p_of_delta(values, first, key)),
            p_holm: None,
        })
    }
}

fn delta(values: &[f64], first: &[f64]) -> f64 {
    let mut sum = 0_i64;
    for value in values {
        for other in first {
            sum += i64::from(value > other) - i64::from(value < other);
        }
    }
    sum as f64 / (values.len() * first.len()) as f64
}

/// The share of splits of all values into groups of these sizes with a delta at least as far from 0.
fn p_of_delta(values: &[f64], first: &[f64], key: [u8; 32]) -> f64 {
    let all: Vec<f64> = values.iter().chain(first).copied().collect();
    let least = delta(values, first).abs() - 1e-9;
    let is_far = |chosen: &[usize]| {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for (at, value) in all.iter().enumerate() {
            if chosen.contains(&at) {
                &mut one
            } else {
                &mut other
            }
            .push(*value);
        }
        delta(&one, &other).abs() >= least
    };
    if splits(all.len() as u64, values.len() as u64) <= MOST_SPLITS {
        let (mut far, mut tried) = (0_u32, 0_u32);
        let mut chosen: Vec<usize> = (0..values.len()).collect();
        loop {
            tried += 1;
            far += u32::from(is_far(&chosen));
            if !next_split(&mut chosen, all.len()) {
                return f64::from(far) / f64::from(tried);
            }
        }
    }
    let mut rng = SampleRng::keyed(key);
    let mut order: Vec<usize> = (0..all.len()).collect();
    let far = (0..DRAWN).filter(|_| {
        for place in 0..values.len() {
            let rest = (all.len() - place) as u64;
            order.swap(place, place + rng.below(rest) as usize);
        }
        is_far(&order[..values.len()])
    });
    (1 + far.count()) as f64 / f64::from(DRAWN + 1)
}

/// The number of ways to choose `chosen` of `all`, or a number above [`MOST_SPLITS`].
fn splits(all: u64, chosen: u64) -> u64 {
    let mut ways: u64 = 1;
    for step in 0..chosen.min(all - chosen) {
        ways = ways * (all - step) / (step + 1);
        if ways > MOST_SPLITS {
            break;
        }
    }
    ways
}

/// Makes the next choice of places below `all` in the order of dictionaries. False after the last one.
fn next_split(chosen: &mut [usize], all: usize) -> bool {
    let count = chosen.len();
    let Some(place) = (0..count).rev().find(|&at| chosen[at] < all - count + at) else {
        return false;
    };
    let first = chosen[place] + 1;
    for (step, at) in chosen[place..].iter_mut().enumerate() {
        *at = first + step;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(values: &[f64], first: &[f64]) -> Effect {
        Effect::of(Metric::SeedEcho, values, Some(first), [1; 32]).unwrap()
    }

    #[test]
    fn intervals_and_deltas_are_those_of_textbooks() {
        // t with 4 degrees of freedom: 2.776445.
        let found = effect(&[1.0, 2.0, 3.0, 4.0, 5.0], &[0.0; 5]);
        assert!((found.mean - 3.0).abs() < 1e-12);
        assert!(
            (found.high - 3.0 - 2.776_445 * 0.5_f64.sqrt()).abs() < 1e-5,
            "{found:?}"
        );
        assert_eq!(found.delta, Some(1.0));
        // Of the 252 splits two are as far.
        assert!((found.p.unwrap() - 2.0 / 252.0).abs() < 1e-12, "{found:?}");
        let found = effect(&[1.0, 2.0], &[1.0, 2.0]);
        assert_eq!((found.delta, found.p), (Some(0.0), Some(1.0)));
        assert_eq!(effect(&[1.0, 3.0, 5.0], &[2.0]).delta, Some(1.0 / 3.0));
    }

    #[test]
    fn one_run_has_a_mean_without_width_and_no_run_has_none() {
        let found = Effect::of(Metric::SeedEcho, &[2.0], None, [0; 32]).unwrap();
        assert_eq!((found.mean, found.low, found.high), (2.0, 2.0, 2.0));
        assert_eq!((found.delta, found.p), (None, None));
        assert_eq!(Effect::of(Metric::SeedEcho, &[], None, [0; 32]), None);
    }

    #[test]
    fn drawn_splits_agree_with_all_splits() {
        let high: Vec<f64> = (0..20).map(|at| f64::from(at) + 5.0).collect();
        let low: Vec<f64> = (0..20).map(f64::from).collect();
        let found = effect(&high, &low);
        // By the normal approximation of the test of Mann and Whitney: U = 287.5, z = 2.37, p = 0.018.
        let p = found.p.unwrap();
        assert!((0.012..0.024).contains(&p), "{p}");
        assert_eq!(found, effect(&high, &low));
    }

    #[test]
    fn every_split_is_made_once() {
        let mut chosen = vec![0, 1, 2];
        let mut count = 1;
        while next_split(&mut chosen, 7) {
            count += 1;
        }
        assert_eq!((count, splits(7, 3)), (35, 35));
        assert!(splits(2000, 1000) > MOST_SPLITS);
    }
}
