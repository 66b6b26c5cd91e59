//! Time as a parameter. [`SystemClock`] is the only reader of the machine's time in the libraries.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// A source of the time of day and of durations.
pub trait Clock: Send + Sync {
    /// The time of day, for records.
    fn now(&self) -> SystemTime;

    /// The time since a fixed moment, which never decreases. For waits and limits.
    fn elapsed(&self) -> Duration;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> SystemTime {
        (**self).now()
    }

    fn elapsed(&self) -> Duration {
        (**self).elapsed()
    }
}

/// The clock of the machine.
#[derive(Debug, Clone)]
pub struct SystemClock {
    begun: Instant,
    ahead: Duration,
}

impl SystemClock {
    /// The clock of the machine; its [`Clock::elapsed`] begins at zero.
    pub fn new() -> Self {
        Self::ahead_by(Duration::ZERO)
    }

    /// A clock whose time of day is ahead of the machine's, for runs that look for their own date in texts.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that callers pass in"
    )]
    pub fn ahead_by(ahead: Duration) -> Self {
        Self {
            begun: Instant::now(),
            ahead,
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
impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now() + self.ahead
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

/// A clock that does not move, for tests and examples.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a clock that does not move is its time and nothing else"
)]
pub struct FixedClock(pub SystemTime);

impl Clock for FixedClock {
    fn now(&self) -> SystemTime {
        self.0
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_day_is_ahead_and_the_elapsed_time_begins_at_zero() {
        let day = Duration::from_hours(24);
        let (here, ahead) = (SystemClock::new(), SystemClock::ahead_by(day));
        let earlier = here.now();
        assert!(ahead.now() >= earlier + day);
        assert!(ahead.elapsed() < day);
        let first = here.elapsed();
        assert!(here.elapsed() >= first);
    }
}
