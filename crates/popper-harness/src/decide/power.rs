//! The power of the attempt to refute a law.

use std::collections::BTreeMap;

use super::evaluation::{Evaluation, EvaluationState};
use super::exhaustive::ExhaustiveRing;
use super::mutants;
use super::verdict::{Mutation, Power, RingPower};
use crate::bitslice::Scratch;
use crate::law::Program;

/// The size of the largest rings that are exhausted again for each mutant; larger ones are represented by samples.
const MUTANT_N: usize = 10;

impl Evaluation<'_> {
    pub(super) fn power(&self, state: &EvaluationState) -> Power {
        let mut power = Power::default();
        let mut rings: BTreeMap<usize, RingPower> = BTreeMap::new();
        let (mut unusual, mut wrapped) = (0, 0);
        for tally in state.all().filter(|tally| tally.attempted > 0) {
            power.attempted += tally.attempted;
            power.used += tally.used;
            unusual += tally.unusual;
            wrapped += tally.wrapped;
            for (all, here) in power.densities.iter_mut().zip(tally.densities) {
                *all += here;
            }
            for &(family, used, triggers) in &tally.families {
                for (map, count) in [
                    (&mut power.families, used),
                    (&mut power.trigger_families, triggers),
                ] {
                    if count > 0 {
                        *map.entry(family.name().into()).or_default() += count;
                    }
                }
                power.triggers += triggers;
            }
            let ring = rings.entry(tally.n).or_insert_with(|| RingPower {
                n: tally.n,
                ..RingPower::default()
            });
            ring.exhausted |= tally.exhausted;
            ring.attempted += tally.attempted;
            ring.used += tally.used;
            // Samples of an exhausted ring show nothing new.
            ring.distinct = ring.distinct.max(tally.distinct);
        }
        for ring in rings.values_mut() {
            power.distinct += ring.distinct;
            // The rule of three: with no violation in m independent cases the rate is below 3/m at 95 %.
            ring.violation_rate_upper_95 =
                (!ring.exhausted && ring.distinct > 0).then(|| share(3, ring.distinct).min(1.0));
        }
        power.rings = rings.into_values().collect();
        if power.used > 0 {
            power.collision_coverage = share(unusual, power.used);
            power.wrap_coverage = share(wrapped, power.used);
        }
        if state.found.is_none() && power.used > 0 {
            power.mutation = self.mutation(state);
        }
        power
    }

    /// Searches the law's mutants for one that the same cases refute.
    fn mutation(&self, state: &EvaluationState) -> Mutation {
        let mutants = mutants::mutants(self.program, self.compiled.universe);
        let refutes = |mutant| !self.budget.is_spent() && self.refutes(mutant, state);
        Mutation {
            total: mutants.len() as u64,
            refuted_at_least: mutants.iter().any(refutes).into(),
        }
    }

    fn refutes(&self, mutant: &Program, state: &EvaluationState) -> bool {
        let small = state
            .tallies
            .iter()
            .filter(|tally| tally.exhausted && tally.n <= MUTANT_N)
            .map(|tally| tally.n);
        let exhausted = small
            .filter_map(|n| ExhaustiveRing::new(&self.compiled, mutant, n))
            .any(|ring| ring.run(self.budget).best.is_some());
        exhausted || {
            let mut scratch = Scratch::default();
            state.samples.iter().any(|sample| {
                let evaluator = self.compiled.evaluator(mutant, sample.n);
                evaluator.is_some_and(|evaluator| {
                    sample
                        .batches
                        .iter()
                        .any(|batch| evaluator.run(batch, &mut scratch).violated.any())
                })
            })
        }
    }
}

/// Returns `part / whole` to six decimals, so that it can be written and read without loss; 0 if `whole` is 0.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        (part as f64 / whole as f64 * 1e6).round() / 1e6
    }
}
