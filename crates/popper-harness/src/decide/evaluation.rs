//! The evaluation of one law: the stages that gather evidence.

use super::adversarial;
use super::budget::Budget;
use super::config::Config;
use super::constants::Constants;
use super::evaluator::{CompiledUniverse, RingStats, Violation};
use super::exhaustive::ExhaustiveRing;
use super::failing::MOST_ERRORS;
use super::generators::CaseFamily;
use super::minimize::{Minimizer, Minimum};
use super::sampled::{Sample, Sampling};
use crate::counterexample::{Counterexample, CounterexampleInput};
use crate::law::rings::Rings;
use crate::law::{Claim, Formula, Law, Program};
use crate::proof::{self, Proof, RuleFacts};

/// The size of the largest rings that are exhausted for a law with a proof.
const PROVED_N: usize = 6;
/// The sizes from which a law with a proof is sampled on one ring of the ladder each.
const PROVED_LADDER: [usize; 2] = [9, 33];

/// The evaluation of one law, with everything that the stages share.
pub(super) struct Evaluation<'a> {
    pub(super) config: &'a Config,
    pub(super) law: &'a Law,
    pub(super) program: &'a Program,
    pub(super) fingerprint: &'a str,
    pub(super) compiled: CompiledUniverse<'a>,
    /// The normal form, compiled; `None` if it does not fit the universe.
    normal: Option<Program>,
    facts: &'a RuleFacts,
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
        facts: &'a RuleFacts,
        budget: &'a Budget<'a>,
    ) -> Self {
        let normal = Program::compile(&law.normal().to_law("normal"), compiled.universe).ok();
        Self {
            config,
            constants: Constants::new(normal.as_ref().unwrap_or(program), compiled.universe),
            normal,
            facts,
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

    /// Runs stage 2: the search for a proof.
    pub(super) fn prove(&self) -> Option<Proof> {
        let normal = self.normal.as_ref()?;
        let universe = self.compiled.universe;
        let may_hold = || {
            let mut state = EvaluationState::default();
            self.exhaust(&mut state, PROVED_N);
            self.may_continue(&state)
        };
        proof::prove_normal(
            self.law,
            self.program,
            normal,
            universe,
            self.facts,
            &|| self.budget.is_spent(),
            may_hold,
        )
    }

    /// Whether it is proved that the antecedent holds in no state of any run, so that no case can trigger it.
    pub(super) fn never_triggers(&self) -> bool {
        let (Claim::Always {
            antecedent: Some(antecedent),
            ..
        }
        | Claim::Eventually { antecedent, .. }) = &self.program.claim
        else {
            return false;
        };
        let never = Program {
            claim: Claim::Always {
                antecedent: None,
                consequent: Formula::Not(Box::new(antecedent.clone())),
                steps: false,
            },
            ..self.program.clone()
        };
        proof::holds_always(&never, self.compiled.universe, self.facts)
    }

    /// Runs a few cases of a law with a proof: they show whether the antecedent holds somewhere, and whether they could tell
    /// the law from its mutants. `None` if they contradict the proof.
    pub(super) fn run_proved(&self, proof: Proof) -> Option<EvaluationState> {
        let mut state = EvaluationState {
            proof: Some(proof),
            ..EvaluationState::default()
        };
        self.exhaust(&mut state, PROVED_N);
        let ladder = self.config.ladder.iter().copied();
        let mut admitted = ladder.filter(|&n| self.rings().admits(n));
        let rings: Vec<usize> = PROVED_LADDER
            .into_iter()
            .filter_map(|least| admitted.find(|&n| n >= least))
            .collect();
        self.sample(&mut state, &rings);
        state.found.is_none().then_some(state)
    }

    /// Runs the stages and makes a violation as small as the budgets allow.
    pub(super) fn run(&self, proof: Option<Proof>) -> EvaluationState {
        let mut state = EvaluationState {
            proof,
            ..EvaluationState::default()
        };
        self.exhaust(&mut state, self.config.exhaustive_n);
        let largest = self.rings().largest();
        if self.may_continue(&state) {
            let mut ladder = self.ladder(&state, largest);
            let extreme = self.extreme_violation(&state, &ladder);
            if let Some(violation) = &extreme {
                // The law is refuted: what is left to find is a smaller counterexample.
                ladder.retain(|&n| n > state.exhausted && n <= violation.start.len());
            }
            self.sample(&mut state, &ladder);
            state.found = state.found.or(extreme);
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

    /// Runs stage 3: every ring up to a size, within the budget.
    fn exhaust(&self, state: &mut EvaluationState, most: usize) {
        self.exhaust_rings(state, most.min(self.config.exhaustive_n));
        let largest = self.rings().largest();
        state.complete = largest.is_some_and(|largest| largest <= state.exhausted);
    }

    fn exhaust_rings(&self, state: &mut EvaluationState, most: usize) {
        for n in 1..=most {
            if !self.may_continue(state)
                || ExhaustiveRing::cost(&self.compiled, self.program, n)
                    > self.config.exhaustive_budget
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

    /// Returns the ladder with the rings that the constants, the proposer or the preconditions name, ascending.
    fn ladder(&self, state: &EvaluationState, largest: Option<usize>) -> Vec<usize> {
        let mut ladder = self.config.ladder.clone();
        ladder.extend(self.sampling().proposed_rings());
        ladder.extend(largest.filter(|&n| n > 0 && n as u64 <= crate::law::MAX_RING));
        let directed = self
            .constants
            .rings(&self.rings(), state.exhausted, &ladder);
        ladder.extend(directed);
        ladder.sort_unstable();
        ladder.dedup();
        ladder
    }

    /// Looks for a violation among the extreme states of the rings that are not exhausted, if the claim has a constant for which
    /// the exhausted rings are too small. Random states hardly ever reach it. A law with an error takes its stages in order.
    fn extreme_violation(&self, state: &EvaluationState, ladder: &[usize]) -> Option<Violation> {
        if state.errors() > 0 {
            return None;
        }
        let largest = self.rings().largest();
        self.constants.untested(state.exhausted, largest)?;
        let larger = ladder.iter().filter(|&&n| n > state.exhausted);
        let sampling = self.sampling();
        larger.copied().find_map(|n| sampling.extreme_violation(n))
    }

    /// Runs stage 4 on rings in ascending order.
    fn sample(&self, state: &mut EvaluationState, ladder: &[usize]) {
        let sampling = self.sampling();
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
            let sampled: Vec<usize> = state.samples.iter().map(|sample| sample.n).collect();
            let minimizer = Minimizer {
                compiled: &self.compiled,
                sampling: &sampling,
                exhausted: state.exhausted,
                sampled: &sampled,
                minimal_n: config.minimal_n,
                exhaustive_budget: config.exhaustive_budget,
            };
            minimizer.run(found)
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
