//! Sampling: generated starts on larger rings.

use rayon::prelude::*;

use super::budget::Budget;
use super::constants::Constants;
use super::evaluator::{CompiledUniverse, RingEvaluator, RingStats, Violation};
use super::generators::{CaseFamily, Generator};
use super::rng::RngStream;
use crate::bitslice::{Batch, BitSlice, LANES, Scratch, smallest};
use crate::law::{Claim, Law, Program};
use crate::universe::{State, Universe};

/// The most ring sizes beyond the ladder that a proposer may add.
const MOST_PROPOSED_RINGS: usize = 8;

/// The cases on one ring, kept so that the law's mutants run on the same ones.
pub struct Sample {
    pub n: usize,
    pub batches: Vec<Batch>,
    pub tally: RingStats,
}

/// The inputs of sampling.
pub struct Sampling<'a> {
    pub compiled: &'a CompiledUniverse<'a>,
    pub program: &'a Program,
    pub law: &'a Law,
    pub fingerprint: &'a str,
    pub seed: u64,
    pub rounds: u32,
    /// The most cases that the proposer's tests may add in all.
    pub proposed_cases: u64,
    /// The largest cost of a batch on one ring.
    pub most: u64,
    pub constants: &'a Constants,
    pub budget: &'a Budget<'a>,
}

