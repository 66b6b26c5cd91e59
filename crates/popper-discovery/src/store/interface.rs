//! The interface of a store: the queries and transactions of the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use jiff::Timestamp;
use popper_harness::decide::Status;
use serde::Serialize;

use super::error::StoreError;
use super::filter::{AttemptFilter, LawFilter, Pick, Query, RowPage};
use super::row::{
    CallRow, CapabilityRow, CounterexampleRow, EvaluationRow, Iteration, IterationStatus, LawRow,
    LawStatus, ProvedClaim, RunRow, VerdictKey,
};

/// The plan of an iteration before its tests, which is stored in one transaction.
#[derive(Debug, Clone)]
pub struct IterationPlan {
    /// The key of the iteration.
    pub iteration_id: i64,
    /// The proposals, in the proposer's order; `created_iteration_id` and `run_id` are set.
    pub laws: Vec<LawRow>,
    /// Laws of the run that were stored before, by key, with their new status.
    pub moved: Vec<(i64, LawStatus)>,
    /// The rows of `verdict_keys` for laws that a stored proof decides.
    pub keys: Vec<VerdictKey>,
    /// The sha256 of the prompt.
    pub prompt_hash: Option<String>,
    /// The [`Summary`](crate::Summary) before the tests.
    pub summary_json: String,
}

/// The state of an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationState {
    /// The status.
    pub status: IterationStatus,
    /// The time when all selected laws were decided. `None` keeps the stored one.
    pub completed_at: Option<Timestamp>,
    /// The [`Summary`](crate::Summary). `None` keeps the stored one.
    pub summary_json: Option<String>,
}

impl IterationState {
    /// The state of an iteration that continues, or was stopped.
    pub fn new(status: IterationStatus) -> Self {
        Self {
            status,
            completed_at: None,
            summary_json: None,
        }
    }

    /// The state of an iteration whose selected laws are all decided.
    pub fn completed(at: Timestamp, summary_json: String) -> Self {
        Self {
            status: IterationStatus::Completed,
            completed_at: Some(at),
            summary_json: Some(summary_json),
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
    /// The row of `proved_claims`. `None` without a proof. The store sets `evaluation_id`.
    pub claim: Option<ProvedClaim>,
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

    /// Replaces the configuration of a run.
    fn set_run_config(
        &mut self,
        run_id: i64,
        config_json: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns all runs, newest first.
    fn runs(&mut self) -> impl Future<Output = Result<Vec<RunRow>, StoreError>> + Send;

    /// Returns iterations of a run, in order.
    fn iterations(
        &mut self,
        run_id: i64,
        pick: Pick,
    ) -> impl Future<Output = Result<Vec<Iteration>, StoreError>> + Send;

    /// Stores an iteration as running, with the capabilities if they differ from the last ones of the run. Returns its key.
    fn begin_iteration(
        &mut self,
        iteration: &Iteration,
        capabilities: &CapabilityRow,
    ) -> impl Future<Output = Result<i64, StoreError>> + Send;

    /// Sets the state of an iteration.
    fn set_iteration(
        &mut self,
        iteration_id: i64,
        state: &IterationState,
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

    /// Returns those of the fingerprints that a law of the run has.
    fn known_fingerprints(
        &mut self,
        run_id: i64,
        fingerprints: &[String],
    ) -> impl Future<Output = Result<BTreeSet<String>, StoreError>> + Send;

    /// Returns laws of a run, in the order in which they were stored.
    fn laws(
        &mut self,
        run_id: i64,
        filter: LawFilter<'_>,
    ) -> impl Future<Output = Result<Vec<LawRow>, StoreError>> + Send;

    /// Returns the decided laws among these, by fingerprint, in any run.
    fn known(
        &mut self,
        fingerprints: &[String],
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> impl Future<Output = Result<BTreeMap<String, VerdictKey>, StoreError>> + Send;

    /// Returns the proved claims among these, by fingerprint, in any run.
    fn proved_claims(
        &mut self,
        claims: &[String],
        harness_config_hash: &str,
        sim_hash: &str,
    ) -> impl Future<Output = Result<BTreeMap<String, ProvedClaim>, StoreError>> + Send;

    /// Returns attempts, in the order in which they were stored.
    fn attempts(
        &mut self,
        filter: AttemptFilter<'_>,
    ) -> impl Future<Output = Result<Vec<Attempt>, StoreError>> + Send;

    /// Stores decisions, all of them or none. A stored decision with the same run, law, configuration and seed stays unchanged.
    ///
    /// An existing key moves to the new attempt unless it belongs to a refutation: a FAIL is never replaced. A proved claim moves to a
    /// proof with a smaller H.
    fn commit(
        &mut self,
        decisions: &[DecisionRow],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns laws with the attempts at them.
    fn findings(
        &mut self,
        query: Query<'_>,
    ) -> impl Future<Output = Result<Vec<TestedLaw>, StoreError>> + Send;

    /// Returns the numbers of laws and attempts of a run.
    fn tally(
        &mut self,
        run: &RunRow,
    ) -> impl Future<Output = Result<VerdictCounts, StoreError>> + Send;

    /// Begins a transaction that all reading methods share until [`Store::end_reading`], so that they see one state of the rows.
    /// A writing method, or an error, ends it early.
    ///
    /// The provided method does nothing: it is for a store whose rows no other process changes.
    fn begin_reading(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Ends the transaction of [`Store::begin_reading`].
    fn end_reading(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Returns a page of the iterations of a run, in order; their numbers are the keys of the page.
    ///
    /// The provided methods for pages read all rows: they are for a store in memory.
    fn iteration_page(
        &mut self,
        run_id: i64,
        page: RowPage,
    ) -> impl Future<Output = Result<Vec<Iteration>, StoreError>> + Send {
        async move {
            let rows = self.iterations(run_id, Pick::All).await?;
            Ok(page.of(rows, |row| i64::from(row.iteration_index)))
        }
    }

    /// Returns a page of the laws of a run, in the order in which they were stored.
    fn law_page(
        &mut self,
        run_id: i64,
        page: RowPage,
    ) -> impl Future<Output = Result<Vec<LawRow>, StoreError>> + Send {
        async move {
            let rows = self.laws(run_id, LawFilter::statuses(&LawStatus::ALL));
            Ok(page.of(rows.await?, |row| row.id))
        }
    }

    /// Returns a page of the calls of a run, in order.
    fn call_page(
        &mut self,
        run_id: i64,
        page: RowPage,
    ) -> impl Future<Output = Result<Vec<CallRow>, StoreError>> + Send {
        async move {
            let rows = self.calls(run_id, None).await?;
            Ok(page.of(rows, |row| row.id))
        }
    }

    /// Returns a page of the tested laws of a run, each with the attempt that decided it; the keys of the laws are the keys of the
    /// page.
    fn tested_page(
        &mut self,
        run: &RunRow,
        page: RowPage,
    ) -> impl Future<Output = Result<Vec<TestedLaw>, StoreError>> + Send {
        async move {
            let rows = self.findings(Query::all(run)).await?;
            Ok(page.of(rows, |row| row.law.id))
        }
    }
}
