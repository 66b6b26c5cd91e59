use tokio::time::Instant;

/// Calls a second, and how many may come at once.
const A_SECOND: f64 = 20.0;
const BURST: f64 = 40.0;

/// Counts the calls of a page.
#[derive(Debug)]
pub(crate) struct Rate {
    left: f64,
    at: Instant,
}

impl Rate {
    pub fn new(now: Instant) -> Self {
        Self {
            left: BURST,
            at: now,
        }
    }

    /// Whether one more call is allowed.
    pub fn take(&mut self, now: Instant) -> bool {
        let passed = now.duration_since(self.at).as_secs_f64();
        self.at = now;
        self.left = (self.left + passed * A_SECOND).min(BURST);
        if self.left < 1.0 {
            return false;
        }
        self.left -= 1.0;
        true
    }
}
