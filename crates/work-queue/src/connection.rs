//! The sessions of a process, and the patience with a server that cannot be reached.

use std::fmt;
use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use tokio::time::{Sleep, sleep, timeout};

use crate::QueueError;
use crate::address::Address;

/// The longest wait between two tries.
const LONGEST: Duration = Duration::from_secs(10);

/// The shortest wait between two tries.
const SHORTEST: Duration = Duration::from_millis(100);

/// The limit for a new session, or for a free one.
const CONNECT: Duration = Duration::from_secs(5);

/// The times that a queue and its workers share. All processes of one database should have the same lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timing {
    /// The time without a sign of life after which a worker's jobs belong to others, 1 s to 1 h.
    pub lease: Duration,
    /// The time to wait for a server that cannot be reached.
    pub patience: Duration,
    /// The time after which a statement without an answer counts as lost.
    pub stall: Duration,
    /// The seed of the random part of waits.
    pub seed: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(30),
            patience: Duration::from_mins(10),
            stall: Duration::from_secs(75),
            seed: 0,
        }
    }
}

/// Waits that double from 0.1 s to 10 s, each shortened by a random part of up to a half.
pub(crate) struct Backoff {
    next: Duration,
    random: ChaCha20Rng,
}

impl Backoff {
    pub(crate) fn new(random: ChaCha20Rng) -> Self {
        Self {
            next: SHORTEST,
            random,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.next = SHORTEST;
    }

    pub(crate) async fn wait(&mut self) {
        sleep(self.next_wait()).await;
    }

    fn next_wait(&mut self) -> Duration {
        let part = f64::from(self.random.next_u32()) / f64::from(u32::MAX) / 2.0;
        let wait = self.next.mul_f64(1.0 - part);
        self.next = (self.next * 2).min(LONGEST);
        wait
    }
}

/// The waits of a process that cannot reach its server: from 0.1 s, doubling to 10 s, until the patience is over.
pub struct Patience {
    backoff: Backoff,
    limit: Duration,
    end: Pin<Box<Sleep>>,
}

impl Patience {
    /// The patience of these times.
    pub fn new(timing: &Timing) -> Self {
        Self {
            backoff: Backoff::new(ChaCha20Rng::seed_from_u64(timing.seed)),
            limit: timing.patience,
            end: Box::pin(sleep(timing.patience)),
        }
    }

    /// Begins again, since the server was reached.
    pub fn restore(&mut self) {
        self.backoff.reset();
        self.end.set(sleep(self.limit));
    }

    /// Waits before the next try. Returns `false` if the patience is over.
    pub async fn wait(&mut self) -> bool {
        tokio::select! {
            biased;
            () = &mut self.end => false,
            () = self.backoff.wait() => true,
        }
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Patience")
    }
}

/// A pool of sessions that repeats what a lost connection interrupts.
pub(crate) struct Connection {
    pool: Mutex<PgPool>,
    name: String,
    sessions: u32,
    durability: Durability,
    pub(crate) address: Address,
    pub(crate) timing: Timing,
    waits: AtomicU64,
}

/// The loss that a crash of the server may bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// No committed statement is lost.
    Kept,
    /// The last claims and results are lost, and made again.
    Relaxed,
}

/// Opens at most this number of sessions, each when it is needed.
pub(crate) fn pool(address: &Address, name: &str, sessions: u32, durability: Durability) -> PgPool {
    let options = address.options(name);
    let options = match durability {
        Durability::Kept => options,
        Durability::Relaxed => options.options([("synchronous_commit", "off")]),
    };
    PgPoolOptions::new()
        .max_connections(sessions)
        .acquire_timeout(CONNECT)
        .connect_lazy_with(options)
}

impl Connection {
    pub(crate) fn new(
        address: &Address,
        name: &str,
        sessions: u32,
        durability: Durability,
        timing: Timing,
    ) -> Self {
        Self {
            pool: Mutex::new(pool(address, name, sessions, durability)),
            name: name.to_owned(),
            sessions,
            durability,
            address: address.clone(),
            timing,
            waits: AtomicU64::new(0),
        }
    }

