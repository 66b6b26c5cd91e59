use tokio::time::Instant;

/// The limit of a rate.
#[derive(Debug)]
pub(crate) struct Rate {
    left: f64,
    at: Instant,
    a_second: f64,
    at_once: f64,
}

impl Rate {
    /// `at_once` times in a row, and `a_second` times a second in the long run.
    fn new(a_second: f64, at_once: f64) -> Self {
        Self {
            left: at_once,
            at: Instant::now(),
            a_second,
            at_once,
        }
    }

    /// Calls of a page's shells.
    pub fn of_calls() -> Self {
        Self::new(20.0, 40.0)
    }

    /// Messages of the person's: a face could say many more while one click counts.
    pub fn of_messages() -> Self {
        Self::new(1.0, 1.0)
    }

    /// Faces that faces make, and what they say while no person is at them. One that replaces itself without end would
    /// push all others out of those that are kept.
    pub fn of_faces() -> Self {
        Self::new(1.0 / 300.0, 3.0)
    }

    /// Whether it is allowed once more.
    pub fn take(&mut self) -> bool {
        let now = Instant::now();
        let passed = now.duration_since(self.at).as_secs_f64();
        self.at = now;
        self.left = (self.left + passed * self.a_second).min(self.at_once);
        if self.left < 1.0 {
            return false;
        }
        self.left -= 1.0;
        true
    }
}
