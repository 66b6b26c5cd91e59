//! The time of this machine.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use logosphere_core::EventClock;

/// The clock that events are stamped by.
pub struct SystemClock {
    begun: Instant,
    /// What it is ahead of the time.
    ahead: SignedDuration,
}

impl SystemClock {
    pub fn new() -> Self {
        Self {
            begun: Instant::now(),
            ahead: SignedDuration::ZERO,
        }
    }

    /// A clock of a year that nobody writes about.
    pub fn canary() -> Self {
        Self {
            ahead: SignedDuration::from_hours(500 * 365 * 24),
            ..Self::new()
        }
    }
}

impl EventClock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now() + self.ahead
    }

    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
