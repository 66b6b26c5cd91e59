//! A run as the analyses see it: who read what, and what came of it.

use std::io::BufRead;

use super::fold::{Fold, Observer};
use super::resume::ResumeError;
use crate::config::Scheduling;
use crate::format::{Note, Reason};
use crate::journal::{ExperimentStart, MindInvocation, RoundEnd, SeedText};
use crate::pool::{MessageId, MindId, Retention, Round};
use crate::state::RunState;

/// What happened in a run, without how it was written down. A journal makes one, and so does a simulation.
#[non_exhaustive]
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
    pub calls: Vec<MindCall>,
    /// Every round that ended.
    pub rounds: Vec<EndedRound>,
}

/// A message of the pool.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The text as it lies in the pool, stamp included.
    pub text: String,
    /// The round that it came in; 0 for seeds.
    pub round: Round,
    /// The call that it came from; none for seeds.
    pub call: Option<usize>,
}

/// A call of a mind.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub struct MindCall {
    /// In which round, from 1.
    pub round: Round,
    /// Of which mind, from 0.
    pub mind: MindId,
    /// What it read, in the order of the prompt.
    pub sampled: Vec<MessageId>,
    /// What it added.
    pub added: Vec<MessageId>,
    /// Its key in the protocol meter: its reason, or more exactly why its answer was lost.
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
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedRound {
    /// Which, from 1.
    pub round: Round,
    /// Messages in the pool when it ended, seeds included: ids below this.
    pub pool_size: usize,
}

impl Message {
    /// Returns a message that came in this round, and from this call of the transcript; a seed has round 0 and no call.
    pub fn new(text: impl Into<String>, round: Round, call: Option<usize>) -> Self {
        let text = text.into();
        Self { text, round, call }
    }
}

impl MindCall {
    /// Returns a call in round `round`, from 1, of mind `mind`, from 0: one that read and added nothing.
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
    /// Returns a round that ended with so many messages in the pool.
    pub fn new(round: Round, pool_size: usize) -> Self {
        Self { round, pool_size }
    }
}

impl Transcript {
    /// Reads a journal, to its end or to a last line that was not written to its end.
    ///
    /// # Errors
    /// See [`ResumeError`]; a torn last line is none.
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
