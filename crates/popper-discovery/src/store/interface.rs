//! The interface of a store: the queries and transactions of the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use jiff::Timestamp;
use popper_harness::decide::Status;
use serde::Serialize;

use super::row::{
    CallRow, CapabilityRow, CounterexampleRow, EvaluationRow, Iteration, IterationStatus, LawRow,
    LawStatus, RunRow, VerdictKey,
};

/// The error of a store. A transaction that failed has written nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store is in use by another process.
    #[error("{place}: in use by another process; let it finish or stop it, then try again")]
    Locked {
        /// The file or address.
        place: String,
    },
    /// The store cannot be written.
    #[error(
        "{place}: read-only; give yourself the right to write it and its folder, or choose another place"
    )]
    ReadOnly {
        /// The file or address.
        place: String,
    },
    /// The disk is full.
    #[error("{place}: the disk is full; make room and resume, all that was committed is there")]
    Full {
        /// The file or address.
        place: String,
    },
    /// The file is damaged, or not a database.
    #[error("{place}: not a sound database ({message}); restore a copy, or choose another file")]
    Corrupt {
        /// The file or address.
        place: String,
        /// The problem with the file.
        message: String,
    },
    /// The file was made by a newer program.
    #[error(
        "{place}: made by a newer program (schema {found}, this one knows {known}); use that program"
    )]
    Newer {
        /// The file or address.
        place: String,
        /// The schema version of the file.
        found: i64,
        /// The newest schema version that this program knows.
        known: i64,
    },
    /// The file does not exist and was not to be created.
    #[error("{place}: there is no database")]
    Missing {
        /// The file or address.
        place: String,
    },
    /// A column has a value that this program never writes.
    #[error("{table} {id}: column {column}: {message}")]
    Column {
        /// The table.
        table: &'static str,
        /// The key of the row.
        id: i64,
        /// The column.
        column: &'static str,
        /// The problem with the value.
        message: String,
    },
    /// The same law, configuration and seed gave two verdicts: the harness is not deterministic, or the database was edited.
    #[error(
        "law {law_fingerprint}, seed {seed}: the stored verdict has digest {stored}, the new one {new}: one of them is wrong"
    )]
    Contradiction {
        /// The fingerprint of the law.
        law_fingerprint: String,
        /// The seed of both attempts.
        seed: u64,
        /// The stored digest.
        stored: String,
        /// The digest of the new verdict.
        new: String,
    },
    /// Any other error of the database.
    #[error("{place}")]
    Database {
        /// The file or address.
        place: String,
        /// The error of the database.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The plan of an iteration before its tests, which is stored in one transaction.
#[derive(Debug, Clone)]
pub struct IterationPlan {
    /// The key of the iteration.
    pub iteration_id: i64,
    /// The proposals, in the proposer's order; `created_iteration_id` and `run_id` are set.
    pub laws: Vec<LawRow>,
    /// Laws of the run that were stored before, by key, with their new status.
    pub moved: Vec<(i64, LawStatus)>,
    /// The sha256 of the prompt.
    pub prompt_hash: Option<String>,
    /// The [`Summary`](crate::Summary) before the tests.
    pub summary_json: String,
}

/// A change of an iteration's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark<'a> {
    /// The run is working on the iteration.
    Running,
    /// The run was stopped in the iteration.
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
    /// Returns the new status.
    pub fn status(self) -> IterationStatus {
        match self {
            Self::Running => IterationStatus::Running,
            Self::Aborted => IterationStatus::Aborted,
            Self::Completed { .. } => IterationStatus::Completed,
        }
    }
}

/// A decided law with its rows, which are stored together or not at all.
#[derive(Debug, Clone)]
pub struct DecisionRow {
    /// The attempt. The store sets `counterexample_id`.
    pub evaluation: EvaluationRow,
    /// The counterexample of a FAIL. The store sets `law_evaluation_id`.
    pub counterexample: Option<CounterexampleRow>,
    /// The new status of the law.
    pub law_status: LawStatus,
    /// The row of `verdict_keys`. `None` for an attempt that does not count as tested. The store sets `evaluation_id`.
    pub key: Option<VerdictKey>,
    /// The fingerprint of the law, for messages.
    pub law_fingerprint: String,
    /// The digest of the verdict.
    pub verdict_digest: String,
}

/// A law with the attempt that decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestedLaw {
    /// The law.
    pub law: LawRow,
    /// The attempt that decided the law, in any run.
    pub evaluation: EvaluationRow,
    /// The counterexample of a FAIL.
    pub counterexample: Option<CounterexampleRow>,
}

/// A query for the tested laws of a run.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The run.
    pub run: &'a RunRow,
    /// Only laws with this verdict.
    pub status: Option<Status>,
    /// The most laws to return, the ones that were stored last.
    pub newest: Option<u32>,
}

