//! The trend of a value over the rounds.

use serde::Serialize;

use super::interval::{block_length, resampling};

/// The number of permutations for a p value.
pub const PERMUTATIONS: usize = 2000;

/// The rank correlation of a value with the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Trend {
    /// Spearman's rank correlation of round and value, -1 to 1.
    pub rho: f64,
    /// The probability of a correlation at least as far from 0 if the order of the rounds has no effect. Blocks of
    /// neighbours are permuted [`PERMUTATIONS`] times, so the correlation of neighbours alone is not a trend.
    pub p: f64,
}

/// Returns the trend of values in the order of their rounds. `name` and the seed choose the random numbers. The result
/// is `None` for fewer than four values and for equal values.
pub fn trend(values: &[f64], seed: u64, name: &str) -> Option<Trend> {
    let n = values.len();
    if n < 4 {
        return None;
    }
    let middle = (n - 1) as f64 / 2.0;
    // Deviations from the mean rank: a correlation is then a sum of products.
    let ranks: Vec<f64> = ranks(values)
        .into_iter()
        .map(|rank| rank - middle)
        .collect();
    let spread = |ranks: &mut dyn Iterator<Item = f64>| ranks.map(|rank| rank * rank).sum::<f64>();
    let of_rounds = spread(&mut (0..n).map(|at| at as f64 - middle));
    let of_values = spread(&mut ranks.iter().copied());
    if of_values == 0.0 {
        return None;
    }
    let scale = (of_rounds * of_values).sqrt();
    let blocks: Vec<Block> = ranks.chunks(block_length(n)).map(Block::of).collect();
    // Ranks are halves of whole numbers, so the sums are exact and equal orders compare equal.
    let product = |order: &[usize]| {
        let (mut start, mut sum) = (0, 0.0);
        for &block in order {
            let block = &blocks[block];
            sum += (start as f64 - middle) * block.sum + block.by_place;
            start += block.length;
        }
        sum
    };
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    let observed = product(&order);
    let mut rng = resampling("permutation", seed, name);
    let mut as_far = 0;
    for _ in 0..PERMUTATIONS {
        for left in (1..order.len()).rev() {
            order.swap(left, rng.below(left as u64 + 1) as usize);
        }
        as_far += usize::from(product(&order).abs() >= observed.abs());
    }
    Some(Trend {
        rho: (observed / scale).clamp(-1.0, 1.0),
        p: (as_far + 1) as f64 / (PERMUTATIONS + 1) as f64,
    })
}

/// A block of neighbouring values.
struct Block {
    length: usize,
    sum: f64,
    /// The sum of each value times its index in the block, from 0.
    by_place: f64,
}

impl Block {
    fn of(values: &[f64]) -> Self {
        let by_place = values.iter().enumerate();
        Self {
            length: values.len(),
            sum: values.iter().sum(),
            by_place: by_place.map(|(place, value)| place as f64 * value).sum(),
        }
    }
}

/// Returns the rank of each value, from 0; equal values share their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for same in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        let rank = start as f64 + (same.len() - 1) as f64 / 2.0;
        for &at in same {
            ranks[at] = rank;
        }
        start += same.len();
    }
    ranks
}
