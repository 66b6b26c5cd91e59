//! Neutral drift: every message is new or a copy of a readable message.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::pool::{SampleRng, draw};

/// A kind of text as a number. Equal numbers are equal texts.
pub type Kind = u32;

/// The rules of a population of copiers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "the numbers of a closed form")]
pub struct DriftRules {
    /// The largest number of messages that a call reads (K).
    pub samples: usize,
    /// The number of newest messages that can be read (M).
    pub active: usize,
    /// The probability that a message is new, 0 to 1.
    pub mu: f64,
    /// The source of the messages that calls read.
    pub source: Source,
}

/// The source of the messages that calls read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Source {
    /// The readable messages at the time of the call.
    #[default]
    Pool,
    /// The seed messages in every round, so that no mind reads the others.
    Seeds,
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
    seeds: usize,
    next: Kind,
    rng: SampleRng,
}

impl Drift {
    /// Returns a population that begins with `seeds`. New kinds have greater numbers than all seeds.
    pub fn new(rules: DriftRules, seeds: &[Kind], rng: SampleRng) -> Self {
        Self {
            rules,
            kinds: seeds.to_vec(),
            seeds: seeds.len(),
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

    /// Returns all messages so far, seed messages first.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns the range of messages that a call can read now.
    pub(super) fn readable(&self) -> Range<usize> {
        match self.rules.source {
            Source::Pool => self.kinds.len().saturating_sub(self.rules.active)..self.kinds.len(),
            Source::Seeds => 0..self.seeds,
        }
    }

    /// Makes one call that reads from `view` and writes `messages` messages. Returns the indexes that it read, in the
    /// order drawn.
    pub(super) fn call(&mut self, view: &Range<usize>, messages: usize) -> Vec<usize> {
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

/// Returns the random numbers of run `index` of the model `name`.
pub(super) fn rng(name: &str, seed: u64, index: u32) -> SampleRng {
    let key = Sha256::digest(format!("logosphere/nulls/v1\n{name}\n{seed}\n{index}"));
    SampleRng::keyed(key.into())
}
