//! Minimisation: from a violation to the smallest one within reach.

use super::evaluator::{CompiledUniverse, Violation};
use super::exhaustive::ExhaustiveRing;
use super::sampled::Sampling;
use super::shrink::Shrinker;
use crate::bitslice::LANES;

/// A minimised violation.
pub struct Minimum {
    pub violation: Violation,
    /// Whether the minimisation tried every candidate.
    pub minimized: bool,
    /// Whether it is known that no smaller violation exists.
    pub minimal: bool,
}

/// The facts that bound the search for a smaller violation.
pub struct Minimizer<'a> {
    pub compiled: &'a CompiledUniverse<'a>,
    pub sampling: &'a Sampling<'a>,
    /// The size up to which no violation exists.
    pub exhausted: usize,
    /// The rings on which the generators were tried already.
    pub sampled: &'a [usize],
    /// The size of the largest rings that are exhausted.
    pub minimal_n: usize,
    /// The largest cost of exhausting a ring.
    pub exhaustive_budget: u64,
}

impl Minimizer<'_> {
    /// Makes a violation as small as the budgets allow.
    ///
    /// Up to `minimal_n` cells everything is exhausted, so the result is the smallest violation that exists. Beyond, the
    /// generators are tried on the smaller rings, ascending, up to the cost of one sampled ring, and a violation is shrunk.
    pub fn run(&self, found: Violation) -> Minimum {
        let Self {
            compiled,
            sampling,
            exhausted,
            minimal_n,
            ..
        } = *self;
        let program = sampling.program;
        let reached = found.start.len();
        let mut complete = true;
        for n in exhausted + 1..=reached.min(minimal_n) {
            if ExhaustiveRing::cost(compiled, program, n) > self.exhaustive_budget
                || sampling.budget.is_spent()
            {
                complete = false;
                break;
            }
            let Some(ring) = ExhaustiveRing::new(compiled, program, n) else {
                continue;
            };
            // Runs that are simulated only up to `max_t` may hide a smaller violation later.
            complete &= ring.exact();
            let tally = ring.run(sampling.budget);
            complete &= tally.exhausted;
            if let Some(violation) = tally.best {
                return Minimum {
                    violation,
                    minimized: true,
                    minimal: complete,
                };
            }
        }
        let mut left = sampling.most;
        let affordable = |&n: &usize| {
            let cost = compiled
                .evaluator(program, n)
                .map_or(0, |evaluator| evaluator.cost(LANES as u64));
            left = left.saturating_sub(cost);
            left > 0
        };
        let smaller = (exhausted + 1..reached)
            .filter(|n| (*n > minimal_n || !complete) && !self.sampled.contains(n))
            .take_while(affordable)
            .find_map(|n| sampling.ring(n).and_then(|sample| sample.tally.best));
        let (violation, minimized) =
            Shrinker::new(compiled, program, sampling.budget, smaller.unwrap_or(found)).run();
        Minimum {
            violation,
            minimized,
            minimal: false,
        }
    }
}
