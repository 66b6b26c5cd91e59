//! A run as the analyses see it: who read what, and what came of it.

use crate::parser::{Note, Reason};
use crate::pool::MsgId;

/// What happened in a run, without how it was written down. A journal makes one, and so does a simulation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// Minds.
    pub minds: u32,
    /// Messages that each reads, at most.
    pub samples: usize,
    /// Messages that can be read.
    pub active: usize,
    /// Whether all minds of a round read the pool as it stood when the round began.
    pub snapshot: bool,
    /// The seed of the samples.
    pub seed: u64,
    /// What seeds are signed with.
    pub init_signature: String,
    /// How many of the first messages are seeds.
    pub seeds: usize,
    /// Every message; the position is the id.
    pub messages: Vec<Message>,
    /// Every call in the order of the journal.
    pub calls: Vec<Call>,
    /// Every round that ended.
    pub rounds: Vec<Round>,
}

/// A message of the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The text as it lies in the pool, stamp included.
    pub text: String,
    /// The round that it came in; 0 for seeds.
    pub round: u32,
    /// The call that it came from; none for seeds.
    pub call: Option<usize>,
}

/// A call of a mind.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// In which round, from 1.
    pub round: u32,
    /// Of which mind, from 0.
    pub mind: u32,
    /// What it read, in the order of the prompt.
    pub sampled: Vec<MsgId>,
    /// What it added.
    pub added: Vec<MsgId>,
    /// What became of its answer.
    pub reason: Reason,
    /// What is remarkable about it.
    pub notes: Vec<Note>,
    /// The answer as it came; empty in simulations.
    pub raw: String,
    /// The model that answered.
    pub model: String,
    /// Tokens of prompt and answer.
    pub tokens: [u64; 2],
    /// Dollars, if known.
    pub cost_usd: Option<f64>,
    /// From the question to the answer.
    pub latency_ms: u64,
}

/// A round that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// Which, from 1.
    pub round: u32,
    /// Messages in the pool when it ended, seeds included: ids below this.
    pub pool_size: usize,
}
