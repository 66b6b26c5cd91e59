//! The ring sizes that a law admits, and the horizon of its runs on each.

use super::evaluate::{EvalError, Horizon, observe};
use super::limits::MAX_RING;
use super::program::{Arith, Cells, Claim, Condition, Observable, Program};
use super::syntax::Op;
use crate::universe::{Symbol, Tabulated};

/// The part of a law's horizon that is simulated on one ring size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimulationDepth {
    /// The whole horizon, or all of it that is not a repetition.
    Exact(Horizon),
    /// The beginning only; a violation there counts, but its absence does not settle the law.
    Beginning(Horizon),
    /// No step, since a window would have to be cut.
    Nothing,
}

/// The ring sizes of a law.
pub struct Rings<'a> {
    program: &'a Program,
    universe: &'a Tabulated,
    max_t: u64,
    statics: Vec<&'a Condition>,
}

impl<'a> Rings<'a> {
    pub fn new(program: &'a Program, universe: &'a Tabulated, max_t: u64) -> Self {
        let statics = program
            .preconditions
            .iter()
            .filter(|condition| condition.is_static())
            .collect();
        Self {
            program,
            universe,
            max_t,
            statics,
        }
    }

    /// Whether the preconditions that speak of the length alone admit rings of `n` cells.
    pub fn admits(&self, n: usize) -> bool {
        self.statics
            .iter()
            .all(|condition| static_holds(condition, n, self.universe) == Ok(true))
    }

    /// Returns the error of such a precondition for rings of `n` cells, where no other one excludes them.
    pub fn error(&self, n: usize) -> Option<EvalError> {
        let outcomes: Vec<_> = self
            .statics
            .iter()
            .map(|condition| static_holds(condition, n, self.universe))
            .collect();
        if outcomes.contains(&Ok(false)) {
            None
        } else {
            outcomes.into_iter().find_map(Result::err)
        }
    }

    /// Returns the largest ring that the preconditions may admit, where they bound it; 0 if they admit no ring.
    pub fn largest(&self) -> Option<usize> {
        let of_length = self
            .statics
            .iter()
            .filter_map(|condition| bounds(condition).1)
            .map(|bound| usize::try_from(bound).unwrap_or(0));
        // A start whose every symbol is counted has no more cells than the counts together.
        let mut counts = self
            .universe
            .start_symbols()
            .into_iter()
            .map(|symbol| count_bounds(self.program, symbol).1);
        let counted = counts
            .try_fold(0_usize, usize::checked_add)
            .filter(|&sum| sum <= MAX_RING as usize);
        of_length.chain(counted).min()
    }

    /// Returns a ring size below which the preconditions admit no ring.
    pub fn smallest(&self) -> u64 {
        let of_length = self
            .statics
            .iter()
            .map(|condition| u64::try_from(bounds(condition).0).unwrap_or(0));
        // Every cell holds one symbol.
        let counted = self
            .universe
            .start_symbols()
            .into_iter()
            .map(|symbol| count_bounds(self.program, symbol).0 as u64)
            .fold(0, u64::saturating_add);
        of_length.chain([1, counted]).max().unwrap_or(1)
    }

    /// Returns the part of the horizon that is simulated on rings of `n` cells.
    pub fn depth(&self, n: usize) -> SimulationDepth {
        let t = self.program.horizon;
        let h = if let Claim::Eventually { window, .. } = self.program.claim {
            window
        } else {
            0
        };
        // A claim that uses t as a number never repeats.
        let period = self
            .universe
            .period_bound(n)
            .filter(|_| !self.program.counts_time());
        if let Some(period) = period {
            return SimulationDepth::Exact(Horizon {
                t: t.min(period),
                window: h.min(period.saturating_sub(1)),
            });
        }
        let horizon = Horizon {
            t: t.min(self.max_t),
            window: h,
        };
        // A fixed step that far out would have to be simulated to be read.
        if h > self.max_t || self.program.latest_fixed_step() > self.max_t {
            SimulationDepth::Nothing
        } else if t > self.max_t {
            SimulationDepth::Beginning(horizon)
        } else {
            SimulationDepth::Exact(horizon)
        }
    }
}

