//! Neutral drift: every message is new or a copy of a readable message.

use std::ops::Range;

use logosphere_core::pool::SampleRng;

/// A kind of text as a number. Equal numbers are equal texts.
pub type Kind = u32;

/// The rules of a population of copiers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftRules {
    /// The largest number of messages that a call reads (K).
    pub samples: usize,
    /// The number of newest messages that can be read (M).
    pub active: usize,
    /// The probability that a message is new, 0 to 1.
    pub mu: f64,
}

/// A population of copiers without texts: every message is a [`Kind`].
///
/// Each call draws `min(K, readable)` messages as an orchestrator does. Each of its messages is new with probability
/// `mu`. Otherwise it is a copy of one of the drawn messages, all equally likely. A call that reads nothing writes
/// something new.
#[derive(Debug, Clone)]
pub struct Drift {
    rules: DriftRules,
    kinds: Vec<Kind>,
    next: Kind,
    rng: SampleRng,
}

impl Drift {
    /// Returns a population that begins with `seeds`. New kinds have greater numbers than all seeds.
    pub fn new(rules: DriftRules, seeds: &[Kind], rng: SampleRng) -> Self {
        Self {
            rules,
            kinds: seeds.to_vec(),
            next: seeds.iter().max().map_or(0, |last| last + 1),
            rng,
        }
    }

    /// Runs one round of `minds` calls with one message each.
    ///
    /// With `snapshot`, all read the messages that were readable when the round began. Otherwise each also reads the
    /// messages of those before it.
    pub fn round(&mut self, minds: u32, snapshot: bool) {
        let view = self.readable();
        for _ in 0..minds {
            let view = if snapshot {
                view.clone()
            } else {
                self.readable()
            };
            self.call(&view, 1);
        }
    }

    /// Returns the readable messages, oldest first.
    pub fn window(&self) -> &[Kind] {
        &self.kinds[self.kinds.len().saturating_sub(self.rules.active)..]
    }

    /// Returns the range of messages that a call can read now.
    fn readable(&self) -> Range<usize> {
        self.kinds.len().saturating_sub(self.rules.active)..self.kinds.len()
    }

    /// Makes one call that reads from `view` and writes `messages` messages. Returns the indexes that it read, in the
    /// order drawn.
    fn call(&mut self, view: &Range<usize>, messages: usize) -> Vec<usize> {
        let mut read = draw(self.rules.samples, view.len(), &mut self.rng);
        for place in &mut read {
            *place += view.start;
        }
        for _ in 0..messages {
            let new = read.is_empty() || self.rng.unit() < self.rules.mu;
            let kind = if new {
                self.next += 1;
                self.next - 1
            } else {
                self.kinds[read[self.rng.below(read.len() as u64) as usize]]
            };
            self.kinds.push(kind);
        }
        read
    }
}

/// Returns the share of equal pairs among all pairs; `None` for fewer than two messages.
pub fn duplicate_rate(kinds: &[Kind]) -> Option<f64> {
    if kinds.len() < 2 {
        return None;
    }
    let mut sorted = kinds.to_vec();
    sorted.sort_unstable();
    let equal: usize = (sorted.chunk_by(Kind::eq))
        .map(|same| same.len() * (same.len() - 1))
        .sum();
    Some(equal as f64 / (kinds.len() * (kinds.len() - 1)) as f64)
}

/// Draws `min(k, n)` different indexes below `n`.
fn draw(k: usize, n: usize, rng: &mut SampleRng) -> Vec<usize> {
    let mut left: Vec<usize> = (0..n).collect();
    (0..k.min(n))
        .map(|_| left.swap_remove(rng.below(left.len() as u64) as usize))
        .collect()
}