impl<'a> Query<'a> {
    /// Returns the query for all tested laws of a run.
    pub fn all(run: &'a RunRow) -> Self {
        Self {
            run,
            status: None,
            newest: None,
        }
    }
}

/// The numbers of laws and attempts of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    /// The number of laws by status.
    pub laws: BTreeMap<LawStatus, u64>,
    /// The number of tested laws by verdict and reason.
    pub verdicts: BTreeMap<(String, Option<String>), u64>,
    /// The number of attempts that the run itself made.
    pub evaluations: u64,
}

/// An attempt at a law: the law's key, the seed, and the verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The key of the law in `laws`.
    pub law_id: i64,
    /// The seed.
    pub seed: u64,
    /// The verdict.
    pub status: Status,
}

/// A store of runs.
///
/// Every method that writes is one transaction: on success all of it is durable, on an error nothing is written.
/// One process at a time holds a store for writing.
pub trait Store: Send {
    /// Stores a run and returns its key.
    fn create_run(&mut self, run: &RunRow) -> impl Future<Output = Result<i64, StoreError>> + Send;

    /// Returns all runs, newest first.
    fn runs(&mut self) -> impl Future<Output = Result<Vec<RunRow>, StoreError>> + Send;

    /// Returns the iterations of a run in order, all or the `newest` ones.
    fn iterations(
        &mut self,
        run_id: i64,
        newest: Option<u32>,
    ) -> impl Future<Output = Result<Vec<Iteration>, StoreError>> + Send;

    /// Stores an iteration as running, with the capabilities if they differ from the last ones of the run. Returns its key.
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

    /// Stores the plan of an iteration.
    fn plan_iteration(
        &mut self,
        plan: &IterationPlan,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores a call to a model.
    fn add_call(&mut self, call: &CallRow) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns the calls of a run, or of one of its iterations, in order.
    fn calls(
        &mut self,
        run_id: i64,
        iteration_id: Option<i64>,
    ) -> impl Future<Output = Result<Vec<CallRow>, StoreError>> + Send;

    /// Returns the fingerprints of all laws of a run.
    fn fingerprints(
        &mut self,
        run_id: i64,
    ) -> impl Future<Output = Result<BTreeSet<String>, StoreError>> + Send;

    /// Returns the laws of a run with these fingerprints, in the order in which they were stored.
    fn laws_by_fingerprint(
        &mut self,
        run_id: i64,
        fingerprints: &[String],
    ) -> impl Future<Output = Result<Vec<LawRow>, StoreError>> + Send;

    /// Returns the laws of a run with one of these statuses, in the order in which they were stored: all, or the last `newest`.
    fn laws_by_status(
        &mut self,
        run_id: i64,
        statuses: &[LawStatus],
        newest: Option<u32>,
    ) -> impl Future<Output = Result<Vec<LawRow>, StoreError>> + Send;

    /// Returns the decided laws among these, by fingerprint, in any run.
    fn known(
        &mut self,
        fingerprints: &[String],
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> impl Future<Output = Result<BTreeMap<String, VerdictKey>, StoreError>> + Send;

    /// Returns the attempts at a law, by fingerprint, in any run on this universe with this configuration.
    fn attempts_at(
        &mut self,
        law_fingerprint: &str,
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> impl Future<Output = Result<Vec<Attempt>, StoreError>> + Send;

    /// Returns the attempts of a run at these laws, by the laws' keys.
    fn attempts_of(
        &mut self,
        run_id: i64,
        law_ids: &[i64],
        harness_config_hash: &str,
    ) -> impl Future<Output = Result<Vec<Attempt>, StoreError>> + Send;

    /// Stores decisions, all of them or none. A stored decision with the same run, law, configuration and seed stays unchanged.
    ///
    /// An existing key moves to the new attempt unless it belongs to a refutation: a FAIL is never replaced.
    fn commit(
        &mut self,
        decisions: &[DecisionRow],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns the tested laws of a run, in the order in which the laws were stored.
    fn findings(
        &mut self,
        query: Query<'_>,
    ) -> impl Future<Output = Result<Vec<TestedLaw>, StoreError>> + Send;

    /// Returns the attempts of the run itself, in the order in which they were stored: at most `limit` after the one with the key
    /// `after` (0 for the first ones).
    fn evaluations(
        &mut self,
        run_id: i64,
        after: i64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<TestedLaw>, StoreError>> + Send;

    /// Returns the numbers of laws and attempts of a run.
    fn tally(
        &mut self,
        run: &RunRow,
    ) -> impl Future<Output = Result<VerdictCounts, StoreError>> + Send;
}
