//! The smallest counterexample of a batch.

use super::batch::Batch;
use super::program::BatchOutcome;
use super::simd::count;
use super::word::BitSlice;
use crate::universe::State;

/// The least violation of a batch: fewest movers, then earliest, then first in symbol order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct MinimalViolation {
    /// Cells that do not hold the first symbol.
    pub movers: u64,
    /// The first t at which the claim fails.
    pub t_fail: u64,
    /// The start.
    pub state: State,
    /// The lane of the state.
    pub lane: usize,
}

/// The least violation, if there is one: candidates are narrowed bit by bit for all lanes at once.
pub fn smallest(batch: &Batch, outcome: &BatchOutcome) -> Option<MinimalViolation> {
    let n = batch.n;
    let mut left = outcome.violated;
    if !left.any() {
        return None;
    }
    // A smaller candidate excludes the others, none changes nothing.
    let keep = |left: &mut BitSlice, fewer: BitSlice| {
        let some = fewer.any();
        if some {
            *left = fewer;
        }
        !some
    };
    let mut movers = vec![BitSlice::ZERO; super::number::width(n as u64)];
    let moving: Vec<BitSlice> = (0..n)
        .map(|cell| {
            let planes = (0..batch.bits).map(|bit| batch.planes[bit * n + cell]);
            planes.fold(BitSlice::ZERO, |any, plane| any | plane)
        })
        .collect();
    count(&moving, &mut movers);
    let mut fewest = 0;
    for (bit, &plane) in movers.iter().enumerate().rev() {
        let fewer = left.andnot(plane);
        fewest |= u64::from(keep(&mut left, fewer)) << bit;
    }
    let t_fail = outcome
        .first
        .iter()
        .find(|(_, lanes)| (left & *lanes).any())
        .map(|&(t, lanes)| {
            left &= lanes;
            t
        })?;
    for cell in 0..n {
        for bit in (0..batch.bits).rev() {
            let fewer = left.andnot(batch.planes[bit * n + cell]);
            keep(&mut left, fewer);
        }
    }
    let lane = left.lowest()?;
    Some(MinimalViolation {
        movers: fewest,
        t_fail,
        state: batch.get(lane),
        lane,
    })
}
