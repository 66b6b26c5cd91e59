//! Where the loop remembers: a trait with what the loop asks of a database.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use jiff::Timestamp;
use popper_harness::decide::Status;
use serde::Serialize;

use super::row::{
    CallRow, CapabilityRow, CounterexampleRow, EvaluationRow, Iteration, IterationStatus, LawRow,
    LawStatus, RunRow, VerdictKey,
};

/// Why the store did not do what it was asked. Nothing is half-written then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process works with it.
    #[error("{place}: in use by another process; let it finish or stop it, then try again")]
    Locked {
        /// The file or address.
        place: String,
    },
    /// It may not be written.
    #[error(
        "{place}: read-only; give yourself the right to write it and its folder, or choose another place"
    )]
    ReadOnly {
        /// The file or address.
        place: String,
    },
    /// There is no room.
    #[error("{place}: the disk is full; make room and resume, all that was committed is there")]
    Full {
        /// The file or address.
        place: String,
    },
    /// It is damaged, or no database.
    #[error("{place}: not a sound database ({message}); restore a copy, or choose another file")]
    Corrupt {
        /// The file or address.
        place: String,
        /// What was found.
        message: String,
    },
    /// A later program made it.
    #[error(
        "{place}: made by a newer program (schema {found}, this one knows {known}); use that program"
    )]
    Newer {
        /// The file or address.
        place: String,
        /// The schema it has.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
    /// There is no such file, and none was to be made.
    #[error("{place}: there is no database")]
    Missing {
        /// The file or address.
        place: String,
    },
    /// A column holds what this program never writes there.
    #[error("{table} {id}: column {column}: {message}")]
    Column {
        /// The table.
        table: &'static str,
        /// The row.
        id: i64,
        /// The column.
        column: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// The same law, configuration and seed gave two verdicts: the harness is not deterministic, or the database was edited.
    #[error(
        "law {law_fingerprint}, seed {seed}: the stored verdict has digest {stored}, the new one {new}: one of them is wrong"
    )]
    Contradiction {
        /// The law.
        law_fingerprint: String,
        /// The seed of both.
        seed: u64,
        /// The digest in the database.
        stored: String,
        /// The digest of the verdict that was to be stored.
        new: String,
    },
    /// Anything else that the database says.
    #[error("{place}")]
    Database {
        /// The file or address.
        place: String,
        /// What it says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// All that an iteration decides before it tests: stored in one transaction.
#[derive(Debug, Clone)]
pub struct IterationPlan {
    /// The iteration.
    pub iteration_id: i64,
    /// The proposals, in the proposer's order; `created_iteration_id` and `run_id` are set.
    pub laws: Vec<LawRow>,
    /// Laws of the run that were stored before, by key, with their new status.
    pub moved: Vec<(i64, LawStatus)>,
    /// sha256 of the prompt.
    pub prompt_hash: Option<String>,
    /// The [`Summary`](crate::Summary) so far.
    pub summary_json: String,
}

/// A new status of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark<'a> {
    /// The run continues with it.
    Running,
    /// The run was stopped in it.
    Aborted,
    /// All selected laws are decided.
    Completed {
        /// The time.
        at: Timestamp,
        /// The whole [`Summary`](crate::Summary).
        summary_json: &'a str,
    },
}

impl Mark<'_> {
    /// The status that it sets.
    pub fn status(self) -> IterationStatus {
        match self {
            Self::Running => IterationStatus::Running,
            Self::Aborted => IterationStatus::Aborted,
            Self::Completed { .. } => IterationStatus::Completed,
        }
    }
}

/// A decided law with all that belongs to it: stored whole or not at all.
#[derive(Debug, Clone)]
pub struct DecisionRow {
    /// The attempt. `counterexample_id` is set by the store.
    pub evaluation: EvaluationRow,
    /// The refutation. `law_evaluation_id` is set by the store.
    pub counterexample: Option<CounterexampleRow>,
    /// What becomes of the law.
    pub law_status: LawStatus,
    /// The entry in `verdict_keys`; none for an attempt that does not count as tested. `evaluation_id` is set by the store.
    pub key: Option<VerdictKey>,
    /// The law, for messages.
    pub law_fingerprint: String,
    /// The digest of the verdict.
    pub verdict_digest: String,
}

/// What the store knows of a law's trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestedLaw {
    /// The law.
    pub law: LawRow,
    /// The attempt that counts, of whichever run.
    pub evaluation: EvaluationRow,
    /// The refutation, if it is one.
    pub counterexample: Option<CounterexampleRow>,
}

/// Which findings of a run.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The run.
    pub run: &'a RunRow,
    /// Only these verdicts.
    pub status: Option<Status>,
    /// Only so many, the ones whose laws were stored last.
    pub newest: Option<u32>,
}

