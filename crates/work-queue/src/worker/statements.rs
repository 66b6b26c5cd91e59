//! The statements of a worker. Each may be repeated when its answer was lost.

use sqlx::{AssertSqlSafe, PgPool};

use crate::QueueError;
use crate::connection::Connection;
use crate::engine;
use crate::job::Group;
use crate::result::text;

use super::options::{OpenJobs, WorkerOptions};

/// Counts a delivery and reads its job, unless the job has an end already.
const DELIVER: &str =
    "UPDATE work_queue.work SET deliveries = deliveries + 1 WHERE key = $1 AND state = 0
    RETURNING deliveries, group_id, input";

const QUARANTINE: &str = "WITH aside AS (
        UPDATE work_queue.work SET state = 4, problem = $2 WHERE key = $1 AND state = 0 RETURNING group_id
    )
    SELECT pg_notify('work_queue', group_id)::text FROM aside";

const CHILDREN: &str = "WITH parent AS (
        UPDATE work_queue.work SET state = 3 WHERE key = $1 AND state = 0 RETURNING kind, semantics, group_id
    )
    INSERT INTO work_queue.work (key, kind, semantics, group_id, input, parent)
    SELECT child.key, kind, semantics, group_id, child.input, $1
    FROM parent, unnest($2::text[], $3::bytea[]) AS child (key, input)
    ON CONFLICT DO NOTHING RETURNING key";

const TAKE_BACK: &str = "UPDATE work_queue.work SET deliveries = greatest(deliveries - 1, 0)
    WHERE key = ANY($1) AND state = 0";

const REGISTER: &str =
    "INSERT INTO work_queue.workers (name, engine_id, kind, semantics, threads, host)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (name) DO UPDATE SET engine_id = excluded.engine_id, kind = excluded.kind,
        semantics = excluded.semantics, threads = excluded.threads, host = excluded.host";

const OPEN: &str = "SELECT semantics, count(*) FROM work_queue.work WHERE kind = $1 AND state = 0
    GROUP BY semantics ORDER BY semantics";

/// A job that was delivered.
pub(super) struct Delivery {
    pub(super) number: i32,
    pub(super) group_id: String,
    pub(super) input: Vec<u8>,
}

/// The state of the engine's jobs as far as it concerns a worker.
pub(super) struct Claims {
    /// The keys that the engine says this worker has, and that it does not work on.
    pub(super) unknown: Vec<String>,
    /// Whether jobs have been waiting for longer than a lease.
    pub(super) has_backlog: bool,
}

/// Counts a delivery; `None` for a job that has an end.
pub(super) async fn deliver(
    connection: &Connection,
    key: &str,
) -> Result<Option<Delivery>, QueueError> {
    let row: Option<(i32, String, Vec<u8>)> = connection
        .run(|pool| async move {
            sqlx::query_as(DELIVER)
                .bind(key)
                .fetch_optional(&pool)
                .await
        })
        .await?;
    Ok(row.map(|(number, group_id, input)| Delivery {
        number,
        group_id,
        input,
    }))
}

pub(super) async fn quarantine(
    connection: &Connection,
    key: &str,
    problem: &str,
) -> Result<(), QueueError> {
    let problem = &text(problem);
    let work = |pool: PgPool| async move {
        let row = sqlx::query(QUARANTINE).bind(key).bind(problem);
        row.execute(&pool).await
    };
    connection.run(work).await.map(drop)
}

/// Replaces an open job by one for each piece.
pub(super) async fn split(
    connection: &Connection,
    group: &Group,
    key: &str,
    pieces: &[Vec<u8>],
) -> Result<(), QueueError> {
    let keys: Vec<_> = pieces.iter().map(|piece| group.key(piece)).collect();
    let keys = &keys;
    let work = |pool: PgPool| async move {
        let mut tx = pool.begin().await?;
        let children = sqlx::query_scalar(CHILDREN)
            .bind(key)
            .bind(keys)
            .bind(pieces);
        let children: Vec<String> = children.fetch_all(&mut *tx).await?;
        engine::add(&pool, &mut tx, &children, &group.flag()).await?;
        tx.commit().await
    };
    connection.run(work).await
}

pub(super) async fn take_back(connection: &Connection, keys: &[String]) -> Result<(), QueueError> {
    connection
        .run(|pool| async move { sqlx::query(TAKE_BACK).bind(keys).execute(&pool).await })
        .await
        .map(drop)
}

pub(super) async fn register(
    connection: &Connection,
    options: &WorkerOptions,
    group: (&str, &str),
    engine_id: &str,
) -> Result<(), QueueError> {
    let work = |pool: PgPool| async move {
        let row = sqlx::query(REGISTER)
            .bind(&options.name)
            .bind(engine_id)
            .bind(group.0)
            .bind(group.1);
        let row = row.bind(options.threads as i32).bind(&options.host);
        row.execute(&pool).await
    };
    connection.run(work).await.map(drop)
}

/// Removes the worker's row and gives out what it held, as far as the server can be reached now.
pub(super) async fn unregister(connection: &Connection, name: &str) {
    let ended = async {
        let sql = "DELETE FROM work_queue.workers WHERE name = $1 RETURNING engine_id";
        let row = sqlx::query_scalar(sql).bind(name);
        let deleted = row.fetch_optional(&connection.pool()).await;
        if let Ok(Some(engine_id)) = deleted {
            engine::release(connection, engine_id).await;
        }
    };
    let limit = std::time::Duration::from_secs(1).min(connection.timing.stall);
    let _done = tokio::time::timeout(limit, ended).await;
}

/// The threads of all workers.
pub(super) async fn threads(connection: &Connection) -> Result<i64, QueueError> {
    let sum = "SELECT coalesce(sum(threads), 0)::bigint FROM work_queue.workers";
    connection
        .run(|pool| async move { sqlx::query_scalar(sum).fetch_one(&pool).await })
        .await
}

pub(super) async fn open_jobs(
    connection: &Connection,
    kind: &str,
    semantics: &str,
) -> Result<OpenJobs, QueueError> {
    let rows: Vec<(String, i64)> = connection
        .run(|pool| async move { sqlx::query_as(OPEN).bind(kind).fetch_all(&pool).await })
        .await?;
    let (own, others): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|(found, _)| found == semantics);
    let own = own.iter().map(|(_, count)| count.cast_unsigned()).sum();
    Ok(OpenJobs::new(
        own,
        others.into_iter().map(|(found, _)| found).collect(),
    ))
}

/// Compares the engine's rows with the jobs at hand.
pub(super) async fn claims(
    connection: &Connection,
    engine_id: &str,
    keys: &[String],
    flag: &str,
) -> Result<Claims, sqlx::Error> {
    let jobs = engine::JOBS;
    let sql = format!(
        "SELECT array(SELECT key FROM {jobs} WHERE locked_by = $1 AND NOT key = ANY($2)),
            EXISTS (SELECT FROM {jobs} WHERE is_available AND flags ? $3
                AND run_at < now() - $4::bigint * interval '1 millisecond')"
    );
    let lease = connection.timing.lease.as_millis() as i64;
    let row = sqlx::query_as(AssertSqlSafe(sql))
        .bind(engine_id)
        .bind(keys)
        .bind(flag)
        .bind(lease);
    let (unknown, has_backlog) = row.fetch_one(&connection.pool()).await?;
    Ok(Claims {
        unknown,
        has_backlog,
    })
}
