//! The settings of the engine, which differ from its defaults: it recovers jobs, and never claims more than it works on.

use std::future::Future;
use std::time::Duration;

use graphile_worker::{Worker, WorkerOptions, WorkerRecoveryConfig};
use sqlx::PgPool;

use crate::address::Address;

use super::SCHEMA;

/// The time by which the engine's own end of a stop comes after that of the worker, which gives its jobs back first.
const AFTER: Duration = Duration::from_secs(1);

/// The values that a worker chooses.
#[derive(Debug, Clone)]
pub(crate) struct EngineSettings {
    pub(crate) address: Address,
    /// The name that the server shows for its sessions.
    pub(crate) application: String,
    /// The kind and semantics of the jobs.
    pub(crate) flag: String,
    pub(crate) threads: usize,
    pub(crate) lease: Duration,
    pub(crate) grace: Duration,
    pub(crate) poll: Duration,
}

/// The recovery of jobs whose worker gave no sign of life for one lease.
pub(super) fn recovery(lease: Duration) -> WorkerRecoveryConfig {
    WorkerRecoveryConfig::default()
        .enabled(true)
        .heartbeat_interval(lease / 4)
        .sweep_interval(lease / 2)
        .sweep_threshold(lease)
        .recovery_delay(Duration::ZERO)
}

/// All settings of the engine. It has no queue in memory, no batches and no times of this machine.
pub(super) fn options(
    settings: &EngineSettings,
    pool: PgPool,
    stop: impl Future<Output = ()> + Send + 'static,
) -> WorkerOptions {
    Worker::options()
        .schema(SCHEMA)
        .pg_pool(pool)
        .concurrency(settings.threads)
        .poll_interval(settings.poll)
        .worker_recovery(recovery(settings.lease))
        .listen_os_shutdown_signals(false)
        .shutdown_signal(stop)
        .shutdown_grace_period(settings.grace + AFTER)
        .shutdown_interrupted_job_retry_delay(Duration::ZERO)
        .add_accepted_flag(&settings.flag)
}