impl<'a> Query<'a> {
    /// All findings of a run.
    pub fn all(run: &'a RunRow) -> Self {
        Self {
            run,
            status: None,
            newest: None,
        }
    }
}

/// How a run stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    /// Laws by status.
    pub laws: BTreeMap<LawStatus, u64>,
    /// Findings by verdict and reason.
    pub verdicts: BTreeMap<(String, Option<String>), u64>,
    /// Attempts that this run made itself.
    pub evaluations: u64,
}

/// An attempt that was made: the law's key, the seed, and the verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The key of the law in `laws`.
    pub law_id: i64,
    /// The seed.
    pub seed: u64,
    /// The verdict.
    pub status: Status,
}

/// A memory for runs.
///
/// Every method that writes is one transaction: when it answers, all of it is durable; when it fails, none of it is there.
/// One process at a time holds a store for writing.
pub trait Store: Send {
    /// Stores a run and answers its key.
    fn create_run(&mut self, run: &RunRow) -> impl Future<Output = Result<i64, StoreError>> + Send;

    /// All runs, newest first.
    fn runs(&mut self) -> impl Future<Output = Result<Vec<RunRow>, StoreError>> + Send;

    /// The iterations of a run in order, all or the `newest` ones.
    fn iterations(
        &mut self,
        run_id: i64,
        newest: Option<u32>,
    ) -> impl Future<Output = Result<Vec<Iteration>, StoreError>> + Send;

    /// Stores an iteration as running, with the capabilities where they differ from the last ones of the run; answers its key.
    fn begin_iteration(
        &mut self,
        iteration: &Iteration,
        capabilities: &CapabilityRow,
    ) -> impl Future<Output = Result<i64, StoreError>> + Send;

    /// Sets the status of an iteration.
    fn mark_iteration(
        &mut self,
        iteration_id: i64,
        mark: Mark<'_>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores what an iteration proposes and chooses.
    fn plan_iteration(
        &mut self,
        plan: &IterationPlan,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores a call.
    fn add_call(&mut self, call: &CallRow) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The calls of a run, or of one of its iterations, in order.
    fn calls(
        &mut self,
        run_id: i64,
        iteration_id: Option<i64>,
    ) -> impl Future<Output = Result<Vec<CallRow>, StoreError>> + Send;

    /// The fingerprints of all laws of a run.
    fn fingerprints(
        &mut self,
        run_id: i64,
    ) -> impl Future<Output = Result<BTreeSet<String>, StoreError>> + Send;

    /// The laws of a run with these fingerprints, in the order in which they were stored.
    fn laws_by_fingerprint(
        &mut self,
        run_id: i64,
        fingerprints: &[String],
    ) -> impl Future<Output = Result<Vec<LawRow>, StoreError>> + Send;

    /// The laws of a run with one of these statuses, the `newest` stored last, in the order in which they were stored.
    fn laws_by_status(
        &mut self,
        run_id: i64,
        statuses: &[LawStatus],
        newest: Option<u32>,
    ) -> impl Future<Output = Result<Vec<LawRow>, StoreError>> + Send;

    /// What is decided of these laws, by fingerprint, in any run.
    fn known(
        &mut self,
        fingerprints: &[String],
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> impl Future<Output = Result<BTreeMap<String, VerdictKey>, StoreError>> + Send;

    /// The attempts at a law, by fingerprint, in any run on this universe.
    fn attempts_at(
        &mut self,
        law_fingerprint: &str,
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> impl Future<Output = Result<Vec<Attempt>, StoreError>> + Send;

    /// The attempts of a run at these laws, by the laws' keys.
    fn attempts_of(
        &mut self,
        run_id: i64,
        law_ids: &[i64],
        harness_config_hash: &str,
    ) -> impl Future<Output = Result<Vec<Attempt>, StoreError>> + Send;

    /// Stores decisions, all of them or none. One that is there already, with the same run, law, configuration and seed, is left
    /// as it is.
    ///
    /// A key that exists moves to the new attempt unless it belongs to a refutation: a FAIL stands.
    fn commit(
        &mut self,
        decisions: &[DecisionRow],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// What is known of the laws of a run, in the order in which the laws were stored.
    fn findings(
        &mut self,
        query: Query<'_>,
    ) -> impl Future<Output = Result<Vec<TestedLaw>, StoreError>> + Send;

    /// The attempts that a run made itself, in the order in which they were stored: at most `limit` after the one with the key
    /// `after` (0 for the first ones).
    fn evaluations(
        &mut self,
        run_id: i64,
        after: i64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<TestedLaw>, StoreError>> + Send;

    /// How a run stands.
    fn tally(
        &mut self,
        run: &RunRow,
    ) -> impl Future<Output = Result<VerdictCounts, StoreError>> + Send;
}
