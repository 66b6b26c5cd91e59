//! Exhaustion: every admissible start of a ring.

use rayon::prelude::*;

use super::budget::Budget;
use super::evaluator::{CompiledUniverse, RingEvaluator, RingStats};
use super::generators::CaseFamily;
use crate::bitslice::{InitialStates, Scratch, StartClasses};
use crate::law::Program;
use crate::law::invariance::symmetry;
use crate::universe::Universe;

/// The ring size up to which every class of rotations is run, also where a transform maps the law to itself.
///
/// There the densities are counted and wrap coverage is that of each class.
const SINGLE_N: usize = 14;

/// The exhaustion of one ring size, ready to run.
pub struct ExhaustiveRing<'a> {
    evaluator: RingEvaluator<'a>,
    starts: InitialStates,
}

impl<'a> ExhaustiveRing<'a> {
    /// Prepares rings of `n` cells; `None` if the law excludes them.
    pub fn new(compiled: &'a CompiledUniverse<'a>, program: &'a Program, n: usize) -> Option<Self> {
        let evaluator = compiled.evaluator(program, n)?;
        let symbols = compiled.universe.alphabet().len();
        // Only the bit-parallel program has the same value for sums in any order.
        let pairs = (n > SINGLE_N && evaluator.plan.is_some())
            .then(|| symmetry(program, compiled.universe))
            .flatten();
        let classes = match pairs {
            Some(transform) => StartClasses::RotationsAnd(transform),
            None if program.is_rotation_invariant() => StartClasses::Rotations,
            None => StartClasses::Each,
        };
        let starts = InitialStates::new(n, &compiled.universe.start_symbols(), symbols, classes)?;
        Some(Self { evaluator, starts })
    }

    /// Returns the cost of exhausting rings of `n` cells.
    pub fn cost(compiled: &CompiledUniverse<'_>, program: &Program, n: usize) -> u64 {
        let Some(evaluator) = compiled.evaluator(program, n) else {
            return 0;
        };
        let starts = (compiled.universe.start_symbols().len() as u64).saturating_pow(n as u32);
        let starts = if program.is_rotation_invariant() {
            starts / n as u64 * 2 + 1
        } else {
            starts
        };
        evaluator.cost(starts)
    }

    /// Whether the horizon covers all that the law speaks of.
    pub fn exact(&self) -> bool {
        self.evaluator.exact
    }

    /// Runs every start; if the budget ends before, the statistics are not marked as exhausted.
    ///
    /// A complete result does not depend on the distribution of starts over threads.
    pub fn run(&self, budget: &Budget<'_>) -> RingStats {
        let empty = || [1, 2].map(|_| RingStats::new(self.evaluator.n));
        let step = |(mut scratch, mut tallies): (Scratch, [RingStats; 2]), chunk: usize| {
            self.starts.visit(chunk, |batch, weight| {
                let go_on = !budget.is_spent();
                if go_on {
                    let outcome = self.evaluator.run(batch, &mut scratch);
                    tallies[usize::from(weight == 2)].enter(
                        batch,
                        &outcome,
                        [CaseFamily::Exhaustive; 8],
                    );
                }
                go_on
            });
            (scratch, tallies)
        };
        let merge = |[single, pairs]: [RingStats; 2], [others, more]: [RingStats; 2]| {
            [single.merge(others), pairs.merge(more)]
        };
        let [single, pairs] = (0..self.starts.chunks())
            .into_par_iter()
            .fold(|| (Scratch::default(), empty()), step)
            .map(|(_, tallies)| tallies)
            .reduce(empty, merge);
        // Each start of a pair stands for its image, too.
        let tally = pairs.clone().merge(pairs).merge(single);
        RingStats {
            exhausted: !budget.was_cut(),
            distinct: tally.used,
            ..tally
        }
    }
}
