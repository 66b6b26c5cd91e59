//! The status of a run: its iterations, laws, verdicts and cost.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::error::Error;
use crate::snapshot::{Selected, Summary};
use crate::store::{
    AttemptFilter, Iteration, IterationStatus, LawFilter, LawStatus, Pick, RowPage, RunCost,
    RunRow, Store, VerdictCounts,
};

/// The status of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunStatus {
    /// The key of the run.
    pub run_id: i64,
    /// The time at which the run began.
    pub created_at: Timestamp,
    /// The name of the universe.
    pub universe_id: String,
    /// The universe's `definition_hash`.
    pub sim_hash: String,
    /// `Harness::config_hash` at the start.
    pub harness_config_hash: String,
    /// The proposer's id.
    pub proposer: String,
    /// The number of completed iterations.
    pub iterations: u32,
    /// The last iteration. `None` before the first.
    pub last_iteration: Option<LastIteration>,
    /// Laws by status.
    pub laws: BTreeMap<LawStatus, u64>,
    /// The laws beyond those that wait. They are `queued`, as the selected laws of an open iteration.
    pub shelved: u64,
    /// Tested laws by verdict and reason.
    pub verdicts: Vec<VerdictCount>,
    /// The number of attempts of this run itself.
    pub evaluations: u64,
    /// The cost of the run's model calls.
    pub cost: RunCost,
}

/// The status of the last iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LastIteration {
    /// The number of the iteration within the run, from 1.
    pub iteration_index: u32,
    /// The status of the iteration.
    pub status: IterationStatus,
    /// The time at which the iteration began.
    pub started_at: Timestamp,
    /// The time at which the iteration was completed.
    pub completed_at: Option<Timestamp>,
    /// The number of laws to test. `None` before they are selected.
    pub selected: Option<usize>,
    /// The number of these laws that are decided.
    pub decided: usize,
}

/// The number of laws with a verdict and a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VerdictCount {
    /// The verdict.
    pub verdict: String,
    /// The reason code of the verdict UNKNOWN.
    pub reason: Option<String>,
    /// The number of laws.
    pub laws: u64,
}

impl RunStatus {
    /// Reads the status of a run, also of one that another process works on.
    ///
    /// # Errors
    /// Those of the store, and [`Error::Row`] when a row does not hold what this program writes.
    pub async fn read(store: &mut impl Store, run: &RunRow) -> Result<Self, Error> {
        let last_iteration = match store.iterations(run.id, Pick::Last).await?.last() {
            Some(last) => Some(LastIteration::read(store, run, last).await?),
            None => None,
        };
        let VerdictCounts {
            laws,
            verdicts,
            evaluations,
        } = store.tally(run).await?;
        let count = |((verdict, reason), laws)| VerdictCount {
            verdict,
            reason,
            laws,
        };
        Ok(Self {
            run_id: run.id,
            created_at: run.created_at,
            universe_id: run.universe_id.clone(),
            sim_hash: run.sim_hash.clone(),
            harness_config_hash: run.harness_hash.clone(),
            proposer: run.discovery_model_id.clone(),
            iterations: completed(store, run).await?,
            shelved: shelved(&laws, last_iteration.as_ref()),
            last_iteration,
            laws,
            verdicts: verdicts.into_iter().map(count).collect(),
            evaluations,
            cost: RunCost::read(store, run.id).await?,
        })
    }
}

/// Iterations that are read at once: each has a summary of some kilobytes.
const ROWS: u32 = 50;

/// Returns the number of completed iterations.
async fn completed(store: &mut impl Store, run: &RunRow) -> Result<u32, Error> {
    let is_completed = |one: &&Iteration| one.status == IterationStatus::Completed;
    let mut completed = 0;
    let mut next = Some(RowPage::first(ROWS));
    while let Some(page) = next {
        let rows = store.iteration_page(run.id, page).await?;
        completed += rows.iter().filter(is_completed).count() as u32;
        next = page.next(&rows, |row| i64::from(row.iteration_index));
    }
    Ok(completed)
}

/// The queued laws but those that the last iteration still has to decide.
fn shelved(laws: &BTreeMap<LawStatus, u64>, last: Option<&LastIteration>) -> u64 {
    let queued = laws.get(&LawStatus::Queued).copied().unwrap_or(0);
    let open = last
        .filter(|last| last.status != IterationStatus::Completed)
        .and_then(|last| Some(last.selected?.saturating_sub(last.decided)));
    queued.saturating_sub(open.unwrap_or(0) as u64)
}

impl LastIteration {
    async fn read(
        store: &mut impl Store,
        run: &RunRow,
        iteration: &Iteration,
    ) -> Result<Self, Error> {
        let summary: Option<Summary> = match &iteration.summary_json {
            None => None,
            Some(json) => Some(serde_json::from_str(json).map_err(|error| Error::Row {
                table: "iterations",
                id: iteration.id,
                column: "summary_json",
                message: error.to_string(),
            })?),
        };
        let decided = match &summary {
            None => 0,
            Some(summary) => decided(store, run, &summary.selected).await?,
        };
        Ok(Self {
            iteration_index: iteration.iteration_index,
            status: iteration.status,
            started_at: iteration.started_at,
            completed_at: iteration.completed_at,
            selected: summary.map(|summary| summary.selected.len()),
            decided,
        })
    }
}

/// Returns the number of selected laws that are decided.
async fn decided(
    store: &mut impl Store,
    run: &RunRow,
    selected: &[Selected],
) -> Result<usize, Error> {
    let fingerprints = selected.iter().map(|law| law.law_fingerprint.clone());
    let fingerprints: Vec<String> = fingerprints.collect();
    let laws = store
        .laws(run.id, LawFilter::Fingerprints(&fingerprints))
        .await?;
    let ids: Vec<i64> = laws.iter().map(|law| law.id).collect();
    let filter = AttemptFilter::Run {
        run_id: run.id,
        law_ids: &ids,
        harness_config_hash: &run.harness_hash,
    };
    let made = store.attempts(filter).await?;
    let is_made = |law: &&Selected| {
        let mut rows = laws.iter();
        let row = rows.find(|row| row.law_fingerprint == law.law_fingerprint);
        row.is_some_and(|row| {
            made.iter()
                .any(|made| (made.law_id, made.seed) == (row.id, law.seed))
        })
    };
    Ok(selected.iter().filter(is_made).count())
}
