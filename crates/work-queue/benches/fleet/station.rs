//! A place where requests wait for a free server, in the order of their arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::Rng as _;

/// A simulated time in nanoseconds.
pub type Nanos = u64;

/// The time that this number of seconds takes.
pub fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}

/// A draw of an exponential distribution.
pub fn exponential(random: &mut ChaCha20Rng, mean: f64) -> f64 {
    // Of the 53 bits that a double holds; never 0.
    let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    -mean * uniform.ln()
}

/// Equal servers with one line of requests before them: the cores of a machine, or one device.
pub struct Station {
    /// The times from which the servers are free.
    free: BinaryHeap<Reverse<Nanos>>,
    busy: Nanos,
    horizon: Nanos,
}

impl Station {
    /// Free servers, observed until `horizon`.
    pub fn new(servers: usize, horizon: Nanos) -> Self {
        Self {
            free: vec![Reverse(0); servers].into(),
            busy: 0,
            horizon,
        }
    }

    /// Serves a request that arrives now. Returns the time of its end. Requests come in the order of their arrival.
    pub fn serve(&mut self, now: Nanos, duration: Nanos) -> Nanos {
        let Reverse(free) = self.free.pop().unwrap_or_default();
        let begin = now.max(free);
        let end = begin + duration;
        self.free.push(Reverse(end));
        self.busy += end.min(self.horizon) - begin.min(self.horizon);
        end
    }

    /// The part of the observed time in which a server was busy.
    pub fn utilisation(&self) -> f64 {
        self.busy as f64 / (self.horizon as f64 * self.free.len() as f64)
    }
}