    /// Sessions of another pool to the same database.
    pub(crate) fn again(&self, sessions: u32) -> Self {
        Self::new(
            &self.address,
            &self.name,
            sessions,
            self.durability,
            self.timing,
        )
    }

    /// The sessions that are used now.
    pub(crate) fn pool(&self) -> PgPool {
        self.lock().clone()
    }

    /// Leaves sessions that give no answer: they never come back to their pool.
    pub(crate) fn renew(&self) {
        *self.lock() = pool(&self.address, &self.name, self.sessions, self.durability);
    }

    fn lock(&self) -> MutexGuard<'_, PgPool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits with a random part that no others have.
    pub(crate) fn backoff(&self) -> Backoff {
        let mut random = ChaCha20Rng::seed_from_u64(self.timing.seed);
        random.set_stream(self.waits.fetch_add(1, Ordering::Relaxed));
        Backoff::new(random)
    }

    /// Does `work`, which must be harmless when it is repeated, until it is answered or the patience is over.
    pub(crate) async fn run<T, F>(&self, work: impl Fn(PgPool) -> F) -> Result<T, QueueError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        let mut last = sqlx::Error::PoolTimedOut;
        let tries = async {
            let mut backoff = self.backoff();
            loop {
                match timeout(self.timing.stall, work(self.pool())).await {
                    Ok(Err(error)) if is_lost(&error) => last = error,
                    Ok(answer) => return answer,
                    Err(_) => {
                        last = sqlx::Error::PoolTimedOut;
                        self.renew();
                    }
                }
                backoff.wait().await;
            }
        };
        let answer = timeout(self.timing.patience, tries).await;
        answer.map_or_else(
            |_| Err(self.lost(last)),
            |answer| answer.map_err(|error| self.error(error)),
        )
    }

    pub(crate) fn lost(&self, source: impl Into<crate::error::Cause>) -> QueueError {
        QueueError::Lost {
            place: self.address.to_string(),
            patience: self.timing.patience,
            source: source.into(),
        }
    }

    pub(crate) fn error(&self, source: impl Into<crate::error::Cause>) -> QueueError {
        QueueError::database(&self.address, source)
    }
}

/// Whether the same statement may succeed later: a cut or crowded connection, a server that stops or starts, a deadlock.
pub(crate) fn is_lost(error: &sqlx::Error) -> bool {
    use sqlx::Error;
    match error {
        // A certificate that is refused.
        Error::Io(error) if error.kind() == ErrorKind::InvalidData => false,
        Error::Io(_) | Error::Protocol(_) | Error::PoolTimedOut | Error::WorkerCrashed => true,
        Error::Database(error) => error.code().is_some_and(|code| is_lost_code(&code)),
        _ => false,
    }
}

/// The same for the five characters of a server's error.
pub(crate) fn is_lost_code(code: &str) -> bool {
    code.starts_with("08")
        || [
            "57P01", "57P02", "57P03", "53300", "40P01", "55P03", "57014",
        ]
        .contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_double_and_differ() {
        let address = Address::parse("postgres://a@localhost/b").unwrap();
        let connection = Connection::new(&address, "test", 1, Durability::Kept, Timing::default());
        let (mut one, mut other) = (connection.backoff(), connection.backoff());
        for index in 0..12 {
            let full = (SHORTEST * 2_u32.pow(index)).min(LONGEST);
            let waits = [one.next_wait(), other.next_wait()];
            assert!(
                waits.iter().all(|wait| *wait >= full / 2 && *wait <= full),
                "{waits:?}"
            );
            assert_ne!(waits[0], waits[1]);
        }
        one.reset();
        assert!(one.next_wait() <= SHORTEST);
    }

    #[test]
    fn a_lost_connection_is_told_from_an_answer() {
        for code in ["08006", "57P01", "57P03", "53300"] {
            assert!(is_lost_code(code), "{code}");
        }
        for code in ["42501", "28P01", "3D000", "42P01"] {
            assert!(!is_lost_code(code), "{code}");
        }
        assert!(is_lost(&sqlx::Error::PoolTimedOut));
        assert!(!is_lost(&sqlx::Error::RowNotFound));
    }
}
