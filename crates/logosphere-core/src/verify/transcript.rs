//! The transcript: a run as the analyses read it.

use std::io::BufRead;

use super::fold::{Fold, Observer};
use super::resume::ResumeError;
use crate::config::Scheduling;
use crate::format::{Note, Reason};
use crate::journal::{ExperimentStart, MindInvocation, RoundEnd, SeedText};
use crate::pool::{MessageId, MindId, Retention, Round};
use crate::state::RunState;

/// The messages, calls and rounds of a run. It is read from a journal or made by a simulation.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// The number of minds.
    pub minds: u32,
    /// The largest number of messages that a mind reads in a call.
    pub samples: usize,
    /// The size of the active pool.
    pub active: usize,
    /// Whether all minds of a round read the pool as it was when the round began.
    pub snapshot: bool,
    /// The random seed of the samples.
    pub seed: u64,
    /// The signature of the seed messages.
    pub init_signature: String,
    /// The number of seed messages, which are the first messages.
    pub seeds: usize,
    /// All messages; the index is the id.
    pub messages: Vec<Message>,
    /// All calls in the order of the journal.
    pub calls: Vec<MindCall>,
    /// All rounds that ended.
    pub rounds: Vec<EndedRound>,
}

/// A message of the pool.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The text as the pool stores it, with its signature.
    pub text: String,
    /// The round in which it was added; 0 for seed messages.
    pub round: Round,
    /// The index of the call that sent it; `None` for seed messages.
    pub call: Option<usize>,
}

/// A call of a mind.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub struct MindCall {
    /// The round, from 1.
    pub round: Round,
    /// The mind, from 0.
    pub mind: MindId,
    /// The ids of the messages that it read, in the order of the prompt.
    pub sampled: Vec<MessageId>,
    /// The ids of the messages that it added.
    pub added: Vec<MessageId>,
    /// The key in the protocol meter: the outcome, or a more exact reason of the loss.
    pub reason: Reason,
    /// Deviations of the answer from the format.
    pub notes: Vec<Note>,
    /// The answer as it was received; empty in simulations.
    pub raw: String,
    /// The model that answered.
    pub model: String,
    /// The tokens of prompt and answer.
    pub tokens: [u64; 2],
    /// The cost in US dollars; `None` if unknown.
    pub cost_usd: Option<f64>,
    /// Milliseconds from the start of the call to its end.
    pub latency_ms: u64,
}

/// A round that ended.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedRound {
    /// The round, from 1.
    pub round: Round,
    /// The number of messages in the pool when it ended, including seed messages. Their ids are below this number.
    pub pool_size: usize,
}

impl Message {
    /// Returns a message of this round and this call of the transcript; a seed message has round 0 and no call.
    pub fn new(text: impl Into<String>, round: Round, call: Option<usize>) -> Self {
        let text = text.into();
        Self { text, round, call }
    }
}

impl MindCall {
    /// Returns a call of mind `mind` (from 0) in round `round` (from 1) that read and added nothing.
    pub fn new(round: Round, mind: MindId) -> Self {
        Self {
            round,
            mind,
            sampled: Vec::new(),
            added: Vec::new(),
            reason: Reason::Ok,
            notes: Vec::new(),
            raw: String::new(),
            model: String::new(),
            tokens: [0, 0],
            cost_usd: None,
            latency_ms: 0,
        }
    }
}

impl EndedRound {
    /// Returns a round that ended with `pool_size` messages in the pool.
    pub fn new(round: Round, pool_size: usize) -> Self {
        Self { round, pool_size }
    }
}

impl Transcript {
    /// Reads a journal to its end or to an incomplete last line.
    ///
    /// # Errors
    /// See [`ResumeError`]. An incomplete last line is not an error.
    pub fn read(journal: impl BufRead) -> Result<Self, ResumeError> {
        let fold = Fold::keeping(journal, Retention::Active)?.until_torn();
        let mut transcript = Self::begin(fold.start());
        fold.run(&mut transcript)?;
        Ok(transcript)
    }

    pub(crate) fn begin(start: &ExperimentStart) -> Self {
        let settings = &start.effective.settings;
        let seed = |seed: &SeedText| Message {
            text: seed.text.clone(),
            round: Round::default(),
            call: None,
        };
        Self {
            minds: settings.n_minds,
            samples: settings.k_samples,
            active: settings.m_active_pool,
            snapshot: settings.scheduling == Scheduling::Snapshot,
            seed: settings.seed,
            init_signature: settings.init_signature.clone(),
            seeds: start.seeds.len(),
            messages: start.seeds.iter().map(seed).collect(),
            calls: Vec::new(),
            rounds: Vec::new(),
        }
    }
}

impl Observer for Transcript {
    fn on_call(&mut self, call: &MindInvocation, _: u64, state: &RunState) {
        let at = self.calls.len();
        let texts = call.transmitted.iter();
        self.messages
            .extend(texts.map(|text| Message::new(text, call.round, Some(at))));
        self.calls.push(MindCall {
            round: call.round,
            mind: call.mind_id,
            sampled: call.sampled_ids.clone(),
            added: call.added_ids.clone(),
            reason: state.meter_key(call),
            notes: call.parse.notes.clone(),
            raw: call.raw_output.clone(),
            model: call.model_answered.clone(),
            tokens: [call.tokens.prompt, call.tokens.completion],
            cost_usd: call.cost_usd,
            latency_ms: call.latency_ms,
        });
    }

    fn on_round(&mut self, end: &RoundEnd, _: &RunState) {
        self.rounds
            .push(EndedRound::new(end.round, self.messages.len()));
    }
}
