//! The time of this machine.

use std::time::Instant;

use jiff::Timestamp;
use zer0gravity_engine::RunClock;

/// The clock that results are stamped by.
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

    fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
