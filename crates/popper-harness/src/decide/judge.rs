//! From what was found to PASS, or to the first reason against it.

use super::generators::Draw;
use super::rings::Watch;
use super::tautology;
use super::trial::{Findings, Trial};
use super::{Evidence, Reason, Status, Strength, Verdict};
use crate::law::Claim;

impl Trial<'_> {
    pub(super) fn describe_horizon(&self, verdict: &mut Verdict, findings: &Findings) {
        let horizon = &mut verdict.evidence.horizon;
        let max_t = self.harness.config.max_t;
        let probe = findings.samples.first().map_or(1, |sample| sample.n);
        let periodic =
            self.lab.universe.period_bound(probe).is_some() && !self.program.counts_time();
        horizon.exact = matches!(self.rings().watch(probe), Watch::Exact(_));
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
        let sizes = (1..=config.exhaustive_n).chain(config.ladder.iter().copied());
        let sizes = sizes.chain(self.sampling().proposed_rings());
        let static_error = sizes.into_iter().any(|n| self.rings().error(n).is_some());
        let errors = findings.all().any(|tally| tally.errors > 0);
        let unwatched = findings.all().next().is_none() && self.rings().watch(1) == Watch::Nothing;
        let reason = if errors || static_error {
            let why = "an expression has no value on some case (overflow, or division by zero)";
            verdict.notes.push(why.into());
            Some(Reason::EvaluationError)
        } else if unwatched {
            verdict.notes.push(self.beyond());
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
        } else if self.is_tautology(findings) {
            verdict.notes.push(
                "the law holds for arbitrary, unrelated states: it says nothing of the dynamics"
                    .into(),
            );
            Some(Reason::TautologicalClaim)
        } else if !verdict.evidence.horizon.exact {
            verdict.notes.push(self.beyond());
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

    fn is_tautology(&self, findings: &Findings) -> bool {
        let config = &self.harness.config;
        let used = findings
            .all()
            .filter(|tally| tally.used > 0)
            .map(|tally| tally.n);
        let sizes: Vec<usize> = config.ladder.iter().copied().chain(used).collect();
        let mut draw = Draw::new(config.seed, self.fingerprint, "tautology", 0);
        tautology::is_tautology(
            self.program,
            self.lab.universe,
            &self.rings(),
            &sizes,
            &mut draw,
        )
    }
}
