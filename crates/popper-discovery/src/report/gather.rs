//! The report of a run, made from its rows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use popper_harness::decide::{Evidence, Status};
use popper_harness::law::Problem;
use popper_harness::universe::{Tabulated, Universe};
use serde_json::Value;

use super::diagram::diagrams;
use super::discovery_report::{
    Calls, DiscoveryReport, Judged, ProposalTurn, REPORT_VERSION, Ranking, Refutation, Rejected,
    RejectionReason, TurnPlan,
};
use super::survey::Survey;
use super::wording::Wording;
use crate::discovery::status_text;
use crate::error::Error;
use crate::snapshot::{RunConfig, Summary, Verdicts, needs};
use crate::store::{
    CallRow, CounterexampleRow, Iteration, IterationStatus, LawFilter, LawRow, LawStatus, Query,
    RowPage, RunRow, Store, TestedLaw, UsageRow, VerdictCounts,
};

/// Counterexamples that are drawn.
pub(super) const DRAWN: usize = 100;
/// Laws, invalid proposals and iterations of the report, the newest ones.
const LAWS: u32 = 500;
/// Iterations, or calls, that are read at once: a row has the summary of an iteration, or a prompt with its reply.
const LARGE_ROWS: u32 = 50;
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
        store.begin_reading().await?;
        let read = Self::read(store, run, config, &universe).await;
        let ended = store.end_reading().await;
        let report = read?;
        ended?;
        Ok(report)
    }

    async fn read(
        store: &mut impl Store,
        run: &RunRow,
        config: RunConfig,
        universe: &Tabulated,
    ) -> Result<Self, Error> {
        let VerdictCounts { laws, verdicts, .. } = store.tally(run).await?;
        let count = |status| laws.get(&status).copied().unwrap_or(0);
        let turns = Turns::read(store, run).await?;
        let newest = store.findings(Query::newest(run, None, LAWS)).await?;
        let broken = LawFilter::Statuses {
            statuses: &[LawStatus::RejectedSchema],
            newest: Some(LAWS),
        };
        let broken = store.laws(run.id, broken).await?;
        let mut judged = (newest.iter())
            .map(|finding| judged(finding, run, &turns.numbers))
            .collect::<Result<Vec<_>, _>>()?;
        judged.sort_by_key(place);
        draw(&mut judged)?;
        let survey = Survey::read(store, run, universe).await?;
        Ok(Self {
            schema_version: REPORT_VERSION.to_owned(),
            run: run.clone(),
            symbols: universe.alphabet().chars().to_vec(),
            config,
            verdicts: summed(&verdicts),
            known: survey.known,
            laws: judged,
            invalid: count(LawStatus::RejectedSchema),
            rejected: (broken.iter())
                .map(|law| rejected(law, &turns.numbers))
                .collect::<Result<_, _>>()?,
            waiting: count(LawStatus::Proposed) + count(LawStatus::Queued),
            completed: turns.completed,
            iterations: turns.newest.into(),
            ranking: turns.ranking,
            calls: calls(store, run).await?,
            curve: survey.curve,
            recall: survey.recall,
        })
    }
}

/// The laws by verdict, whatever their reasons.
fn summed(counts: &BTreeMap<(String, Option<String>), u64>) -> Verdicts {
    let count = |status| {
        let of_it = counts.iter();
        let of_it = of_it.filter(|((verdict, _), _)| verdict == status_text(status));
        of_it.map(|(_, laws)| laws).sum()
    };
    Verdicts {
        pass: count(Status::Pass),
        fail: count(Status::Fail),
        unknown: count(Status::Unknown),
    }
}

fn own(finding: &TestedLaw, run: &RunRow) -> bool {
    finding.evaluation.run_id == run.id
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

/// The iterations of a run.
#[derive(Default)]
struct Turns {
    completed: u64,
    /// The numbers of the iterations by their keys.
    numbers: BTreeMap<i64, u32>,
    newest: VecDeque<ProposalTurn>,
    ranking: Option<Ranking>,
    /// The last research log.
    noted: Option<String>,
}

impl Turns {
    async fn read(store: &mut impl Store, run: &RunRow) -> Result<Self, Error> {
        let mut turns = Self::default();
        let mut next = Some(RowPage::first(LARGE_ROWS));
        while let Some(page) = next {
            let rows = store.iteration_page(run.id, page).await?;
            next = page.next(&rows, |row| i64::from(row.iteration_index));
            for row in rows {
                turns.add(row)?;
            }
        }
        Ok(turns)
    }

    fn add(&mut self, iteration: Iteration) -> Result<(), Error> {
        let mut plan = None;
        if let Some(json) = &iteration.summary_json {
            let summary: Summary = Error::json("iterations", iteration.id, "summary_json", json)?;
            let log = summary.research_log.filter(|log| !log.trim().is_empty());
            let research_log = log.filter(|log| self.noted.as_ref() != Some(log));
            if research_log.is_some() {
                self.noted.clone_from(&research_log);
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
            self.ranking = Some(Ranking {
                iteration: iteration.iteration_index,
                laws: summary.ranking,
                selected,
            });
        }
        let index = iteration.iteration_index;
        self.numbers.insert(iteration.id, index);
        self.completed += u64::from(iteration.status == IterationStatus::Completed);
        if self.newest.len() == LAWS as usize {
            self.newest.pop_front();
        }
        self.newest.push_back(ProposalTurn {
            index,
            status: iteration.status,
            started_at: iteration.started_at,
            completed_at: iteration.completed_at,
            prompt_hash: iteration.prompt_hash,
            plan,
        });
        Ok(())
    }
}

/// Sums up the calls of a run.
async fn calls(store: &mut impl Store, run: &RunRow) -> Result<Calls, Error> {
    let mut calls = Calls::default();
    let mut next = Some(RowPage::first(LARGE_ROWS));
    while let Some(page) = next {
        let rows = store.call_page(run.id, page).await?;
        next = page.next(&rows, |row| row.id);
        for row in &rows {
            add_call(&mut calls, row)?;
        }
    }
    Ok(calls)
}

fn add_call(calls: &mut Calls, row: &CallRow) -> Result<(), Error> {
    let usage: UsageRow = Error::json("llm_calls", row.id, "usage_json", &row.call.usage_json)?;
    calls.count += 1;
    calls.models.insert(row.call.model_id.clone());
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    calls.uncounted += u64::from(input.is_none() || output.is_none());
    calls.input_tokens = calls.input_tokens.saturating_add(input.unwrap_or(0));
    calls.output_tokens = calls.output_tokens.saturating_add(output.unwrap_or(0));
    calls.unpriced += u64::from(usage.nano_usd.is_none());
    calls.nano_usd = calls.nano_usd.saturating_add(usage.nano_usd.unwrap_or(0));
    Ok(())
}
