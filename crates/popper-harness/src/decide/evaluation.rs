//! The evaluation of one law: the stages that gather evidence.

use super::adversarial;
use super::budget::Budget;
use super::config::Config;
use super::constants::Constants;
use super::evaluator::{CompiledUniverse, RingStats, Violation};
use super::exhaustive::ExhaustiveRing;
use super::failing::MOST_ERRORS;
use super::generators::CaseFamily;
use super::minimize::{self, Minimum};
use super::sampled::{Sample, Sampling};
use crate::counterexample::{Counterexample, CounterexampleInput};
use crate::law::rings::Rings;
use crate::law::{Law, Program};
use crate::proof::{self, Proof};

/// The evaluation of one law, with everything that the stages share.
pub(super) struct Evaluation<'a> {
    pub(super) config: &'a Config,
    pub(super) law: &'a Law,
    pub(super) program: &'a Program,
    pub(super) fingerprint: &'a str,
    pub(super) compiled: CompiledUniverse<'a>,
    pub(super) constants: Constants,
    pub(super) budget: &'a Budget<'a>,
}

/// The findings of the stages, from which the verdict is made.
#[derive(Default)]
pub(super) struct EvaluationState {
    pub(super) proof: Option<Proof>,
    pub(super) tallies: Vec<RingStats>,
    pub(super) samples: Vec<Sample>,
    /// The size up to which every ring is exhausted or excluded by the preconditions.
    pub(super) exhausted: usize,
    /// Whether every admitted ring is exhausted.
    pub(super) complete: bool,
    /// The violation that the stages found, before it is made smaller.
    pub(super) found: Option<Violation>,
    pub(super) counterexample: Option<Counterexample>,
}

impl EvaluationState {
    /// Returns the number of starts on which an expression has no value.
    fn errors(&self) -> u64 {
        self.all().map(|tally| tally.errors).sum()
    }

    /// Returns the statistics of all stages.
    pub(super) fn all(&self) -> impl Iterator<Item = &RingStats> {
        self.tallies
            .iter()
            .chain(self.samples.iter().map(|sample| &sample.tally))
    }
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(
        config: &'a Config,
        compiled: CompiledUniverse<'a>,
        law: &'a Law,
        program: &'a Program,
        fingerprint: &'a str,
        budget: &'a Budget<'a>,
    ) -> Self {
        Self {
            config,
            constants: Constants::new(law, program, compiled.universe),
            compiled,
            law,
            program,
            fingerprint,
            budget,
        }
    }

    pub(super) fn rings(&self) -> Rings<'_> {
        Rings::new(self.program, self.compiled.universe, self.config.max_t)
    }

    pub(super) fn sampling(&self) -> Sampling<'_> {
        Sampling {
            compiled: &self.compiled,
            program: self.program,
            law: self.law,
            fingerprint: self.fingerprint,
            seed: self.config.seed,
            rounds: self.config.rounds,
            proposed_cases: self.config.proposed_cases,
            most: self.config.sampled_budget,
            constants: &self.constants,
            budget: self.budget,
        }
    }

    /// Runs the stages and makes a violation as small as the budgets allow.
    pub(super) fn run(&self) -> EvaluationState {
        let mut state = EvaluationState {
            proof: proof::prove(self.law, self.program, self.compiled.universe),
            ..EvaluationState::default()
        };
        self.exhaust(&mut state);
        let largest = self.rings().largest();
        state.complete = largest.is_some_and(|largest| largest <= state.exhausted);
        if self.may_continue(&state) {
            self.sample(&mut state);
        }
        let is_open = state.proof.is_none() && !state.complete && state.errors() < MOST_ERRORS;
        if is_open && self.may_continue(&state) {
            self.search(&mut state, largest);
        }
        state.counterexample = state
            .found
            .clone()
            .map(|found| self.counterexample(found, &state));
        state
    }

    /// Whether the next stage may run: nothing is refuted and the budget is not spent.
    fn may_continue(&self, state: &EvaluationState) -> bool {
        state.found.is_none() && !self.budget.is_spent()
    }

    /// Runs stage 3: every ring up to the configured size, within the budget.
    fn exhaust(&self, state: &mut EvaluationState) {
        let config = self.config;
        for n in 1..=config.exhaustive_n {
            if !self.may_continue(state)
                || ExhaustiveRing::cost(&self.compiled, self.program, n) > config.exhaustive_budget
            {
                return;
            }
            if let Some(ring) = ExhaustiveRing::new(&self.compiled, self.program, n) {
                let mut tally = ring.run(self.budget);
                let whole = tally.exhausted && ring.exact();
                tally.exhausted = whole;
                state.found.clone_from(&tally.best);
                state.tallies.push(tally);
                if !whole {
                    continue;
                }
            } else if self.rings().admits(n) {
                // The engine cannot run a ring that the law admits, so no larger ring counts as exhausted.
                return;
            }
            if state.found.is_none() && state.exhausted == n - 1 {
                state.exhausted = n;
            }
        }
    }

    /// Runs stage 4: the ladder, and the rings that the constants, the proposer or the preconditions name.
    fn sample(&self, state: &mut EvaluationState) {
        let sampling = self.sampling();
        let mut ladder = self.config.ladder.clone();
        ladder.extend(sampling.proposed_rings());
        ladder.extend(
            self.rings()
                .largest()
                .filter(|&n| n > 0 && n as u64 <= crate::law::MAX_RING),
        );
        let directed = self
            .constants
            .rings(&self.rings(), state.exhausted, &ladder);
        ladder.extend(directed);
        ladder.sort_unstable();
        ladder.dedup();
        // Eight rings at a time: they run in parallel, but rings after a refuted one are wasted.
        for rings in ladder.chunks(8) {
            if !self.may_continue(state) || state.errors() >= MOST_ERRORS {
                return;
            }
            state.samples.extend(sampling.run(rings));
            state.found = state
                .samples
                .last()
                .and_then(|sample| sample.tally.best.clone());
        }
    }

    /// Runs stage 5: the mutation search.
    fn search(&self, state: &mut EvaluationState, largest: Option<usize>) {
        let config = self.config;
        if !config.adversarial {
            return;
        }
        let tallies = adversarial::search(
            &self.compiled,
            self.program,
            config.seed,
            self.fingerprint,
            config.generations,
            largest,
            self.budget,
        );
        state.found = tallies.iter().find_map(|tally| tally.best.clone());
        state.tallies.extend(tallies);
    }

    /// Builds the counterexample of the smallest violation within reach.
    fn counterexample(&self, found: Violation, state: &EvaluationState) -> Counterexample {
        let config = self.config;
        let n = found.start.len();
        // A violation of the exhaustive stage is the smallest already: it is the best of the first ring that has one.
        let smallest = n == state.exhausted + 1
            && state.tallies.last().is_some_and(|tally| {
                tally.n == n
                    && tally.exhausted
                    && tally
                        .families
                        .iter()
                        .any(|(family, ..)| *family == CaseFamily::Exhaustive)
            });
        let minimum = if smallest {
            Minimum {
                violation: found,
                minimized: true,
                minimal: true,
            }
        } else {
            let sampling = self.sampling();
            minimize::minimize(
                &self.compiled,
                &sampling,
                found,
                state.exhausted,
                config.minimal_n,
                config.exhaustive_budget,
            )
        };
        let Violation { start, t_fail, .. } = minimum.violation;
        let input = CounterexampleInput {
            seed: config.seed,
            start: &start,
            t_fail,
        };
        Counterexample {
            minimized: minimum.minimized,
            minimal: minimum.minimal,
            ..input.build(self.law, self.program, self.compiled.universe)
        }
    }
}
