//! Time, from outside: it goes into the rows, and decides when a group of decisions is stored, but never into a verdict.

use std::time::Duration;

use jiff::Timestamp;

/// A clock.
pub trait RunClock: Send + Sync {
    /// The time of day.
    fn now(&self) -> Timestamp;

    /// Time since some fixed moment, never going back.
    fn elapsed(&self) -> Duration;
}

/// A clock that stands still at a moment: what tests and replays want.
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
