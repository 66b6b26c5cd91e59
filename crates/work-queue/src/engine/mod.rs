//! The job engine: the only module that names it. Its rows hold the key of a job and nothing else.

mod failure;
mod run;
mod settings;

use graphile_worker::{JobSpec, RawJobSpec, SweepStaleWorkersOptions, WorkerUtils};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection, PgPool, PgTransaction};
use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;

pub(crate) use failure::EngineFailure;
pub(crate) use run::{EngineRun, Handler, HandlerFuture};
pub(crate) use settings::EngineSettings;

use crate::QueueError;
use crate::connection::Connection;
use crate::schema::{self, SchemaState};

/// The schema of the engine's tables.
const SCHEMA: &str = "graphile_worker";

/// The table with the engine's jobs.
pub(crate) const JOBS: &str = "graphile_worker._private_jobs";

/// The table with the engine's workers, whose `last_heartbeat_at` is the last sign of life.
pub(crate) const WORKERS: &str = "graphile_worker._private_workers";

/// The name of the one task.
const TASK: &str = "work";

/// The engine's number of tries, which never ends a job: `deliveries` does.
const MOST_ATTEMPTS: i16 = 32_767;

/// The newest migration of the engine in this program.
const KNOWN: i64 = 22;

/// The rights of workers, see [`migrate`].
const ROLES: &str = include_str!("roles.sql");

/// Checks the versions of all tables, before the engine itself would change its own.
pub(crate) async fn check(connection: &Connection) -> Result<(), QueueError> {
    let own = schema::state(connection).await?;
    let found = schema::version(connection, "graphile_worker.migrations", "id").await?;
    let engine = schema::compare(&connection.address, SCHEMA, found, KNOWN)?;
    if own == SchemaState::Older || engine == SchemaState::Older {
        return Err(QueueError::Missing {
            place: connection.address.to_string(),
        });
    }
    Ok(())
}

/// Makes the engine's tables and gives workers their rights. The caller holds the advisory lock with `session`.
pub(crate) async fn migrate(pool: &PgPool, session: &mut PgConnection) -> Result<(), sqlx::Error> {
    let utils = WorkerUtils::new(pool.clone(), SCHEMA);
    let migrated = utils.migrate().with_subscriber(NoSubscriber::new());
    migrated
        .await
        .map_err(|error| sqlx::Error::Configuration(error.into()))?;
    sqlx::raw_sql(ROLES).execute(session).await?;
    Ok(())
}

/// Hands out the jobs of these keys to workers with the flag, if the transaction is committed.
pub(crate) async fn add(
    pool: &PgPool,
    tx: &mut PgTransaction<'_>,
    keys: &[String],
    flag: &str,
) -> Result<(), sqlx::Error> {
    if keys.is_empty() {
        return Ok(());
    }
    let job = |key: &String| RawJobSpec {
        identifier: TASK.to_owned(),
        payload: json!({ "key": key }),
        spec: JobSpec {
            job_key: Some(key.clone()),
            max_attempts: Some(MOST_ATTEMPTS),
            flags: Some(vec![flag.to_owned()]),
            ..JobSpec::default()
        },
    };
    let jobs: Vec<_> = keys.iter().map(job).collect();
    let utils = WorkerUtils::new(pool.clone(), SCHEMA);
    let mut utils = utils.with_executor(&mut *tx);
    let added = utils
        .add_raw_jobs(&jobs)
        .with_subscriber(NoSubscriber::new());
    let added = added.await.map(drop);
    added.map_err(|error| failure::statement_error(&error))
}

/// Takes the jobs of these keys back, also from workers that hold them.
pub(crate) async fn remove(tx: &mut PgTransaction<'_>, keys: &[String]) -> Result<(), sqlx::Error> {
    let sql = format!("DELETE FROM {JOBS} WHERE key = ANY($1)");
    sqlx::query(AssertSqlSafe(sql))
        .bind(keys)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Gives out at once what a worker that has ended still holds. What fails here is given out after one lease.
pub(crate) async fn release(connection: &Connection, engine_id: String) {
    let utils = WorkerUtils::new(connection.pool(), SCHEMA);
    let ids = [engine_id.as_str()];
    let released = utils.force_unlock_workers(&ids);
    let _done = released.with_subscriber(NoSubscriber::new()).await;
}

/// Gives out again the jobs of workers without a sign of life for one lease. Returns the number of jobs.
pub(crate) async fn sweep(connection: &Connection) -> Result<u64, QueueError> {
    let utils = WorkerUtils::new(connection.pool(), SCHEMA);
    let recovery = settings::recovery(connection.timing.lease);
    let swept =
        utils.sweep_stale_workers_with_config(&recovery, SweepStaleWorkersOptions::default());
    let swept = swept.with_subscriber(NoSubscriber::new());
    let swept = tokio::time::timeout(connection.timing.stall, swept).await;
    let swept = swept.map_err(|_| connection.error(sqlx::Error::PoolTimedOut))?;
    let swept = swept.map_err(|error| connection.error(error))?;
    Ok(u64::from(swept.recovered_count.unsigned_abs()))
}
