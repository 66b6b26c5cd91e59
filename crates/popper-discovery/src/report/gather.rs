//! The report of a run, made from its rows.

use std::collections::{BTreeMap, BTreeSet};

use popper_harness::conserved::span;
use popper_harness::decide::{Evidence, Status};
use popper_harness::law::Problem;
use popper_harness::universe::{Tabulated, Universe};
use serde_json::Value;

use super::diagram::diagrams;
use super::discovery_report::{
    Calls, DiscoveryReport, Judged, Point, ProposalTurn, REPORT_VERSION, Ranking, RecallReport,
    Refutation, Rejected, RejectionReason, TurnPlan,
};
use super::wording::Wording;
use crate::error::Error;
use crate::recall::Recall;
use crate::snapshot::{RunConfig, Summary, Verdicts, needs};
use crate::store::{
    CallRow, CounterexampleRow, Iteration, LawFilter, LawRow, LawStatus, Pick, Query, RunRow,
    Store, TestedLaw, UsageRow,
};

/// Counterexamples that are drawn.
pub(super) const DRAWN: usize = 100;
/// Window widths for which recall is measured.
const WIDTHS: [usize; 2] = [1, 2];
/// Characters of a rejected proposal that are kept.
const RAW: usize = 2_000;

impl DiscoveryReport {
    /// Reads a run from its store.
    ///
    /// # Errors
    /// Those of the store, and [`Error::Row`] when a row does not hold what this program writes.
    pub async fn gather(store: &mut impl Store, run: &RunRow) -> Result<Self, Error> {
        let runs = |error: String| Error::row("runs", run.id, "config_json", error);
        let config: RunConfig = Error::json("runs", run.id, "config_json", &run.config_json)?;
        let universe =
            Tabulated::from_value(&config.universe).map_err(|error| runs(error.to_string()))?;
        let iterations = store.iterations(run.id, Pick::All).await?;
        let mut findings = store.findings(Query::all(run)).await?;
        let broken = [LawStatus::RejectedSchema];
        let broken = store.laws(run.id, LawFilter::statuses(&broken)).await?;
        let waiting = [LawStatus::Proposed, LawStatus::Queued];
        let waiting = store.laws(run.id, LawFilter::statuses(&waiting)).await?;
        let calls = store.calls(run.id, None).await?;

        let numbers: BTreeMap<i64, u32> = (iterations.iter())
            .map(|iteration| (iteration.id, iteration.iteration_index))
            .collect();
        let mut laws = (findings.iter())
            .map(|finding| judged(finding, run, &numbers))
            .collect::<Result<Vec<_>, _>>()?;
        laws.sort_by_key(place);
        draw(&mut laws)?;
        // What other runs knew was there before anything was tested here.
        findings.sort_by_key(|finding| came(finding, run));
        let recall = WIDTHS.map(|width| reach(width, &universe, &findings));
        let recall: Vec<RecallReport> = recall.into_iter().collect::<Result<_, _>>()?;
        let (turns, ranking) = turns(&iterations)?;
        Ok(Self {
            schema_version: REPORT_VERSION.to_owned(),
            run: run.clone(),
            symbols: universe.alphabet().chars().to_vec(),
            config,
            verdicts: counted(findings.iter().map(|finding| finding.evaluation.status)),
            laws,
            rejected: (broken.iter())
                .map(|law| rejected(law, &numbers))
                .collect::<Result<_, _>>()?,
            waiting: waiting.len() as u64,
            iterations: turns,
            ranking,
            calls: summed(&calls)?,
            curve: curve(&findings, run, &recall),
            recall,
        })
    }
}

fn counted(verdicts: impl Iterator<Item = Status>) -> Verdicts {
    let mut counted = Verdicts::default();
    verdicts.for_each(|status| counted.count(status));
    counted
}

fn own(finding: &TestedLaw, run: &RunRow) -> bool {
    finding.evaluation.run_id == run.id
}

/// The sort key of a tested law in the order of time.
fn came(finding: &TestedLaw, run: &RunRow) -> (bool, i64) {
    if own(finding, run) {
        (true, finding.evaluation.id)
    } else {
        (false, finding.law.id)
    }
}

fn judged(
    finding: &TestedLaw,
    run: &RunRow,
    numbers: &BTreeMap<i64, u32>,
) -> Result<Judged, Error> {
    let (law, evaluation) = (&finding.law, &finding.evaluation);
    let normal: Value = Error::json("laws", law.id, "normalized_json", &law.normalized_json)?;
    let table = "law_evaluations";
    let id = evaluation.id;
    let evidence: Evidence = Error::json(table, id, "evidence_json", &evaluation.evidence_json)?;
    let power = Error::json(
        table,
        id,
        "power_metrics_json",
        &evaluation.power_metrics_json,
    )?;
    let refutation = refutation(finding)?;
    if (evaluation.status == Status::Fail) != refutation.is_some() {
        let message = "a FAIL has a counterexample, and nothing else has one";
        return Err(Error::row(table, id, "counterexample_id", message));
    }
    let reason = evaluation.reason_code.clone();
    Ok(Judged {
        id: law.id,
        law_id: law.law_id.clone(),
        law_fingerprint: law.law_fingerprint.clone(),
        template: law.template.clone(),
        wording: Wording::of(&normal),
        claim: law.claim_text.clone(),
        forbidden: law.forbidden_text.clone(),
        iteration: numbers.get(&law.created_iteration_id).copied(),
        evaluation_id: id,
        own: own(finding, run),
        seed: evaluation.seed,
        status: evaluation.status,
        needs: reason.as_deref().map(|reason| needs(reason).to_owned()),
        reason,
        evidence,
        power,
        notes: evaluation.all_notes(),
        refutation,
    })
}

