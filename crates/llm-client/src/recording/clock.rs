//! The clock of a replay.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_types::Clock;

use super::cassette::Cassette;
use crate::{Error, Timer};

/// A clock that shows the time of a recording, so that two replays leave the same bytes on any day.
///
/// It shows the time of the cassette's first line until a client replays, then the latest time of the lines that
/// the client has answered from. [`Clock::elapsed`] follows it and not the machine. Clones show the same time.
///
/// ```no_run
/// use std::sync::Arc;
/// use llm_client::{Cassette, Client, Clock, Echo, ReplayClock};
///
/// let cassette = Cassette::new("calls.jsonl");
/// let clock = ReplayClock::open(&cassette)?;
/// let client = Client::builder(Arc::new(Echo::new(7)), Arc::new(clock.clone())).replay(cassette).build()?;
/// println!("recorded at {:?}", clock.now());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ReplayClock {
    /// The nanoseconds since 1970.
    now: Arc<AtomicU64>,
}

impl ReplayClock {
    /// The clock of a cassette, for the client that replays it. Without a line it shows the year 1970.
    ///
    /// The lines of a pipe are left for the client, which sets the clock when it is built.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read, or is not a cassette.
    pub fn open(cassette: &Cassette) -> Result<Self, Error> {
        let clock = Self {
            now: Arc::default(),
        };
        if let Some(time) = cassette.first_time()? {
            clock.replayed(time);
        }
        Ok(clock)
    }
}

impl Clock for ReplayClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.now.load(Ordering::Acquire))
    }
}

impl Timer for ReplayClock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }

    fn replayed(&self, time: SystemTime) {
        let since = time.duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since.map_or(0, |since| {
            u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
        });
        self.now.fetch_max(nanos, Ordering::AcqRel);
    }
}
