//! The coordinator's side: jobs go in, each result comes out once.

mod conflict;
mod notices;
mod options;
mod rows;
mod status;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sqlx::{AssertSqlSafe, PgPool};
use tokio::sync::Semaphore;

pub use conflict::{Audit, Conflict};
pub use notices::Notices;
pub use options::QueueOptions;
pub use rows::{Answer, Collected, JobRow, JobState, Outcome};
pub use status::{GroupStatus, Status, WorkerStatus};

use crate::QueueError;
use crate::address::Address;
use crate::connection::{Connection, Durability};
use crate::engine;
use crate::job::{Group, MOST_BYTES};
use crate::schema::{self, MIGRATION_LOCK};

/// The sessions of a queue, next to the one that listens.
const SESSIONS: u32 = 3;

/// The most jobs of a transaction.
const MOST_JOBS: usize = 1000;

/// The most input bytes of a transaction, unless a single job has more.
const MOST_INPUT: usize = 8 << 20;

/// The most jobs that are submitted and not collected.
const MOST_OPEN: usize = 10_000;

/// Adds jobs that are not there.
const SUBMIT: &str = "INSERT INTO work_queue.work (key, kind, semantics, group_id, input)
    SELECT job.key, $1, $2, $3, job.input FROM unnest($4::text[], $5::bytea[]) AS job (key, input)
    ON CONFLICT DO NOTHING RETURNING key";

/// A queue of jobs in a database.
pub struct Queue {
    connection: Connection,
    /// The room for jobs that are submitted and not collected.
    room: Semaphore,
    /// The keys that take a part of the room, by group.
    open: Mutex<HashMap<String, HashSet<String>>>,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("address", &self.connection.address)
            .finish_non_exhaustive()
    }
}

impl Queue {
    /// Creates the tables of the queue and of its engine, or those that are new. Other programs may do so at the same time.
    ///
    /// # Errors
    /// [`QueueError::Newer`], [`QueueError::Server`], [`QueueError::Encoding`], and those of the connection.
    pub async fn migrate(address: &Address, options: &QueueOptions) -> Result<(), QueueError> {
        let connection = Connection::new(
            address,
            &options.application,
            SESSIONS,
            Durability::Kept,
            options.timing,
        );
        match engine::check(&connection).await {
            Err(QueueError::Missing { .. }) => {}
            checked => return checked,
        }
        let work = |pool: PgPool| async move {
            let mut session = pool.acquire().await?;
            // The session may not go back to the pool with the lock.
            session.close_on_drop();
            sqlx::query("SELECT set_config('lock_timeout', '0', false), set_config('statement_timeout', '0', false)")
                .execute(&mut *session)
                .await?;
            sqlx::query("SELECT pg_advisory_lock($1)")
                .bind(MIGRATION_LOCK)
                .execute(&mut *session)
                .await?;
            schema::migrate(&mut session).await?;
            engine::migrate(&pool, &mut session).await
        };
        connection.run(work).await
    }

    /// Opens a queue. Changes nothing.
    ///
    /// # Errors
    /// [`QueueError::Missing`] before the first [`Queue::migrate`], and those of it.
    pub async fn open(address: &Address, options: &QueueOptions) -> Result<Self, QueueError> {
        let connection = Connection::new(
            address,
            &options.application,
            SESSIONS,
            Durability::Kept,
            options.timing,
        );
        engine::check(&connection).await?;
        Ok(Self {
            connection,
            room: Semaphore::new(MOST_OPEN),
            open: Mutex::default(),
        })
    }

    /// Adds jobs to a group, those that are not in it. Returns the key of each input.
    ///
    /// Waits while 10,000 jobs of this queue are not collected, so collect at the same time.
    ///
    /// # Errors
    /// [`QueueError::TooLarge`], and those of the connection: some of the jobs may be added then.
    pub async fn submit(
        &self,
        group: &Group,
        inputs: &[Vec<u8>],
    ) -> Result<Vec<String>, QueueError> {
        let large = inputs
            .iter()
            .map(Vec::len)
            .find(|bytes| *bytes > MOST_BYTES);
        if let Some(bytes) = large {
            return Err(QueueError::TooLarge {
                bytes,
                most: MOST_BYTES,
            });
        }
        let keys: Vec<_> = inputs.iter().map(|input| group.key(input)).collect();
        let (mut keys_left, mut inputs_left) = (&keys[..], inputs);
        while !keys_left.is_empty() {
            let count = count_of_chunk(inputs_left);
            let (chunk, rest) = keys_left.split_at(count);
            self.take_room(group, chunk).await;
            self.add(group, chunk, &inputs_left[..count]).await?;
            (keys_left, inputs_left) = (rest, &inputs_left[count..]);
        }
        repair(&self.connection, group).await?;
        Ok(keys)
    }

