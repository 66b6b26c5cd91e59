//! The clock of this machine.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use logosphere_core::EventClock;

/// The clock that gives events their times.
pub struct SystemClock {
    begun: Instant,
    /// The offset from the time of the machine.
    ahead: SignedDuration,
}

impl SystemClock {
    pub fn new() -> Self {
        Self {
            begun: Instant::now(),
            ahead: SignedDuration::ZERO,
        }
    }

    /// Returns a clock in a year that no text mentions.
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
