//! The smallest counterexample of a batch.

use super::batch::Batch;
use super::plan::Outcome;
use super::simd::count;
use super::word::Lanes;
use crate::universe::State;

/// The least violation of a batch: fewest movers, then earliest, then first in symbol order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Least {
    /// Cells that do not hold the first symbol.
    pub movers: u64,
    /// The first t at which the claim fails.
    pub t_fail: u64,
    /// The start.
    pub state: State,
    /// The lane it stands in.
    pub lane: usize,
}

/// The least violation, if there is one: candidates are narrowed bit by bit for all lanes at once.
pub fn smallest(batch: &Batch, outcome: &Outcome) -> Option<Least> {
    let n = batch.n;
    let mut left = outcome.violated;
    if !left.any() {
        return None;
    }
    // A smaller candidate excludes the others, none changes nothing.
    let keep = |left: &mut Lanes, fewer: Lanes| {
        let some = fewer.any();
        if some {
            *left = fewer;
        }
        !some
    };
    let mut movers = vec![Lanes::ZERO; super::number::width(n as u64)];
    let moving: Vec<Lanes> = (0..n)
        .map(|cell| {
            let planes = (0..batch.bits).map(|bit| batch.planes[bit * n + cell]);
            planes.fold(Lanes::ZERO, |any, plane| any | plane)
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
    Some(Least {
        movers: fewest,
        t_fail,
        state: batch.get(lane),
        lane,
    })
}
