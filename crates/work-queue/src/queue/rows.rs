//! The rows of a group, as the coordinator reads them.

use std::collections::HashSet;

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use super::Queue;
use crate::QueueError;
use crate::job::{Group, digest};

/// The ended jobs of a group but those whose key is known. A split job ends with its pieces.
const ENDED: &str = "SELECT w.key, w.input, w.state, w.problem, r.output, r.digest, r.meta, r.comparable, r.worker,
        r.audited_at IS NOT NULL AS audited,
        (SELECT max(c.id) FROM work_queue.conflicts c WHERE c.key = w.key AND c.resolved_at IS NULL) AS conflict
    FROM work_queue.work w LEFT JOIN work_queue.results r USING (key)
    WHERE w.group_id = $1 AND w.state IN (2, 4, 5)
        AND NOT EXISTS (SELECT FROM unnest($2::text[]) AS known (key) WHERE known.key = w.key)
    ORDER BY w.key";

/// The jobs of a group.
const JOBS: &str =
    "SELECT key, group_id, input, state, deliveries, parent, problem FROM work_queue.work
    WHERE group_id = $1 ORDER BY key";

/// The quarantined jobs of all groups.
const ASIDE: &str =
    "SELECT key, group_id, input, state, deliveries, parent, problem FROM work_queue.work
    WHERE state = 4 ORDER BY group_id, key";

/// A job that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// The key of the job.
    pub key: String,
    /// The input: that of a piece, if the job was split.
    pub input: Vec<u8>,
    /// The end of the job.
    pub outcome: Outcome,
}

/// The end of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a coordinator does something else for each end"
)]
pub enum Outcome {
    /// The job has a result.
    Done(Answer),
    /// The job is quarantined: it ended its worker each time, panicked, or has an input that cannot be read.
    Aside {
        /// The problem.
        problem: String,
    },
    /// Two results differ; the conflict has this id.
    Conflict(i64),
}

/// A result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The bytes that depend on the input alone.
    pub bytes: Vec<u8>,
    /// Times and versions.
    pub meta: String,
    /// Whether every machine gives these bytes.
    pub comparable: bool,
    /// The name of the worker.
    pub worker: String,
    /// Whether a second computation gave the same bytes.
    pub audited: bool,
    /// Whether the bytes are those that the worker stored, by their digest.
    pub intact: bool,
}

/// A job of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobRow {
    /// The key of the job.
    pub key: String,
    /// The name of the group.
    pub group_id: String,
    /// The input.
    pub input: Vec<u8>,
    /// The state.
    pub state: JobState,
    /// The number of deliveries, without those that were given back.
    pub deliveries: u32,
    /// The key of the job that this is a piece of.
    pub parent: Option<String>,
    /// The reason of a quarantine.
    pub problem: Option<String>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobState {
    /// The job waits, or a worker has it.
    Open,
    /// The job has a result.
    Done,
    /// The pieces are jobs.
    Split,
    /// The job is quarantined.
    Aside,
    /// Two results differ.
    Conflict,
}

impl JobState {
    fn from_number(number: i16) -> Self {
        match number {
            2 => Self::Done,
            3 => Self::Split,
            4 => Self::Aside,
            5 => Self::Conflict,
            _ => Self::Open,
        }
    }
}

impl Queue {
    /// Reads the jobs of a group that have ended, but those whose keys are in `taken`, and adds their keys to it.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn collect(
        &self,
        group: &Group,
        taken: &mut HashSet<String>,
    ) -> Result<Vec<Collected>, QueueError> {
        let known = &taken.iter().cloned().collect::<Vec<_>>();
        let rows = self
            .connection
            .run(|pool| async move {
                sqlx::query(ENDED)
                    .bind(group.id())
                    .bind(known)
                    .fetch_all(&pool)
                    .await
            })
            .await?;
        let collected: Result<Vec<_>, _> = rows.iter().map(collected).collect();
        let collected = collected.map_err(|error| self.connection.error(error))?;
        taken.extend(collected.iter().map(|job| job.key.clone()));
        self.free_room(group, collected.iter().map(|job| &job.key));
        Ok(collected)
    }

    /// Reads all jobs of a group, for a coordinator that continues.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn jobs(&self, group: &Group) -> Result<Vec<JobRow>, QueueError> {
        let rows = self
            .connection
            .run(|pool| async move { sqlx::query_as(JOBS).bind(group.id()).fetch_all(&pool).await })
            .await?;
        Ok(rows.into_iter().map(job).collect())
    }

    /// Whether a group has jobs that wait for a result. None are left without one unless rows were deleted.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn has_open_jobs(&self, group: &Group) -> Result<bool, QueueError> {
        let open = "SELECT EXISTS (SELECT FROM work_queue.work WHERE group_id = $1 AND state = 0)";
        let open = |pool| async move {
            let answer = sqlx::query_scalar(open).bind(group.id());
            answer.fetch_one(&pool).await
        };
        self.connection.run(open).await
    }

    /// Reads the quarantined jobs of all groups that are not complete.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn aside(&self) -> Result<Vec<JobRow>, QueueError> {
        let rows = self
            .connection
            .run(|pool| async move { sqlx::query_as(ASIDE).fetch_all(&pool).await })
            .await?;
        Ok(rows.into_iter().map(job).collect())
    }
}

/// The columns of a job.
type JobColumns = (
    String,
    String,
    Vec<u8>,
    i16,
    i32,
    Option<String>,
    Option<String>,
);

fn job((key, group_id, input, state, deliveries, parent, problem): JobColumns) -> JobRow {
    JobRow {
        key,
        group_id,
        input,
        state: JobState::from_number(state),
        deliveries: deliveries.unsigned_abs(),
        parent,
        problem,
    }
}

fn collected(row: &PgRow) -> Result<Collected, sqlx::Error> {
    let outcome = match JobState::from_number(row.try_get("state")?) {
        JobState::Aside => Outcome::Aside {
            problem: row.try_get::<Option<_>, _>("problem")?.unwrap_or_default(),
        },
        JobState::Conflict => {
            Outcome::Conflict(row.try_get::<Option<_>, _>("conflict")?.unwrap_or_default())
        }
        _ => Outcome::Done(Answer {
            intact: digest(row.try_get("output")?) == row.try_get::<&str, _>("digest")?,
            bytes: row.try_get("output")?,
            meta: row.try_get("meta")?,
            comparable: row.try_get("comparable")?,
            worker: row.try_get("worker")?,
            audited: row.try_get("audited")?,
        }),
    };
    Ok(Collected {
        key: row.try_get("key")?,
        input: row.try_get("input")?,
        outcome,
    })
}
