//! The verdict: from the state of an evaluation to PASS, or to the first reason against it.

use super::constants::Threshold;
use super::evaluation::{Evaluation, EvaluationState};
use super::failing;
use super::rng::RngStream;
use super::tautology::{self, Triviality};
use super::verdict::{
    Evidence, HorizonNote, Mutation, Power, Status, Strength, UnknownReason, Verdict,
};
use crate::law::rings::SimulationDepth;
use crate::law::{Claim, MAX_RING};

/// Decides a law; `verdict` names the law and the harness.
///
/// With a proof a few cases come first. Where they do not suffice for an answer, every stage runs.
pub(super) fn verdict(evaluation: &Evaluation<'_>, verdict: &Verdict) -> Verdict {
    let proof = evaluation.prove();
    if let Some(few) = (proof.clone()).and_then(|proof| evaluation.run_proved(proof)) {
        let verdict = conclude(evaluation, few, verdict.clone());
        if evaluation.budget.was_cut() || is_settled(evaluation, &verdict) {
            return verdict;
        }
    }
    conclude(evaluation, evaluation.run(proof), verdict.clone())
}

/// Whether more cases cannot change the answer on a law with a proof.
fn is_settled(evaluation: &Evaluation<'_>, verdict: &Verdict) -> bool {
    match (verdict.status, verdict.reason_code) {
        (Status::Pass, _) | (_, Some(UnknownReason::TautologicalClaim)) => true,
        (_, Some(UnknownReason::VacuousPass)) => evaluation.never_triggers(),
        _ => false,
    }
}

/// Makes the verdict of the state that the stages left.
fn conclude(
    evaluation: &Evaluation<'_>,
    mut state: EvaluationState,
    mut verdict: Verdict,
) -> Verdict {
    evaluation.describe_horizon(&mut verdict.evidence.horizon, &state);
    verdict.power = evaluation.power(&state);
    if let Some(counterexample) = state.counterexample.take() {
        if state.proof.is_some() {
            // A certificate and a counterexample cannot both be right; the counterexample can be derived again.
            let alarm = "alarm: a certificate was found for a law that is refuted";
            verdict.notes.push(alarm.into());
        }
        verdict.status = Status::Fail;
        verdict.counterexample = Some(counterexample);
    } else {
        verdict.evidence.proof = state.proof.take();
        weigh(&mut verdict.evidence, &state);
        if !evaluation.budget.was_cut() {
            match judge(evaluation, &state, &verdict.power, &verdict.evidence) {
                Ok(()) => verdict.status = Status::Pass,
                Err((reason, note)) => {
                    verdict.reason_code = Some(reason);
                    verdict.notes.push(note);
                }
            }
        }
    }
    if evaluation.budget.was_cut() {
        cut(&mut verdict);
    }
    verdict
}

/// Turns the verdict of an interrupted evaluation round: a counterexample stays, everything else is open.
fn cut(verdict: &mut Verdict) {
    verdict.power.mutation = Mutation::default();
    if let Some(counterexample) = &mut verdict.counterexample {
        counterexample.minimized = false;
        counterexample.minimal = false;
    } else {
        verdict.status = Status::Unknown;
        verdict.reason_code = Some(UnknownReason::ResourceLimit);
        verdict.notes = vec!["stopped before the end".into()];
    }
}

/// Judges a law that nothing refuted: `Ok` for PASS, otherwise the first reason against it with its note.
fn judge(
    evaluation: &Evaluation<'_>,
    state: &EvaluationState,
    power: &Power,
    evidence: &Evidence,
) -> Result<(), (UnknownReason, String)> {
    let config = evaluation.config;
    let complete = state.complete;
    let no = |reason, note: String| Err((reason, note));
    if let Some(why) = evaluation.evaluation_error(state) {
        return no(UnknownReason::EvaluationError, why);
    }
    if state.all().next().is_none() && evaluation.rings().depth(1) == SimulationDepth::Nothing {
        return no(UnknownReason::ResourceLimit, evaluation.beyond());
    }
    if let Some(cells) = evaluation.rings_beyond() {
        let why = format!(
            "the preconditions need rings of {cells} cells or more, the limit is {MAX_RING}"
        );
        return no(UnknownReason::ResourceLimit, why);
    }
    let distinct = power.distinct;
    if distinct == 0 || (distinct < config.min_cases && !complete) {
        let why = format!("{distinct} different starts met the preconditions");
        return no(UnknownReason::UnmetPreconditions, why);
    }
    let implication = matches!(
        evaluation.program.claim,
        Claim::Always {
            antecedent: Some(_),
            ..
        } | Claim::Eventually { .. }
            | Claim::Local { .. }
    );
    if implication && power.triggers == 0 {
        return no(
            UnknownReason::VacuousPass,
            "the antecedent never held".into(),
        );
    }
    let triviality = evaluation.triviality(state);
    if triviality == Triviality::Shown {
        let why = "the law holds for arbitrary, unrelated states: it says nothing of the dynamics";
        return no(UnknownReason::TautologicalClaim, why.into());
    }
    if !evidence.horizon.exact {
        return no(UnknownReason::ResourceLimit, evaluation.beyond());
    }
    let settled = complete || evidence.proof.is_some();
    if let Some(why) = evaluation.untested(state, settled) {
        return no(UnknownReason::ResourceLimit, why);
    }
    let (triggers, families) = (power.triggers, power.trigger_families.len());
    if implication && (triggers < config.min_triggers || families < config.min_trigger_families) {
        let why = format!("the antecedent held only {triggers} times in {families} families");
        return no(UnknownReason::InconclusiveLowPower, why);
    }
    if triviality == Triviality::Open {
        let why = "none of the unrelated states that were tried breaks the claim, and it is not shown that none does";
        return no(UnknownReason::InconclusiveLowPower, why.into());
    }
    if power.mutation.refuted_at_least == 0 {
        let total = power.mutation.total;
        let why = format!("none of the law's {total} mutants was refuted by the cases it survived");
        return no(UnknownReason::InconclusiveLowPower, why);
    }
    Ok(())
}

