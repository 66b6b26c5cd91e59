//! Results: the first of each job is kept, and every other one is compared with it.

use sqlx::PgPool;

use crate::QueueError;
use crate::connection::Connection;
use crate::job::{Output, digest};

/// The channel of notices; each has the name of a group.
pub(crate) const CHANNEL: &str = "work_queue";

/// Stores the first result of an open job.
const FINISH: &str = "WITH open AS (
        SELECT key FROM work_queue.work WHERE key = $1 AND state = 0 FOR UPDATE
    ), first AS (
        INSERT INTO work_queue.results (key, output, digest, comparable, worker, delivery, meta)
        SELECT key, $2, $3, $4, $5, $6, $7 FROM open ON CONFLICT (key) DO NOTHING RETURNING key
    ), done AS (
        UPDATE work_queue.work SET state = 2 FROM first WHERE work.key = first.key RETURNING work.group_id
    ), counted AS (
        UPDATE work_queue.workers SET finished = finished + 1 WHERE name = $5 AND EXISTS (SELECT FROM done)
    )
    SELECT pg_notify('work_queue', group_id)::text FROM done";

/// Reads the first result of a job that has one, and keeps others from changing it.
const FIRST: &str = "SELECT r.digest, r.comparable, r.worker, r.delivery, w.state
    FROM work_queue.work w JOIN work_queue.results r USING (key) WHERE w.key = $1 FOR UPDATE";

/// Keeps both results that differ.
const CONFLICT: &str = "WITH disputed AS (
        UPDATE work_queue.work SET state = 5 WHERE key = $1 AND state = 2 RETURNING key, group_id, input
    ), kept AS (
        INSERT INTO work_queue.conflicts (key, group_id, input, first_worker, first_digest, first_output,
            second_worker, second_digest, second_output, problem)
        SELECT d.key, d.group_id, d.input, r.worker, r.digest, r.output, $2, $3, $4, $5
        FROM disputed d JOIN work_queue.results r USING (key) RETURNING id, group_id
    )
    SELECT id, pg_notify('work_queue', group_id)::text FROM kept";

const LATE: &str = "INSERT INTO work_queue.late (key, worker) VALUES ($1, $2)";

const OPEN_CONFLICT: &str =
    "SELECT id FROM work_queue.conflicts WHERE key = $1 AND resolved_at IS NULL
    ORDER BY id DESC LIMIT 1";

/// The outcome of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stored {
    /// The first result of its job, now or by an earlier try.
    First,
    /// Equal to the first, or not to be compared with it.
    Late,
    /// Different from the first.
    Conflict,
    /// The job has an end without a result, or is gone.
    Dropped,
}

/// Removes what a text column refuses.
pub(crate) fn text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Stores a result once, and compares any other with it.
pub(crate) async fn finish(
    connection: &Connection,
    worker: &str,
    key: &str,
    delivery: i32,
    output: &Output,
) -> Result<Stored, QueueError> {
    let hash = &digest(&output.bytes);
    connection
        .run(|pool| try_to_finish(pool, worker, key, delivery, output, hash))
        .await
}

async fn try_to_finish(
    pool: PgPool,
    worker: &str,
    key: &str,
    delivery: i32,
    output: &Output,
    hash: &str,
) -> Result<Stored, sqlx::Error> {
    let first = sqlx::query(FINISH)
        .bind(key)
        .bind(&output.bytes)
        .bind(hash)
        .bind(output.comparable);
    let first = first.bind(worker).bind(delivery).bind(text(&output.meta));
    if first.fetch_optional(&pool).await?.is_some() {
        return Ok(Stored::First);
    }
    // Another one was first. Its row is visible to a statement that begins now.
    let mut tx = pool.begin().await?;
    let row = sqlx::query_as(FIRST)
        .bind(key)
        .fetch_optional(&mut *tx)
        .await?;
    let Some((found, comparable, by, number, state)): Option<(String, bool, String, i32, i16)> =
        row
    else {
        return Ok(Stored::Dropped);
    };
    if state != 2 {
        return Ok(Stored::Dropped);
    }
    if by == worker && number == delivery {
        return Ok(Stored::First);
    }
    let stored = if found == hash || !comparable || !output.comparable {
        sqlx::query(LATE)
            .bind(key)
            .bind(worker)
            .execute(&mut *tx)
            .await?;
        Stored::Late
    } else {
        // An alarm is on the disk before the worker goes on.
        sqlx::query("SET LOCAL synchronous_commit TO on")
            .execute(&mut *tx)
            .await?;
        let kept = sqlx::query(CONFLICT)
            .bind(key)
            .bind(worker)
            .bind(hash)
            .bind(&output.bytes);
        kept.bind("two workers answered differently")
            .execute(&mut *tx)
            .await?;
        Stored::Conflict
    };
    tx.commit().await?;
    Ok(stored)
}

/// Keeps the result of a job that is wrong, with the one that contradicts it, if there is one. Returns the conflict's id; `None`
/// if the job has no result.
pub(crate) async fn dispute(
    connection: &Connection,
    key: &str,
    second: Option<(&str, &[u8])>,
    problem: &str,
) -> Result<Option<i64>, QueueError> {
    let hash = second.map(|(_, output)| digest(output));
    let hash = hash.as_deref();
    let work = |pool| async move {
        let row = sqlx::query_as(CONFLICT)
            .bind(key)
            .bind(second.map(|(worker, _)| worker))
            .bind(hash);
        let row = row
            .bind(second.map(|(_, output)| output))
            .bind(text(problem));
        let kept: Option<(i64, String)> = row.fetch_optional(&pool).await?;
        match kept {
            Some((id, _)) => Ok(Some(id)),
            // An earlier try, or another contradiction, is there already.
            None => {
                sqlx::query_scalar(OPEN_CONFLICT)
                    .bind(key)
                    .fetch_optional(&pool)
                    .await
            }
        }
    };
    connection.run(work).await
}
