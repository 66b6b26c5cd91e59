//! The time of this machine.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use popper_discovery::Clock;

/// The clock that runs are stamped by.
pub struct SystemClock {
    begun: Instant,
}

impl SystemClock {
    pub fn new() -> Self {
        Self {
            begun: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}