/// Enters the best evidence and its scope.
fn weigh(evidence: &mut Evidence, state: &EvaluationState) {
    let sampled = state
        .samples
        .iter()
        .filter(|sample| sample.tally.used > 0)
        .map(|sample| sample.n);
    if evidence.proof.is_some() {
        evidence.strength = Some(Strength::Proved);
        evidence.scope = "every ring size, every t".into();
        evidence.complete = true;
    } else if state.exhausted > 0
        && state
            .tallies
            .iter()
            .any(|tally| tally.exhausted && tally.used > 0)
    {
        evidence.strength = Some(Strength::Exhaustive);
        let small = format!(
            "every admissible start of every ring with N <= {}",
            state.exhausted
        );
        evidence.scope = match sampled.max() {
            Some(largest) if !state.complete => format!("{small}; sampled up to N = {largest}"),
            _ => small,
        };
        evidence.complete = state.complete;
    } else if let Some(largest) = sampled.max() {
        evidence.strength = Some(Strength::Sampled);
        evidence.scope = format!("generated starts of rings up to N = {largest}");
    } else {
        evidence.scope = "nothing admissible was found".into();
    }
}

impl Evaluation<'_> {
    /// Describes up to which step the runs were simulated.
    fn describe_horizon(&self, horizon: &mut HorizonNote, state: &EvaluationState) {
        let max_t = self.config.max_t;
        let probe = state.samples.first().map_or(1, |sample| sample.n);
        let periodic =
            self.compiled.universe.period_bound(probe).is_some() && !self.program.counts_time();
        horizon.exact = matches!(self.rings().depth(probe), SimulationDepth::Exact(_));
        horizon.note = if periodic {
            "runs repeat after a known period p, so t to min(T, p) and windows to min(H, p - 1) are all there is".into()
        } else if horizon.exact {
            "every step was simulated".into()
        } else {
            format!("T or H is beyond the {max_t} steps that are simulated")
        };
    }

    /// Describes the steps that a law asks for beyond those that are simulated.
    fn beyond(&self) -> String {
        let h = self
            .law
            .quantifiers
            .h
            .map_or_else(String::new, |h| format!(", H = {h}"));
        let t = self.program.horizon;
        format!("T = {t}{h} was asked for; no period is known that would make the horizon exact")
    }

    /// Describes the smallest start on which an expression has no value.
    fn evaluation_error(&self, state: &EvaluationState) -> Option<String> {
        let failing = state
            .all()
            .filter_map(|tally| Some((tally.n, tally.failing.as_ref()?)))
            .min();
        if let Some((_, failing)) = failing {
            let described = failing::describe(&self.compiled, self.law, self.program, failing);
            return Some(described.unwrap_or_else(|| "an expression has no value".into()));
        }
        // Rings that are never reached, since the error decides whether they are admitted.
        let config = self.config;
        let sizes = (1..=config.exhaustive_n).chain(config.ladder.iter().copied());
        let sizes = sizes.chain(self.sampling().proposed_rings());
        let (n, error) = sizes
            .filter_map(|n| Some((n, self.rings().error(n)?)))
            .min_by_key(|(n, _)| *n)?;
        Some(format!(
            "a precondition has no value on rings of {n} cells: {error}"
        ))
    }

    /// Returns the smallest ring size that the preconditions admit, if it is beyond the limit.
    fn rings_beyond(&self) -> Option<u64> {
        let (least, most) = (self.rings().smallest(), self.rings().largest());
        (least > MAX_RING && most.is_none_or(|most| most as u64 >= least)).then_some(least)
    }

    /// Describes a constant of the claim for which no tested ring has states on both sides.
    fn untested(&self, state: &EvaluationState, settled: bool) -> Option<String> {
        let used = state.all().filter(|tally| tally.used > 0);
        let tested = used.map(|tally| tally.n).max().unwrap_or(0);
        let Threshold { constant, cells } = self
            .constants
            .untested(tested, self.rings().largest())
            .filter(|_| !settled)?;
        let limit = if cells > MAX_RING {
            format!("the limit is {MAX_RING}")
        } else {
            format!("the largest that was tested has {tested}")
        };
        Some(format!(
            "the constant {constant} needs rings of {cells} cells, {limit}"
        ))
    }

    fn triviality(&self, state: &EvaluationState) -> Triviality {
        let config = self.config;
        let used = state
            .all()
            .filter(|tally| tally.used > 0)
            .map(|tally| tally.n);
        let sizes: Vec<usize> = config.ladder.iter().copied().chain(used).collect();
        let mut draw = RngStream::new(config.seed, self.fingerprint, "tautology", 0);
        tautology::triviality(
            self.program,
            self.compiled.universe,
            &self.rings(),
            &sizes,
            &mut draw,
            self.budget,
        )
    }
}
