//! The counts that a user sees.

use serde::Serialize;
use sqlx::AssertSqlSafe;

use super::Queue;
use crate::QueueError;
use crate::engine;

/// The counts of each group.
const GROUPS: &str = "SELECT w.group_id, w.kind, w.semantics,
        count(*) FILTER (WHERE w.state = 0), count(*) FILTER (WHERE w.state = 2), count(*) FILTER (WHERE w.state = 3),
        count(*) FILTER (WHERE w.state = 4), count(*) FILTER (WHERE w.state = 5), count(r.audited_at),
        (SELECT count(*) FROM work_queue.late l JOIN work_queue.work o USING (key) WHERE o.group_id = w.group_id)
    FROM work_queue.work w LEFT JOIN work_queue.results r USING (key)
    GROUP BY w.group_id, w.kind, w.semantics ORDER BY w.group_id";

/// The state of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The groups that are not complete.
    pub groups: Vec<GroupStatus>,
    /// The workers.
    pub workers: Vec<WorkerStatus>,
    /// The number of conflicts that are not resolved.
    pub conflicts: u64,
    /// The age of the oldest claim of a job in seconds.
    pub oldest_claim_secs: Option<u64>,
}

/// The jobs of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GroupStatus {
    /// The name of the group.
    pub id: String,
    /// The kind of its jobs.
    pub kind: String,
    /// The semantics that a worker must have.
    pub semantics: String,
    /// The number of jobs that wait or are worked on.
    pub open: u64,
    /// The number of jobs with a result.
    pub done: u64,
    /// The number of jobs that were split.
    pub split: u64,
    /// The number of quarantined jobs.
    pub aside: u64,
    /// The number of jobs whose results differ.
    pub conflict: u64,
    /// The number of results that a second computation confirmed.
    pub audited: u64,
    /// The number of equal results that came after the first.
    pub late: u64,
}

/// A worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WorkerStatus {
    /// The name.
    pub name: String,
    /// The kind of jobs that it takes.
    pub kind: String,
    /// The semantics that it has.
    pub semantics: String,
    /// The number of jobs at once.
    pub threads: u64,
    /// The name of its machine.
    pub host: String,
    /// The time since its start in seconds.
    pub age_secs: u64,
    /// The number of first results.
    pub finished: u64,
    /// The number of jobs that it has.
    pub held: u64,
    /// Whether it gave a sign of life within the lease.
    pub is_alive: bool,
}

impl Queue {
    /// Counts jobs and workers.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn status(&self) -> Result<Status, QueueError> {
        type CountRow = (String, String, String, i64, i64, i64, i64, i64, i64, i64);
        let groups: Vec<CountRow> = self
            .connection
            .run(|pool| async move { sqlx::query_as(GROUPS).fetch_all(&pool).await })
            .await?;
        let conflicts = "SELECT count(*) FROM work_queue.conflicts WHERE resolved_at IS NULL";
        let conflicts: i64 = self
            .connection
            .run(|pool| async move { sqlx::query_scalar(conflicts).fetch_one(&pool).await })
            .await?;
        let oldest = &format!(
            "SELECT extract(epoch FROM clock_timestamp() - min(locked_at))::bigint FROM {}",
            engine::JOBS
        );
        let oldest: Option<i64> = self
            .connection
            .run(|pool| async move {
                sqlx::query_scalar(AssertSqlSafe(oldest.as_str()))
                    .fetch_one(&pool)
                    .await
            })
            .await?;
        let group = |row: CountRow| GroupStatus {
            id: row.0,
            kind: row.1,
            semantics: row.2,
            open: row.3.unsigned_abs(),
            done: row.4.unsigned_abs(),
            split: row.5.unsigned_abs(),
            aside: row.6.unsigned_abs(),
            conflict: row.7.unsigned_abs(),
            audited: row.8.unsigned_abs(),
            late: row.9.unsigned_abs(),
        };
        Ok(Status {
            groups: groups.into_iter().map(group).collect(),
            workers: self.workers().await?,
            conflicts: conflicts.unsigned_abs(),
            oldest_claim_secs: oldest.map(|secs| secs.max(0).unsigned_abs()),
        })
    }

    /// Lists the workers, by name.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn workers(&self) -> Result<Vec<WorkerStatus>, QueueError> {
        type WorkerRow = (String, String, String, i32, String, i64, i64, i64, bool);
        let (jobs, workers) = (engine::JOBS, engine::WORKERS);
        let sql = &format!(
            "SELECT w.name, w.kind, w.semantics, w.threads, w.host,
                greatest(extract(epoch FROM clock_timestamp() - w.started_at), 0)::bigint, w.finished,
                (SELECT count(*) FROM {jobs} j WHERE j.locked_by = w.engine_id),
                EXISTS (SELECT FROM {workers} e WHERE e.id = w.engine_id
                    AND e.last_heartbeat_at > now() - $1::bigint * interval '1 millisecond')
            FROM work_queue.workers w ORDER BY w.name"
        );
        let lease = self.connection.timing.lease.as_millis() as i64;
        let rows: Vec<WorkerRow> = self
            .connection
            .run(|pool| async move {
                sqlx::query_as(AssertSqlSafe(sql.as_str()))
                    .bind(lease)
                    .fetch_all(&pool)
                    .await
            })
            .await?;
        let worker = |row: WorkerRow| WorkerStatus {
            name: row.0,
            kind: row.1,
            semantics: row.2,
            threads: u64::from(row.3.unsigned_abs()),
            host: row.4,
            age_secs: row.5.unsigned_abs(),
            finished: row.6.unsigned_abs(),
            held: row.7.unsigned_abs(),
            is_alive: row.8,
        };
        Ok(rows.into_iter().map(worker).collect())
    }
}
