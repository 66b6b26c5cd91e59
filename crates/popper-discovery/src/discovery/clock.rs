//! The clock of a run. Its time is stored in rows and decides when a group of decisions is stored. It never enters a verdict.

use std::time::Duration;

use jiff::Timestamp;

/// A source of the time of day and of durations.
pub trait RunClock: Send + Sync {
    /// The time of day.
    fn now(&self) -> Timestamp;

    /// The time since a fixed moment; it never decreases.
    fn elapsed(&self) -> Duration;
}

/// A clock that always shows the same time, for tests and replays.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl RunClock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}
