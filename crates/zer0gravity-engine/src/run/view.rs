//! A run directory as a reader sees it, without the lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use durable::{Disk, LockError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_types::{FixedClock, Usd};
use tokio_util::sync::CancellationToken;

use super::record::{self, RunRecord};
use super::{DirectoryError, RunDirectory};
use crate::model::{CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, TokenCount};
use crate::plan::Plan;
use crate::report::RunReport;
use crate::store::{CallRecord, CallStore as _, MemoryStore, read_calls};
use crate::{Context, FailureKind, LocalCounter, ModelClient, RunError, Runner};

/// A run that another process may be working on.
#[derive(Debug)]
pub struct RunView {
    path: PathBuf,
    record: RunRecord,
}

impl RunView {
    /// Opens the run in `path` for reading.
    ///
    /// # Errors
    /// [`DirectoryError`]: there is no run, or its plan was edited.
    pub fn open(path: &Path) -> Result<Self, DirectoryError> {
        let none = || DirectoryError::NoRun {
            path: path.to_owned(),
        };
        Ok(Self {
            record: RunRecord::read(path)?.ok_or_else(none)?,
            path: path.to_owned(),
        })
    }

    /// The frozen plan.
    pub fn plan(&self) -> &Plan {
        &self.record.plan
    }

    /// The moment when the plan was frozen, UTC with milliseconds.
    pub fn frozen_at(&self) -> &str {
        &self.record.frozen_at
    }

    /// The commitment to the texts, if the run has one.
    pub fn sealed(&self) -> Option<&str> {
        self.record.sealed.as_deref()
    }

    /// The most that the run may cost.
    pub fn cap(&self) -> Option<Usd> {
        self.record.cap()
    }

    /// Whether a process works on the run now.
    pub fn has_writer(&self) -> bool {
        let checked = Disk::default().check_lock(&self.path.join("run.lock"));
        matches!(checked, Err(LockError::Held { .. }))
    }

    /// The start of the last stored call. `None` before the first, and for a run that asks no model.
    pub fn last_call(&self) -> Option<Timestamp> {
        let mut last = None;
        let path = RunDirectory::calls_in(&self.path);
        // A file that cannot be read has no calls to name; reading the report says why.
        let _read = read_calls(&path, |call| last = last.max(call.answer.started_at()));
        last
    }

    /// Returns the report of the run as far as its stored calls go; the experiments after them are not run.
    ///
    /// # Errors
    /// [`DirectoryError`]: a file cannot be read, or the calls changed after the report was written.
    pub async fn report(&self, counter: &dyn LocalCounter) -> Result<RunReport, DirectoryError> {
        if !self.has_writer()
            && let Some(report) = record::read_report(&self.path)?
        {
            RunDirectory::check_calls(&self.path, &report)?;
            return Ok(report);
        }
        let mut calls = MemoryStore::default();
        let path = RunDirectory::calls_in(&self.path);
        if path.exists() {
            let mut records = Vec::new();
            read_calls(&path, |call: CallRecord| records.push(Arc::new(call)))?;
            calls.append(&records)?;
        }
        let plan = self.plan();
        let client = StoredOnly(plan.config.label.clone());
        // The time of the data, so that the same calls give the same report.
        let frozen: Option<Timestamp> = self.frozen_at().parse().ok();
        let now = self.last_call().or(frozen);
        let clock = FixedClock(now.map_or(SystemTime::UNIX_EPOCH, SystemTime::from));
        let stop = CancellationToken::new();
        stop.cancel();
        let runner = Runner::new(Context::new(&client, &clock, counter));
        let report = runner
            .store(calls)
            .cancel(stop)
            .run(plan, &mut |_| {})
            .await;
        let mut report = report.map_err(|RunError::Store(error)| error)?;
        self.frozen_at().clone_into(&mut report.created_at);
        Ok(report)
    }
}

/// A client in place of the run's, which is never asked: the calls that are not stored are not made.
struct StoredOnly(ModelLabel);

impl ModelClient for StoredOnly {
    fn complete(&self, _: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        async { Err(not_made()) }.boxed()
    }

    fn count_tokens(&self, _: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>> {
        async { Err(not_made()) }.boxed()
    }

    fn label(&self) -> ModelLabel {
        self.0.clone()
    }
}

fn not_made() -> ModelError {
    ModelError::unsent(FailureKind::Interrupted, "the run is not finished")
}
