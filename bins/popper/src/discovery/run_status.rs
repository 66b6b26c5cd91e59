//! The status of a run: its iterations, laws, verdicts and cost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use bin_support::Failure;
use jiff::Timestamp;
use popper_discovery::store::{
    Iteration, IterationStatus, LawStatus, RunRow, Store, VerdictCounts,
};
use popper_discovery::{Error, Summary};
use serde::Serialize;

use super::cost::Cost;
use super::database::{failure, ledger};
use bin_support::escape;

/// The status of a run, in the form that `--json` prints.
#[derive(Debug, Serialize)]
pub struct RunStatus {
    pub run_id: i64,
    pub created_at: Timestamp,
    pub universe_id: String,
    pub sim_hash: String,
    pub harness_config_hash: String,
    pub proposer: String,
    /// Number of completed iterations.
    pub iterations: u32,
    pub last_iteration: Option<LastIteration>,
    pub laws: BTreeMap<LawStatus, u64>,
    pub verdicts: Vec<Verdicts>,
    /// Number of attempts of this run itself.
    pub evaluations: u64,
    pub cost: Cost,
}

/// The status of the last iteration.
#[derive(Debug, Serialize)]
pub struct LastIteration {
    pub iteration_index: u32,
    pub status: IterationStatus,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    /// Number of laws to test, once they are selected.
    pub selected: Option<usize>,
    /// Number of these laws that are decided.
    pub decided: usize,
}

/// The number of laws with a verdict and a reason.
#[derive(Debug, Serialize)]
pub struct Verdicts {
    pub verdict: String,
    pub reason: Option<String>,
    pub laws: u64,
}

/// Returns the status of a run of the database at `db`, with the attempts without a reply in its ledger.
pub async fn run_status(
    store: &mut impl Store,
    run: &RunRow,
    db: &Path,
) -> Result<RunStatus, Failure> {
    let mut status = RunStatus::of(store, run).await.map_err(failure)?;
    let spend = ledger(db, run.id).spent().map_err(Failure::usage)?;
    status.cost.unsettled = spend.unsettled;
    status.cost.uncertain_nano_usd = spend.uncertain.0;
    Ok(status)
}

impl RunStatus {
    async fn of(store: &mut impl Store, run: &RunRow) -> Result<Self, Error> {
        let iterations = store.iterations(run.id, None).await?;
        let completed = iterations
            .iter()
            .filter(|iteration| iteration.status == IterationStatus::Completed);
        let completed = completed.count() as u32;
        let last_iteration = match iterations.last() {
            Some(last) => Some(LastIteration::of(store, run, last).await?),
            None => None,
        };
        let VerdictCounts {
            laws,
            verdicts,
            evaluations,
        } = store.tally(run).await?;
        let verdicts = verdicts
            .into_iter()
            .map(|((verdict, reason), laws)| Verdicts {
                verdict,
                reason,
                laws,
            });
        Ok(Self {
            run_id: run.id,
            created_at: run.created_at,
            universe_id: run.universe_id.clone(),
            sim_hash: run.sim_hash.clone(),
            harness_config_hash: run.harness_hash.clone(),
            proposer: run.discovery_model_id.clone(),
            iterations: completed,
            last_iteration,
            laws,
            verdicts: verdicts.collect(),
            evaluations,
            cost: Cost::of(&store.calls(run.id, None).await?),
        })
    }

    /// Returns the status in lines for people.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<11}{value}");
        };
        let of = format!("{}, {}", self.universe_id, self.proposer);
        line("run", &format!("{}: {}", self.run_id, escape(&of)));
        line("begun", &self.created_at.to_string());
        line("iterations", &format!("{} completed", self.iterations));
        let last = self.last_iteration.as_ref();
        line(
            "last",
            &last.map_or_else(|| "none".to_owned(), LastIteration::words),
        );
        line("laws", &self.law_words());
        line("verdicts", &self.verdict_words());
        line(
            "attempts",
            &format!("{} made by this run", self.evaluations),
        );
        line("cost", &self.cost.to_string());
        text
    }

    /// The laws by status: `60 proposed: 30 tested, 30 waiting`.
    fn law_words(&self) -> String {
        let count = |status| self.laws.get(&status).copied().unwrap_or(0);
        let waiting = count(LawStatus::Proposed) + count(LawStatus::Queued);
        let parts: Vec<String> = [
            (count(LawStatus::Tested), "tested"),
            (waiting, "waiting"),
            (count(LawStatus::RejectedSchema), "rejected"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        let all = self.laws.values().sum::<u64>();
        if parts.is_empty() {
            format!("{all} proposed")
        } else {
            format!("{all} proposed: {}", parts.join(", "))
        }
    }

    /// The verdicts: `14 PASS, 20 FAIL, 6 UNKNOWN (4 vacuous_pass, 2 tautological_claim)`.
    fn verdict_words(&self) -> String {
        let words = ["PASS", "FAIL", "UNKNOWN"].map(|verdict| {
            let of_it = || self.verdicts.iter().filter(|one| one.verdict == verdict);
            let count: u64 = of_it().map(|one| one.laws).sum();
            let reasons: Vec<String> = of_it()
                .filter_map(|one| Some(format!("{} {}", one.laws, one.reason.as_ref()?)))
                .collect();
            if reasons.is_empty() {
                format!("{count} {verdict}")
            } else {
                format!("{count} {verdict} ({})", escape(&reasons.join(", ")))
            }
        });
        words.join(", ")
    }
}

impl LastIteration {
    async fn of(
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
            Some(summary) => decided(store, run, summary).await?,
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

    fn words(&self) -> String {
        let index = self.iteration_index;
        let progress = match self.selected {
            None => "no laws chosen yet".to_owned(),
            Some(selected) => format!("{} of {selected} laws decided", self.decided),
        };
        match (self.status, self.completed_at) {
            (IterationStatus::Completed, Some(at)) => format!("iteration {index} completed {at}"),
            (IterationStatus::Completed, None) => format!("iteration {index} completed"),
            (IterationStatus::Running, _) => {
                format!("iteration {index} running, or killed: {progress}")
            }
            (IterationStatus::Aborted, _) => format!("iteration {index} aborted: {progress}"),
        }
    }
}

/// Returns the number of selected laws that are decided.
async fn decided(store: &mut impl Store, run: &RunRow, summary: &Summary) -> Result<usize, Error> {
    let selected = || summary.selected.iter();
    let fingerprints: Vec<String> = selected().map(|law| law.law_fingerprint.clone()).collect();
    let laws = store.laws_by_fingerprint(run.id, &fingerprints).await?;
    let ids: Vec<i64> = laws.iter().map(|law| law.id).collect();
    let made = store.attempts_of(run.id, &ids, &run.harness_hash).await?;
    let is_made = |law: &&popper_discovery::Selected| {
        let row = laws
            .iter()
            .find(|row| row.law_fingerprint == law.law_fingerprint);
        row.is_some_and(|row| {
            made.iter()
                .any(|made| (made.law_id, made.seed) == (row.id, law.seed))
        })
    };
    Ok(selected().filter(is_made).count())
}