impl Sampling<'_> {
    /// Samples a few rings in parallel and returns them in ascending order, up to and including the first refutation.
    pub fn run(&self, rings: &[usize]) -> Vec<Sample> {
        let mut samples: Vec<Sample> = rings.par_iter().filter_map(|&n| self.ring(n)).collect();
        let refuted = samples
            .iter()
            .position(|sample| sample.tally.best.is_some());
        samples.truncate(refuted.map_or(samples.len(), |index| index + 1));
        samples
    }

    /// Samples one ring until the budget ends; `None` if the law excludes the ring or it costs too much.
    pub fn ring(&self, n: usize) -> Option<Sample> {
        let evaluator = self.affordable(n)?;
        let generator = Generator::new(self.compiled.universe, self.program);
        let symbols = self.compiled.universe.alphabet().len();
        let mut draw = RngStream::new(self.seed, self.fingerprint, "sampled", n);
        let mut sample = Sample {
            n,
            batches: Vec::new(),
            tally: RingStats::new(n),
        };
        let mut scratch = Scratch::default();
        let mut keys = Vec::new();
        let mut enter = |sample: &mut Sample, batch: Batch, families: [CaseFamily; 8]| {
            let outcome = evaluator.run(&batch, &mut scratch);
            sample.tally.enter(&batch, &outcome, families);
            keys.extend(
                batch
                    .keys()
                    .into_iter()
                    .enumerate()
                    .filter(|(lane, _)| outcome.admitted.get(*lane))
                    .map(|(_, key)| key),
            );
            sample.batches.push(batch);
        };
        for _ in 0..self.rounds {
            if self.budget.is_spent() {
                break;
            }
            let states: Vec<State> = CaseFamily::SAMPLED
                .into_iter()
                .flat_map(|family| generator.cases(family, n, &mut draw))
                .collect();
            enter(
                &mut sample,
                thinned(Batch::of(&states, n, symbols), &evaluator),
                CaseFamily::SAMPLED,
            );
            if matches!(
                self.program.claim,
                Claim::Always {
                    antecedent: Some(_),
                    ..
                } | Claim::Eventually { .. }
            ) {
                let directed = toward_antecedent(&generator, &evaluator, &states, &mut draw);
                let batch = thinned(Batch::of(&directed, n, symbols), &evaluator);
                enter(&mut sample, batch, [CaseFamily::AntecedentDirected; 8]);
            }
        }
        let patterns = self.constants.starts(n, generator.background());
        for states in patterns.chunks(LANES) {
            enter(
                &mut sample,
                Batch::of(states, n, symbols),
                [CaseFamily::PatternDirected; 8],
            );
        }
        for states in self.proposed(n, &generator) {
            if self.budget.is_spent() {
                break;
            }
            enter(
                &mut sample,
                Batch::of(&states, n, symbols),
                [CaseFamily::Proposed; 8],
            );
        }
        keys.sort_unstable();
        keys.dedup();
        sample.tally.distinct = keys.len() as u64;
        Some(sample)
    }

    /// Returns the smallest violation among the extreme states of a ring; `None`, too, if the ring is excluded or costs too much.
    pub fn extreme_violation(&self, n: usize) -> Option<Violation> {
        let evaluator = self.affordable(n)?;
        let generator = Generator::new(self.compiled.universe, self.program);
        let family = CaseFamily::ExtremeStates;
        // These states are the same for every draw.
        let mut draw = RngStream::new(self.seed, self.fingerprint, "extreme", n);
        let states = generator.cases(family, n, &mut draw);
        let batch = thinned(Batch::of(&states, n, evaluator.symbols()), &evaluator);
        let outcome = evaluator.run(&batch, &mut Scratch::default());
        smallest(&batch, &outcome).map(Violation::from)
    }

    /// Prepares a ring; `None` if the law excludes it, it costs too much, or the budget ended.
    fn affordable(&self, n: usize) -> Option<RingEvaluator<'_>> {
        let evaluator = self.compiled.evaluator(self.program, n)?;
        (evaluator.cost(LANES as u64) <= self.most && !self.budget.is_spent()).then_some(evaluator)
    }

    /// Returns the first few ring sizes that the proposer asks for.
    pub fn proposed_rings(&self) -> Vec<usize> {
        let mut rings: Vec<usize> = Vec::new();
        for &n in self
            .law
            .proposed_tests
            .iter()
            .flat_map(|test| &test.grid_lengths)
        {
            if rings.len() < MOST_PROPOSED_RINGS && !rings.contains(&n) {
                rings.push(n);
            }
        }
        rings
    }

    /// Returns the cases that the proposer asks for on this ring, within the limit and in addition to the harness's cases.
    fn proposed(&self, n: usize, generator: &Generator<'_>) -> Vec<Vec<State>> {
        let asked = self
            .law
            .proposed_tests
            .iter()
            .filter(|test| test.grid_lengths.contains(&n));
        let mut draw = RngStream::new(self.seed, self.fingerprint, "proposed", n);
        let share = self.proposed_cases / self.proposed_rings().len().max(1) as u64;
        let mut states = Vec::new();
        for test in asked {
            let family =
                CaseFamily::by_name(&test.family).unwrap_or(CaseFamily::RandomDensitySweep);
            let wanted = test.cases.unwrap_or(64).min(share) as usize;
            let before = states.len();
            while states.len() - before < wanted {
                let cases = generator.cases(family, n, &mut draw);
                if cases.is_empty() {
                    break;
                }
                states.extend(cases);
            }
            states.truncate(before + wanted);
        }
        states.chunks(LANES).map(<[State]>::to_vec).collect()
    }
}

/// Keeps one case of eight for the reference evaluator, which is hundreds of times slower.
fn thinned(mut batch: Batch, evaluator: &RingEvaluator<'_>) -> Batch {
    if evaluator.plan.is_none() {
        batch.live &= BitSlice([0x0101_0101_0101_0101; 8]);
    }
    batch
}

/// Returns changes of the starts that are closest to the antecedent.
fn toward_antecedent(
    generator: &Generator<'_>,
    evaluator: &RingEvaluator<'_>,
    states: &[State],
    draw: &mut RngStream,
) -> Vec<State> {
    let mut order: Vec<usize> = (0..states.len()).collect();
    if let Some(plan) = &evaluator.plan {
        let batch = Batch::of(states, evaluator.n, evaluator.symbols());
        let distance = plan.antecedent_distance(&batch, &mut Scratch::default());
        order.sort_by_key(|&lane| (distance[lane], lane));
    }
    order.truncate(64);
    (0..LANES)
        .map(|lane| generator.mutated(&states[order[lane % order.len()]], draw))
        .collect()
}
