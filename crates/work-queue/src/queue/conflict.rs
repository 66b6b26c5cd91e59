//! Results that contradict each other, and the second computation that finds them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sqlx::PgPool;

use super::{Collected, Outcome, Queue};
use crate::QueueError;
use crate::engine;
use crate::job::{Group, Work};
use crate::result;
use crate::thread::{self, CallEnd};

/// The name of the coordinator in a conflict with its result.
const COORDINATOR: &str = "coordinator";

const CONFLICTS: &str = "SELECT id, key, group_id, input, first_worker, first_digest, second_worker, second_digest, problem
    FROM work_queue.conflicts WHERE resolved_at IS NULL ORDER BY id";

const RESOLVE: &str = "UPDATE work_queue.conflicts SET resolved_at = clock_timestamp()
    WHERE id = $1 AND resolved_at IS NULL RETURNING key";

const REOPEN: &str =
    "UPDATE work_queue.work SET state = 0, deliveries = 0 WHERE key = $1 AND state = 5
    RETURNING kind, semantics, group_id";

/// Two results that differ, or one that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The id.
    pub id: i64,
    /// The key of the job.
    pub key: String,
    /// The name of the group.
    pub group_id: String,
    /// The input of the job.
    pub input: Vec<u8>,
    /// The worker with the first result.
    pub first_worker: String,
    /// SHA-256 of the first result.
    pub first_digest: String,
    /// The worker with the other result; `None` if the first is wrong by itself.
    pub second_worker: Option<String>,
    /// SHA-256 of the other result.
    pub second_digest: Option<String>,
    /// The problem.
    pub problem: String,
}

/// The outcome of a second computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a second result is equal, different, or cannot be compared"
)]
pub enum Audit {
    /// The bytes are equal.
    Equal,
    /// The bytes differ; the conflict has this id.
    Conflict(i64),
    /// The results are not comparable, or there is no second one.
    Skipped,
}

impl Queue {
    /// Computes the output of a job a second time, on a thread, and compares it with the worker's.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn audit(&self, work: &Arc<dyn Work>, job: &Collected) -> Result<Audit, QueueError> {
        let Outcome::Done(answer) = &job.outcome else {
            return Ok(Audit::Skipped);
        };
        if !answer.comparable {
            return Ok(Audit::Skipped);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let ran = thread::run(work, &Arc::new(job.input.clone()), &stop).await;
        let output = match ran.map_err(|error| self.connection.error(error))? {
            CallEnd::Returned(Ok(output)) if !output.comparable => return Ok(Audit::Skipped),
            CallEnd::Returned(Ok(output)) => Some(output.bytes),
            // The worker had a result where there is none.
            CallEnd::Returned(Err(_)) | CallEnd::Panicked => None,
        };
        if output.as_ref() == Some(&answer.bytes) {
            let audited =
                "UPDATE work_queue.results SET audited_at = clock_timestamp() WHERE key = $1";
            let key = &job.key;
            self.connection
                .run(|pool| async move { sqlx::query(audited).bind(key).execute(&pool).await })
                .await?;
            return Ok(Audit::Equal);
        }
        let second = output.as_deref().map(|output| (COORDINATOR, output));
        let problem = "a second computation did not give this result";
        let id = result::dispute(&self.connection, &job.key, second, problem).await?;
        Ok(id.map_or(Audit::Skipped, Audit::Conflict))
    }

    /// Keeps the result of a job as wrong by itself, and returns the id of the conflict. `None` if the job has no result.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn dispute(&self, key: &str, problem: &str) -> Result<Option<i64>, QueueError> {
        result::dispute(&self.connection, key, None, problem).await
    }

    /// Lists the conflicts that are not resolved.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn conflicts(&self) -> Result<Vec<Conflict>, QueueError> {
        type ConflictRow = (
            i64,
            String,
            String,
            Vec<u8>,
            String,
            String,
            Option<String>,
            Option<String>,
            String,
        );
        let rows: Vec<ConflictRow> = self
            .connection
            .run(|pool| async move { sqlx::query_as(CONFLICTS).fetch_all(&pool).await })
            .await?;
        let conflict = |row: ConflictRow| Conflict {
            id: row.0,
            key: row.1,
            group_id: row.2,
            input: row.3,
            first_worker: row.4,
            first_digest: row.5,
            second_worker: row.6,
            second_digest: row.7,
            problem: row.8,
        };
        Ok(rows.into_iter().map(conflict).collect())
    }

    /// Resolves a conflict: both results are dropped, and the job is open again. The conflict stays on record.
    ///
    /// # Errors
    /// [`QueueError::NoConflict`], and those of the connection.
    pub async fn resolve(&self, id: i64) -> Result<(), QueueError> {
        let work = |pool: PgPool| async move {
            let mut tx = pool.begin().await?;
            let Some(key): Option<String> = sqlx::query_scalar(RESOLVE)
                .bind(id)
                .fetch_optional(&mut *tx)
                .await?
            else {
                return Ok(false);
            };
            let row: Option<(String, String, String)> = sqlx::query_as(REOPEN)
                .bind(&key)
                .fetch_optional(&mut *tx)
                .await?;
            // Without a row its group is complete.
            if let Some((kind, semantics, group_id)) = row {
                sqlx::query("DELETE FROM work_queue.results WHERE key = $1")
                    .bind(&key)
                    .execute(&mut *tx)
                    .await?;
                let group = Group::new(&kind, &semantics, &group_id)
                    .map_err(|error| sqlx::Error::Decode(error.into()))?;
                engine::add(&pool, &mut tx, &[key], &group.flag()).await?;
            }
            tx.commit().await?;
            Ok(true)
        };
        let is_resolved = self.connection.run(work).await?;
        is_resolved
            .then_some(())
            .ok_or(QueueError::NoConflict { id })
    }
}
