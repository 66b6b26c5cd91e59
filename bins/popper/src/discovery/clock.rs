//! The time of this machine.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use popper_discovery::RunClock;

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

impl RunClock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}