fn static_holds(condition: &Condition, n: usize, universe: &Tabulated) -> Result<bool, EvalError> {
    // What is static depends on the number of cells only, so any state of that many serves.
    let blank = vec![0; n];
    let left = observe(&condition.left, &blank, universe)?;
    Ok(condition
        .op
        .compares(&left, &observe(&condition.right, &blank, universe)?))
}

/// Returns the known least and largest n for which `a*n + b op c*n + d` can hold; 1 and 0 if there is none.
fn bounds(condition: &Condition) -> (i128, Option<i128>) {
    let difference = || {
        let (left, right) = (affine(&condition.left)?, affine(&condition.right)?);
        Some((left.0.checked_sub(right.0)?, left.1.checked_sub(right.1)?))
    };
    let Some((slope, rest)) = difference() else {
        return (1, None);
    };
    // slope * n + rest op 0, turned so that the slope is positive.
    let (op, slope, rest) = if slope < 0 {
        (condition.op.mirrored(), -slope, -rest)
    } else {
        (condition.op, slope, rest)
    };
    if slope == 0 {
        return (1, (!op.compares(&rest, &0)).then_some(0));
    }
    let (below, above) = ((-rest).div_euclid(slope), -rest.div_euclid(slope));
    match op {
        Op::Le => (1, Some(below)),
        Op::Lt => (1, Some((-rest - 1).div_euclid(slope))),
        Op::Eq => (above, Some(below)),
        Op::Ge => (above, None),
        Op::Gt => (below + 1, None),
        _ => (1, None),
    }
}

/// Returns the bounds that preconditions of the form `count(s) op integer` set.
pub fn count_bounds(program: &Program, symbol: Symbol) -> (usize, usize) {
    let is_count = |observable: &Observable| matches!(observable, Observable::Count(pattern) if pattern.cells == Cells::Ring && pattern.at == [(0, symbol)]);
    let (mut low, mut high) = (0_i64, i64::MAX);
    for condition in &program.preconditions {
        let (op, number) = match (&condition.left, &condition.right) {
            (left, Observable::Int(number)) if is_count(left) => (condition.op, *number),
            (Observable::Int(number), right) if is_count(right) => {
                (condition.op.mirrored(), *number)
            }
            _ => continue,
        };
        let (least, most) = match op {
            Op::Eq => (number, number),
            Op::Lt => (0, number.saturating_sub(1)),
            Op::Le => (0, number),
            Op::Gt => (number.saturating_add(1), i64::MAX),
            Op::Ge => (number, i64::MAX),
            _ => continue,
        };
        (low, high) = (low.max(least), high.min(most));
    }
    // No ring is larger than this, so nothing is lost, and sums of bounds stay small.
    let clamp = |bound: i64, most: i64| bound.clamp(0, most) as usize;
    (
        clamp(low, 1 << 48),
        if high == i64::MAX {
            usize::MAX
        } else {
            clamp(high, MAX_RING as i64 + 1)
        },
    )
}

/// Returns `(a, b)` if the observable is `a * grid_length + b` in small numbers.
fn affine(observable: &Observable) -> Option<(i128, i128)> {
    const SMALL: i128 = 1 << 62;
    let (a, b) = match observable {
        Observable::Int(number) => (0, i128::from(*number)),
        Observable::GridLength => (1, 0),
        Observable::Neg(inner) => {
            let (a, b) = affine(inner)?;
            (-a, -b)
        }
        Observable::Bin(op, left, right) => {
            let (left, right) = (affine(left)?, affine(right)?);
            match op {
                Arith::Add => (left.0 + right.0, left.1 + right.1),
                Arith::Sub => (left.0 - right.0, left.1 - right.1),
                Arith::Mul if left.0 == 0 => {
                    (left.1.checked_mul(right.0)?, left.1.checked_mul(right.1)?)
                }
                Arith::Mul if right.0 == 0 => {
                    (right.1.checked_mul(left.0)?, right.1.checked_mul(left.1)?)
                }
                Arith::Mul | Arith::Mod => return None,
            }
        }
        _ => return None,
    };
    (a.abs() < SMALL && b.abs() < SMALL).then_some((a, b))
}