    /// Adds a chunk of jobs in one transaction.
    async fn add(
        &self,
        group: &Group,
        keys: &[String],
        inputs: &[Vec<u8>],
    ) -> Result<(), QueueError> {
        let work = |pool: PgPool| async move {
            let mut tx = pool.begin().await?;
            let rows = sqlx::query_scalar(SUBMIT)
                .bind(group.kind())
                .bind(group.semantics())
                .bind(group.id());
            let new: Vec<String> = rows.bind(keys).bind(inputs).fetch_all(&mut *tx).await?;
            engine::add(&pool, &mut tx, &new, &group.flag()).await?;
            tx.commit().await
        };
        self.connection.run(work).await
    }

    /// Gives out no more jobs of a group. Results stay.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn cancel(&self, group: &Group) -> Result<(), QueueError> {
        let open = "DELETE FROM work_queue.work WHERE group_id = $1 AND state = 0 RETURNING key";
        self.delete(group, &[open]).await
    }

    /// Deletes a group with its results, after they are used. Conflicts stay.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn complete(&self, group: &Group) -> Result<(), QueueError> {
        let all = [
            "DELETE FROM work_queue.late l USING work_queue.work w
                WHERE w.key = l.key AND w.group_id = $1 RETURNING l.key",
            "DELETE FROM work_queue.results r USING work_queue.work w
                WHERE w.key = r.key AND w.group_id = $1 RETURNING r.key",
            "DELETE FROM work_queue.work WHERE group_id = $1 RETURNING key",
        ];
        self.delete(group, &all).await
    }

    /// Deletes rows of a group. The last statement deletes jobs and returns their keys.
    async fn delete(&self, group: &Group, statements: &[&'static str]) -> Result<(), QueueError> {
        let work = |pool: PgPool| async move {
            let mut tx = pool.begin().await?;
            let mut keys: Vec<String> = Vec::new();
            for statement in statements {
                let rows = sqlx::query_scalar(*statement).bind(group.id());
                keys = rows.fetch_all(&mut *tx).await?;
            }
            engine::remove(&mut tx, &keys).await?;
            tx.commit().await
        };
        self.connection.run(work).await?;
        let freed = self.lock().remove(group.id());
        self.room.add_permits(freed.map_or(0, |keys| keys.len()));
        Ok(())
    }

    /// Waits until there is room for these keys.
    async fn take_room(&self, group: &Group, keys: &[String]) {
        let permits = self.room.acquire_many(keys.len() as u32).await;
        let mut open = self.lock();
        let open = open.entry(group.id().to_owned()).or_default();
        let doubles = keys
            .iter()
            .filter(|key| !open.insert((*key).clone()))
            .count();
        if let Ok(permits) = permits {
            permits.forget();
        }
        self.room.add_permits(doubles);
    }

    /// Frees the room of keys that were collected.
    fn free_room<'a>(&self, group: &Group, keys: impl Iterator<Item = &'a String>) {
        if let Some(open) = self.lock().get_mut(group.id()) {
            self.room
                .add_permits(keys.filter(|key| open.remove(*key)).count());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, HashSet<String>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the engine a row for each open job of a group that has none. A crash of the server may forget a result whose row the
/// engine deletes afterwards.
async fn repair(connection: &Connection, group: &Group) -> Result<(), QueueError> {
    let missing = &format!(
        "SELECT key FROM work_queue.work WHERE group_id = $1 AND state = 0
            EXCEPT SELECT key FROM {}",
        engine::JOBS
    );
    let work = |pool: PgPool| async move {
        let mut tx = pool.begin().await?;
        let missing = sqlx::query_scalar(AssertSqlSafe(missing.as_str())).bind(group.id());
        let missing: Vec<String> = missing.fetch_all(&mut *tx).await?;
        for keys in missing.chunks(MOST_JOBS) {
            engine::add(&pool, &mut tx, keys, &group.flag()).await?;
        }
        tx.commit().await
    };
    connection.run(work).await
}

/// The number of inputs that go into the next transaction.
fn count_of_chunk(inputs: &[Vec<u8>]) -> usize {
    let mut bytes = 0;
    let fits = inputs.iter().take(MOST_JOBS).take_while(|input| {
        bytes += input.len();
        bytes <= MOST_INPUT
    });
    fits.count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_has_few_jobs_and_bytes() {
        let inputs = |count: usize, bytes: usize| vec![vec![0; bytes]; count];
        assert_eq!(count_of_chunk(&inputs(2500, 1)), 1000);
        assert_eq!(count_of_chunk(&inputs(20, 1 << 20)), 8);
        assert_eq!(count_of_chunk(&inputs(2, 9 << 20)), 1);
    }
}
