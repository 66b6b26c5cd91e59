//! From a violation to the smallest one.

use super::Stop;
use super::exhaustive::Exhaustion;
use super::generators::start_symbols;
use super::lab::{Lab, Violation};
use super::sampled::Sampling;
use crate::law::Program;
use crate::universe::{Shift, State, Symbol};

/// A violation made small.
pub struct Minimum {
    pub violation: Violation,
    /// Whether no smaller one exists.
    pub minimal: bool,
}

/// Makes a violation on a ring larger than `exhausted` (below which none exists) as small as the budget allows.
///
/// Up to `minimal_n` cells everything is exhausted, so the answer is the smallest there is; beyond, the generators are tried on every
/// smaller ring and what they find is shrunk step by step.
pub fn minimize(
    lab: &Lab<'_>,
    sampling: &Sampling<'_>,
    found: Violation,
    exhausted: usize,
    minimal_n: usize,
    budget: u64,
    stop: Stop<'_>,
) -> Minimum {
    let program = sampling.program;
    let reached = found.start.len();
    let mut complete = true;
    for n in exhausted + 1..=reached.min(minimal_n) {
        if Exhaustion::cost(lab, program, n) > budget {
            complete = false;
            break;
        }
        let Some(ring) = Exhaustion::new(lab, program, n) else {
            continue;
        };
        // Where runs are watched at the beginning only, something smaller may fail later.
        complete &= ring.exact();
        if let Some(violation) = ring.run(stop).and_then(|tally| tally.best) {
            return Minimum {
                violation,
                minimal: complete,
            };
        }
    }
    let smaller = (exhausted + 1..reached)
        .filter(|&n| n > minimal_n || !complete)
        .find_map(|n| sampling.ring(n).and_then(|sample| sample.tally.best));
    Minimum {
        violation: shrink(lab, program, smaller.unwrap_or(found)),
        minimal: false,
    }
}

/// Takes away movers, starts later and turns the ring, as long as the law still fails.
fn shrink(lab: &Lab<'_>, program: &Program, found: Violation) -> Violation {
    let background = start_symbols(lab.universe)[0];
    let mut best = found;
    loop {
        let n = best.start.len();
        let emptied = (0..n)
            .filter(|&cell| best.start[cell] != background)
            .map(|cell| {
                let mut cells = best.start.to_vec();
                cells[cell] = background;
                State::from(cells)
            });
        let later = (1..=best.t_fail.min(64)).map(|t| lab.universe.evolve(&best.start, t));
        let turned = (1..n as i64)
            .filter(|_| program.is_rotation_invariant())
            .map(|k| Shift::apply(k, &best.start));
        let smaller = emptied
            .chain(later)
            .chain(turned)
            .filter_map(|start| violation(lab, program, &start))
            .min();
        match smaller {
            Some(smaller) if smaller < best => best = smaller,
            _ => return best,
        }
    }
}

/// What the reference evaluator says of a start.
fn violation(lab: &Lab<'_>, program: &Program, start: &[Symbol]) -> Option<Violation> {
    if start.iter().any(|&symbol| !lab.universe.may_start(symbol)) {
        return None;
    }
    let horizon = lab.bench(program, start.len())?.horizon;
    let t_fail = program.case(lab.universe, start, horizon).violation?;
    let movers = start.iter().filter(|&&symbol| symbol != 0).count();
    Some(Violation {
        movers,
        t_fail,
        start: start.iter().copied().collect(),
    })
}