fn refutation(finding: &TestedLaw) -> Result<Option<Refutation>, Error> {
    let Some(CounterexampleRow { id, .. }) = finding.counterexample else {
        return Ok(None);
    };
    Ok(finding.package()?.map(|package| Refutation {
        id,
        package,
        diagrams: Vec::new(),
    }))
}

/// Draws the first counterexamples.
fn draw(laws: &mut [Judged]) -> Result<(), Error> {
    let refutations = laws.iter_mut().filter_map(|law| law.refutation.as_mut());
    for refutation in refutations.take(DRAWN) {
        refutation.diagrams = diagrams(&refutation.package, refutation.id)?;
    }
    Ok(())
}

/// The sort key of a law: accepted ones by strength, then refuted ones, then undecided ones by reason.
fn place(law: &Judged) -> (u8, u8, String) {
    use popper_harness::decide::Strength::{Exhaustive, Proved, Sampled};
    match law.status {
        Status::Pass => {
            let strength = match law.evidence.strength {
                Some(Proved) => 0,
                Some(Exhaustive) => 1,
                Some(Sampled) => 2,
                None => 3,
            };
            (0, strength, String::new())
        }
        Status::Fail => (1, 0, String::new()),
        Status::Unknown => (2, 0, law.reason.clone().unwrap_or_default()),
    }
}

fn rejected(law: &LawRow, numbers: &BTreeMap<i64, u32>) -> Result<Rejected, Error> {
    let problems = law.problems()?.into_iter();
    Ok(Rejected {
        id: law.id,
        law_id: law.law_id.clone(),
        iteration: numbers.get(&law.created_iteration_id).copied(),
        problems: problems
            .map(|Problem { path, message, .. }| RejectionReason { path, message })
            .collect(),
        raw: law.raw_llm_json.chars().take(RAW).collect(),
        raw_characters: law.raw_llm_json.chars().count() as u64,
    })
}

fn turns(iterations: &[Iteration]) -> Result<(Vec<ProposalTurn>, Option<Ranking>), Error> {
    let mut ranking = None;
    let mut noted: Option<String> = None;
    let mut turns = Vec::with_capacity(iterations.len());
    for iteration in iterations {
        let mut plan = None;
        if let Some(json) = &iteration.summary_json {
            let summary: Summary = Error::json("iterations", iteration.id, "summary_json", json)?;
            let log = summary.research_log.filter(|log| !log.trim().is_empty());
            let research_log = log.filter(|log| noted.as_ref() != Some(log));
            if research_log.is_some() {
                noted.clone_from(&research_log);
            }
            plan = Some(TurnPlan {
                proposed: summary.proposed,
                rejected: summary.rejected,
                duplicates: summary.duplicates,
                known: summary.known.len() as u64,
                selected: summary.selected.len() as u64,
                verdicts: summary.verdicts,
                research_log,
                problem: summary.problem,
            });
            let selected: BTreeSet<String> = (summary.selected.into_iter())
                .map(|selected| selected.law_fingerprint)
                .collect();
            ranking = Some(Ranking {
                iteration: iteration.iteration_index,
                laws: summary.ranking,
                selected,
            });
        }
        turns.push(ProposalTurn {
            index: iteration.iteration_index,
            status: iteration.status,
            started_at: iteration.started_at,
            completed_at: iteration.completed_at,
            prompt_hash: iteration.prompt_hash.clone(),
            plan,
        });
    }
    Ok((turns, ranking))
}

fn summed(rows: &[CallRow]) -> Result<Calls, Error> {
    let mut calls = Calls::default();
    for row in rows {
        let usage: UsageRow = Error::json("llm_calls", row.id, "usage_json", &row.call.usage_json)?;
        calls.count += 1;
        calls.models.insert(row.call.model_id.clone());
        let (input, output) = (usage.input_tokens, usage.output_tokens);
        calls.uncounted += u64::from(input.is_none() || output.is_none());
        calls.input_tokens = calls.input_tokens.saturating_add(input.unwrap_or(0));
        calls.output_tokens = calls.output_tokens.saturating_add(output.unwrap_or(0));
        calls.unpriced += u64::from(usage.nano_usd.is_none());
        calls.nano_usd = calls.nano_usd.saturating_add(usage.nano_usd.unwrap_or(0));
    }
    Ok(calls)
}

fn reach(
    width: usize,
    universe: &Tabulated,
    findings: &[TestedLaw],
) -> Result<RecallReport, Error> {
    let (recall, problem) = match span(universe, width) {
        Ok(span) => (Some(Recall::measure(&span, universe, findings)?), None),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(RecallReport {
        width,
        recall,
        problem,
    })
}

/// Returns a point after each attempt of the run itself.
fn curve(findings: &[TestedLaw], run: &RunRow, recall: &[RecallReport]) -> Vec<Point> {
    let widest = recall.iter().rev().find_map(|reach| reach.recall.as_ref());
    let inside = widest.map_or(&[][..], |recall| &recall.inside);
    let new: BTreeSet<&str> = (inside.iter())
        .filter(|stated| stated.new)
        .map(|stated| stated.law_fingerprint.as_str())
        .collect();
    let mut point = Point {
        verdicts: Verdicts::default(),
        found: 0,
    };
    let mut points = Vec::new();
    for finding in findings {
        point.found += u64::from(new.contains(finding.law.law_fingerprint.as_str()));
        if own(finding, run) {
            point.verdicts.count(finding.evaluation.status);
            points.push(point);
        }
    }
    points
}
