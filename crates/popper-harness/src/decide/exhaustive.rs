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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::bitslice::Circuit;
    use crate::law::{Extensions, Law};
    use crate::universe::{KineticGrid, Tabulated};

    fn facts(tally: RingStats) -> impl PartialEq + std::fmt::Debug {
        let counts = [tally.attempted, tally.used, tally.distinct, tally.errors];
        let coverage = [tally.unusual, tally.wrapped];
        (
            tally.exhausted,
            counts,
            coverage,
            tally.families,
            tally.best,
        )
    }

    /// Beyond 14 cells one start of a pair is run, and everything that is counted is that of both.
    #[test]
    fn pairs_count_as_much_as_their_starts() {
        let universe: &Tabulated = &KineticGrid;
        let circuit = Arc::new(Circuit::new(universe.rule()));
        let compiled = CompiledUniverse {
            universe,
            circuit: &circuit,
            max_t: 100,
        };
        let collisions = json!([{"name": "x", "expr": "count('X')"}]);
        let laws = [
            json!({"template": "bound", "claim": "2 * x(t) <= grid_length"}),
            json!({"template": "bound", "claim": "x(t) <= 6"}),
            json!({"template": "implication_step", "claim": "x(t) > 3 -> x(t+1) < 4"}),
            json!({"template": "eventually", "claim": "x(t) > 2 -> x(t) < 2",
                "preconditions": [{"lhs": "count('>')", "op": "==", "rhs": "count('<')"}]}),
        ];
        for mut law in laws {
            law["law_id"] = law["claim"].clone();
            law["quantifiers"] = json!({"T": 5, "H": 2});
            law["observables"] = collisions.clone();
            law["forbidden"] = Value::from("the opposite");
            let law = Law::from_value(law, "$", Extensions::ALL).unwrap();
            let program = Program::compile(&law, universe).unwrap();
            for n in [14, 15] {
                let mut ring = ExhaustiveRing::new(&compiled, &program, n).unwrap();
                let mut visited = [0, 0];
                let mut tallies = Vec::new();
                let rotations = StartClasses::Rotations;
                let starts = InitialStates::new(n, &universe.start_symbols(), 4, rotations);
                for (visited, other) in visited.iter_mut().zip([None, starts]) {
                    ring.starts = other.unwrap_or(ring.starts);
                    for chunk in 0..ring.starts.chunks() {
                        ring.starts.visit(chunk, |batch, _| {
                            *visited += batch.live.count();
                            true
                        });
                    }
                    tallies.push(facts(ring.run(&Budget::new(&|| false))));
                }
                assert_eq!(tallies[0], tallies[1], "{}, N = {n}", law.law_id());
                let [with, without] = visited;
                let paired = 10 * with < 6 * without;
                assert_eq!(paired, n > SINGLE_N, "{with} and {without} starts, N = {n}");
            }
        }
    }
}
