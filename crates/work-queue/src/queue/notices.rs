//! Notices of results, and the sweep for lost jobs that a coordinator does while it waits for them.

use std::fmt;
use std::time::Duration;

use sqlx::postgres::PgListener;
use sqlx::{AssertSqlSafe, PgPool};
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};

use super::{Queue, repair};
use crate::QueueError;
use crate::connection::Connection;
use crate::engine;
use crate::job::Group;
use crate::result::CHANNEL;

/// The longest wait without a notice: a lost one costs time only.
const POLL: Duration = Duration::from_secs(1);

/// The notices of one group. While they exist, jobs that no worker has any more are given out again.
pub struct Notices {
    group: String,
    connection: Connection,
    /// `None` while the connection is lost.
    listener: Option<PgListener>,
    sweeper: JoinHandle<()>,
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notices")
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.sweeper.abort();
    }
}

impl Queue {
    /// Listens for results of a group.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn listen(&self, group: &Group) -> Result<Notices, QueueError> {
        // The one session is the listener's.
        let connection = self.connection.again(1);
        let listener = connection.run(listen).await?;
        Ok(Notices {
            group: group.id().to_owned(),
            listener: Some(listener),
            connection,
            sweeper: tokio::spawn(sweep(self.connection.again(1), group.clone())),
        })
    }
}

impl Notices {
    /// Waits for a result of the group, at most a second.
    pub async fn wait(&mut self) {
        let _passed = timeout(POLL, self.next()).await;
    }

    async fn next(&mut self) {
        loop {
            let Some(listener) = &mut self.listener else {
                // Results may have come meanwhile, so a restored connection is a notice.
                self.listener = listen(self.connection.pool()).await.ok();
                if self.listener.is_some() {
                    return;
                }
                // The wait ends by its limit: there is nothing to hear.
                return std::future::pending().await;
            };
            match listener.try_recv().await {
                Ok(Some(notice)) if notice.payload() == self.group => return,
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(_) => self.listener = None,
            }
        }
    }
}

async fn listen(pool: PgPool) -> Result<PgListener, sqlx::Error> {
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(CHANNEL).await?;
    Ok(listener)
}

/// Removes the rows of workers that are gone for a day.
async fn forget(connection: &Connection) -> Result<(), QueueError> {
    let gone = format!(
        "DELETE FROM work_queue.workers w WHERE started_at < clock_timestamp() - interval '1 day'
            AND NOT EXISTS (SELECT FROM {} e WHERE e.id = w.engine_id)",
        engine::WORKERS
    );
    let gone = gone.as_str();
    let work = |pool: PgPool| async move { sqlx::query(AssertSqlSafe(gone)).execute(&pool).await };
    connection.run(work).await.map(drop)
}

/// Twice in each lease gives out again what dead workers had, and what the engine has no row for. An error passes, or the caller
/// meets it too.
async fn sweep(connection: Connection, group: Group) {
    if let Err(error) = forget(&connection).await {
        tracing::debug!("workers that are gone: {error}");
    }
    let mut turns = interval(connection.timing.lease / 2);
    loop {
        turns.tick().await;
        match engine::sweep(&connection).await {
            Ok(0) => {}
            Ok(count) => {
                tracing::info!(
                    "workers gave no sign of life; jobs that are given out again: {count}"
                );
            }
            Err(error) => tracing::debug!("sweep: {error}"),
        }
        if let Err(error) = repair(&connection, &group).await {
            tracing::debug!("repair: {error}");
        }
    }
}
