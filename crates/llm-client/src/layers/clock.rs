use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

/// A source of time. [`SystemClock`] is the machine's.
pub trait SleepClock: Send + Sync {
    /// The time of day; for records and HTTP dates.
    fn now(&self) -> jiff::Timestamp;

    /// The time since a fixed moment, which never decreases. For waits.
    fn instant(&self) -> Duration;

    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The clock of the machine. Its waits need tokio's runtime.
#[derive(Debug, Clone)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// The clock of the machine.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that callers pass in"
    )]
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the clock that callers pass in"
)]
impl SleepClock for SystemClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }

    fn instant(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }
}
