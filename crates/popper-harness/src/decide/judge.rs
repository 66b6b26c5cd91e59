//! From what was found to PASS, or to the first reason against it.

use std::cell::OnceCell;

use super::constants::Threshold;
use super::failing;
use super::generators::RngStream;
use super::rings::SimulationDepth;
use super::tautology::{self, Triviality};
use super::trial::{Findings, Trial};
use super::{Evidence, Reason, Status, Strength, Verdict};
use crate::law::{Claim, MAX_RING};

impl Trial<'_> {
    pub(super) fn describe_horizon(&self, verdict: &mut Verdict, findings: &Findings) {
        let horizon = &mut verdict.evidence.horizon;
        let max_t = self.harness.config.max_t;
        let probe = findings.samples.first().map_or(1, |sample| sample.n);
        let periodic =
            self.compiled.universe.period_bound(probe).is_some() && !self.program.counts_time();
        horizon.exact = matches!(self.rings().watch(probe), SimulationDepth::Exact(_));
        horizon.note = if periodic {
            "runs repeat after a known period p, so t to min(T, p) and windows to min(H, p - 1) are all there is".into()
        } else if horizon.exact {
            "every step was simulated".into()
        } else {
            format!("T or H is beyond the {max_t} steps that are simulated")
        };
    }

    /// What the best evidence is and how far it reaches.
    pub(super) fn weigh(evidence: &mut Evidence, findings: &Findings, complete: bool) {
        let sampled = findings
            .samples
            .iter()
            .filter(|sample| sample.tally.used > 0)
            .map(|sample| sample.n);
        if evidence.proof.is_some() {
            evidence.strength = Some(Strength::Proved);
            evidence.scope = "every ring size, every t".into();
            evidence.complete = true;
        } else if findings.exhausted > 0
            && findings
                .tallies
                .iter()
                .any(|tally| tally.exhausted && tally.used > 0)
        {
            evidence.strength = Some(Strength::Exhaustive);
            let small = format!(
                "every admissible start of every ring with N <= {}",
                findings.exhausted
            );
            evidence.scope = match sampled.max() {
                Some(largest) if !complete => format!("{small}; sampled up to N = {largest}"),
                _ => small,
            };
            evidence.complete = complete;
        } else if let Some(largest) = sampled.max() {
            evidence.strength = Some(Strength::Sampled);
            evidence.scope = format!("generated starts of rings up to N = {largest}");
        } else {
            evidence.scope = "nothing admissible was found".into();
        }
    }

    /// PASS, or the first reason against it. Only for laws that nothing refuted.
    pub(super) fn judge(&self, verdict: &mut Verdict, findings: &Findings, complete: bool) {
        let config = &self.harness.config;
        let power = &verdict.power;
        let implication = matches!(
            self.program.claim,
            Claim::Always {
                antecedent: Some(_),
                ..
            } | Claim::Eventually { .. }
                | Claim::Local { .. }
        );
        let unwatched =
            findings.all().next().is_none() && self.rings().watch(1) == SimulationDepth::Nothing;
        let asked = OnceCell::new();
        let triviality = || *asked.get_or_init(|| self.triviality(findings));
        let note = |verdict: &mut Verdict, note: String| verdict.notes.push(note);
        let reason = if let Some(why) = self.evaluation_error(findings) {
            note(verdict, why);
            Some(Reason::EvaluationError)
        } else if unwatched {
            note(verdict, self.beyond());
            Some(Reason::ResourceLimit)
        } else if let Some(cells) = self.rings_beyond() {
            let why = format!(
                "the preconditions need rings of {cells} cells or more, the limit is {MAX_RING}"
            );
            note(verdict, why);
            Some(Reason::ResourceLimit)
        } else if power.distinct == 0 || (power.distinct < config.min_cases && !complete) {
            verdict.notes.push(format!(
                "{} different starts met the preconditions",
                power.distinct
            ));
            Some(Reason::UnmetPreconditions)
        } else if implication && power.triggers == 0 {
            verdict.notes.push("the antecedent never held".into());
            Some(Reason::VacuousPass)
        } else if triviality() == Triviality::Shown {
            verdict.notes.push(
                "the law holds for arbitrary, unrelated states: it says nothing of the dynamics"
                    .into(),
            );
            Some(Reason::TautologicalClaim)
        } else if !verdict.evidence.horizon.exact {
            note(verdict, self.beyond());
            Some(Reason::ResourceLimit)
        } else if let Some(why) =
            self.untested(findings, complete || verdict.evidence.proof.is_some())
        {
            note(verdict, why);
            Some(Reason::ResourceLimit)
        } else if implication
            && (power.triggers < config.min_triggers
                || power.trigger_families.len() < config.min_trigger_families)
        {
            let (count, families) = (power.triggers, power.trigger_families.len());
            verdict.notes.push(format!(
                "the antecedent held only {count} times in {families} families"
            ));
            Some(Reason::InconclusiveLowPower)
        } else if triviality() == Triviality::Open {
            let why = "none of the unrelated states that were tried breaks the claim, and it is not shown that none does";
            note(verdict, why.into());
            Some(Reason::InconclusiveLowPower)
        } else if power.mutation.refuted == 0 {
            let total = power.mutation.total;
            verdict.notes.push(format!(
                "none of the law's {total} mutants was refuted by the cases it survived"
            ));
            Some(Reason::InconclusiveLowPower)
        } else {
            None
        };
        verdict.reason_code = reason;
        if reason.is_none() {
            verdict.status = Status::Pass;
        }
    }

    /// What a law asks for beyond what is simulated.
    fn beyond(&self) -> String {
        let h = self
            .law
            .quantifiers
            .h
            .map_or_else(String::new, |h| format!(", H = {h}"));
        let t = self.program.horizon;
        format!("T = {t}{h} was asked for; no period is known that would make the horizon exact")
    }

    /// The smallest start on which an expression has no value, in words.
    fn evaluation_error(&self, findings: &Findings) -> Option<String> {
        let failing = findings
            .all()
            .filter_map(|tally| Some((tally.n, tally.failing.as_ref()?)))
            .min();
        if let Some((_, failing)) = failing {
            let described = failing::describe(&self.compiled, self.law, self.program, failing);
            return Some(described.unwrap_or_else(|| "an expression has no value".into()));
        }
        // Rings that are never reached, since the error decides whether they are admitted.
        let config = &self.harness.config;
        let sizes = (1..=config.exhaustive_n).chain(config.ladder.iter().copied());
        let sizes = sizes.chain(self.sampling().proposed_rings());
        let (n, error) = sizes
            .filter_map(|n| Some((n, self.rings().error(n)?)))
            .min_by_key(|(n, _)| *n)?;
        Some(format!(
            "a precondition has no value on rings of {n} cells: {error}"
        ))
    }

    /// The ring size from which on the preconditions admit some, where that is beyond the limit.
    fn rings_beyond(&self) -> Option<u64> {
        let (least, most) = (self.rings().smallest(), self.rings().largest());
        (least > MAX_RING && most.is_none_or(|most| most as u64 >= least)).then_some(least)
    }

    /// A constant of the claim on one side of which no tested ring reaches.
    fn untested(&self, findings: &Findings, settled: bool) -> Option<String> {
        let used = findings.all().filter(|tally| tally.used > 0);
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

    fn triviality(&self, findings: &Findings) -> Triviality {
        let config = &self.harness.config;
        let used = findings
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
