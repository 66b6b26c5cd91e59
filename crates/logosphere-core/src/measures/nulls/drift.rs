//! Neutral drift: messages that are copies of what can be read, or new, and nothing else.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::pool::{SampleRng, draw};

/// What a kind of text is called here: a number. Equal numbers are equal texts.
pub type Kind = u32;

/// The rules of a population of copiers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftRules {
    /// Messages that each call reads, at most (K).
    pub samples: usize,
    /// Messages that can be read: the newest so many (M).
    pub active: usize,
    /// The probability that a message is new, 0 to 1.
    pub mu: f64,
    /// Where calls read.
    pub source: Source,
}

/// Where calls read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// What can be read when the call is made.
    #[default]
    Pool,
    /// The seeds, for ever: what the others write reaches nobody.
    Seeds,
}

/// A population of copiers without the texts: every message is a [`Kind`].
///
/// Each call draws `min(K, readable)` messages as an orchestrator does. Each of its messages is new with probability
/// `mu`, otherwise a copy of one of those drawn, all equally likely; who reads nothing writes something new.
#[derive(Debug, Clone)]
pub struct Drift {
    rules: DriftRules,
    kinds: Vec<Kind>,
    seeds: usize,
    next: Kind,
    rng: SampleRng,
}

impl Drift {
    /// A population that begins with `seeds`. A kind that is new is above all of them.
    pub fn new(rules: DriftRules, seeds: &[Kind], rng: SampleRng) -> Self {
        Self {
            rules,
            kinds: seeds.to_vec(),
            seeds: seeds.len(),
            next: seeds.iter().max().map_or(0, |last| last + 1),
            rng,
        }
    }

    /// One round of `minds` calls with one message each; with `snapshot` all read what could be read when the round
    /// began, otherwise what the ones before them wrote, too.
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

    /// What can be read now, oldest first.
    pub fn window(&self) -> &[Kind] {
        &self.kinds[self.kinds.len().saturating_sub(self.rules.active)..]
    }

    /// Every message so far, seeds first.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The places of the messages that a call made now can read.
    pub(super) fn readable(&self) -> Range<usize> {
        match self.rules.source {
            Source::Pool => self.kinds.len().saturating_sub(self.rules.active)..self.kinds.len(),
            Source::Seeds => 0..self.seeds,
        }
    }

    /// One call that reads in `view` and writes `messages`: the places that it read, in the order drawn.
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

/// The share of equal pairs among all pairs of different places; none with fewer than two.
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

/// The random numbers of run `index` of the model `name`.
pub(super) fn rng(name: &str, seed: u64, index: u32) -> SampleRng {
    let key = Sha256::digest(format!("logosphere/nulls/v1\n{name}\n{seed}\n{index}"));
    SampleRng::keyed(key.into())
}
