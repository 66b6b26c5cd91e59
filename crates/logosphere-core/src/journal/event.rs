//! The events of a journal, one type for each.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::call::{AttemptFacts, MindInvocation};
use super::failure::FailureClass;
use super::fork::{Forked, Intervention};
use crate::config::{Effective, Options, Settings};
use crate::format::{End, Reason, sha256_hex};
use crate::pool::{ALGORITHM, MessageId, MindId, Round};

/// The version of the format of new journals. Older journals are read by the rules of their version.
pub const SCHEMA_VERSION: u32 = 2;

/// An event of a run. Its JSON object has the fields in the order of the structs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Event {
    /// The start of the run.
    ExperimentStart(Box<ExperimentStart>),
    /// The start of a round.
    RoundStart(RoundStart),
    /// A call of a mind.
    MindInvocation(Box<MindInvocation>),
    /// The end of a round.
    RoundEnd(RoundEnd),
    /// The end of the run.
    ExperimentEnd(Box<ExperimentEnd>),
    /// An interruption after which the run can be resumed.
    RunInterrupted(RunInterrupted),
    /// The start of another process that resumes the run.
    RunResumed(RunResumed),
    /// A call that failed after all its attempts.
    Error(CallError),
    /// The start of a fork.
    Forked(Forked),
    /// A change from outside.
    Intervention(Box<Intervention>),
}

impl Event {
    /// The event's `type`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ExperimentStart(_) => "experiment_start",
            Self::RoundStart(_) => "round_start",
            Self::MindInvocation(_) => "mind_invocation",
            Self::RoundEnd(_) => "round_end",
            Self::ExperimentEnd(_) => "experiment_end",
            Self::RunInterrupted(_) => "run_interrupted",
            Self::RunResumed(_) => "run_resumed",
            Self::Error(_) => "error",
            Self::Forked(_) => "forked",
            Self::Intervention(_) => "intervention",
        }
    }
}

/// An event with the fields that every line of a journal has.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The time as it is written: UTC, RFC 3339, milliseconds, `Z`.
    pub timestamp: String,
    /// The line's number, from 0.
    pub seq: u64,
    /// The event.
    pub event: Event,
    /// The hash that ties the line to all lines before it: 32 hex digits.
    pub chain: String,
}

/// The first event: the settings, the seed messages and the form of every request.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentStart {
    /// The settings that the requirement names.
    pub config: Parameters,
    /// The signature below every seed message.
    pub init_signature: String,
    /// The number of seed messages.
    pub num_seed_messages: u64,
    /// The version of the journal's format: 1 or 2.
    pub schema_version: u32,
    /// The run's id, from which the first link of the chain is computed.
    pub run_id: String,
    /// The program and its version.
    pub software: String,
    /// The provider of the model, or `offline`.
    pub provider: String,
    /// Whether scripted minds answer instead of a model.
    pub offline: bool,
    /// All settings after all layers.
    pub effective: Effective,
    /// The text that every prompt begins with.
    pub system_prompt: String,
    /// The SHA-256 of that text.
    pub system_prompt_sha256: String,
    /// SHA-256 of `init.md`.
    pub init_sha256: String,
    /// The source of the samples.
    pub rng: RngFacts,
    /// The seed messages as the pool stores them.
    pub seeds: Vec<SeedText>,
    /// The constant part of every request.
    pub request_template: RequestTemplate,
}

impl ExperimentStart {
    /// Returns the first event of a run with these settings; `seeds` are the texts as the pool stores them.
    pub fn new(
        mut effective: Effective,
        run_id: String,
        seeds: impl Iterator<Item = String>,
        request_template: RequestTemplate,
    ) -> Self {
        effective.system_prompt_sha256 = sha256_hex(&effective.settings.system_prompt);
        let settings = &effective.settings;
        let seeds: Vec<_> = (0..)
            .zip(seeds)
            .map(|(id, text)| SeedText::new(MessageId(id), text))
            .collect();
        let prompt = settings.system_prompt.clone();
        Self {
            config: Parameters {
                n_minds: settings.n_minds,
                k_samples: settings.k_samples,
                m_active_pool: settings.m_active_pool,
                max_rounds: settings.max_rounds,
                token_limit: settings.token_limit,
                model: settings.model.clone(),
            },
            init_signature: settings.init_signature.clone(),
            num_seed_messages: seeds.len() as u64,
            schema_version: SCHEMA_VERSION,
            run_id,
            software: effective.software.clone(),
            provider: settings.provider.clone(),
            offline: settings.provider == "offline",
            system_prompt_sha256: effective.system_prompt_sha256.clone(),
            system_prompt: prompt,
            init_sha256: effective.init_sha256.clone(),
            rng: RngFacts {
                algorithm: ALGORITHM.to_owned(),
                seed: settings.seed,
            },
            seeds,
            request_template: request_template.with_options(settings),
            effective,
        }
    }
}

/// The settings that the requirement names, as it names them.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct Parameters {
    /// The number of minds.
    pub n_minds: u32,
    /// The number of messages that a mind reads in a call.
    pub k_samples: usize,
    /// The number of newest messages that can be read.
    pub m_active_pool: usize,
    /// The number of rounds.
    pub max_rounds: u32,
    /// The limit of an answer in tokens.
    pub token_limit: u32,
    /// The model's id at its provider.
    pub model: String,
}

/// The source of the samples: a generator and its random seed.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RngFacts {
    /// The generator: `chacha20/1`.
    pub algorithm: String,
    /// The random seed.
    pub seed: u64,
}

/// A seed message.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedText {
    /// The message's id, from 0.
    pub id: MessageId,
    /// The text with its signature.
    pub text: String,
}

impl SeedText {
    /// Returns a seed message with this id in the pool.
    pub fn new(id: MessageId, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { id, text }
    }
}

/// The constant part of every request of a mind: all of the body but the prompt.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestTemplate {
    /// The protocol of the server, or `local`.
    pub dialect: String,
    /// The options besides prompt, model and token limit.
    pub options: Options,
    /// The names of the headers in the order sent.
    pub header_names: Vec<String>,
    /// The body before the user's text and after it. The text goes between them as a JSON string without quotes.
    pub body: [String; 2],
    /// The templates of the entries of [`Settings::minds`] after the first, whose template this is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Self>,
}

impl RequestTemplate {
    /// Returns the template of an entry of [`Settings::minds`]; this one without further ones.
    pub fn of_entry(&self, entry: usize) -> &Self {
        let further = entry.checked_sub(1);
        further.and_then(|at| self.further.get(at)).unwrap_or(self)
    }

    /// Returns the template of one entry, without the further ones.
    #[must_use]
    pub fn alone(&self) -> Self {
        let further = Vec::new();
        Self {
            further,
            ..self.clone()
        }
    }

    /// Returns the template of these entries, at least one.
    pub(crate) fn list(mut entries: Vec<Self>) -> Self {
        let mut first = entries.remove(0);
        first.further = entries;
        first
    }

    /// Returns the template with the options of these settings.
    fn with_options(mut self, settings: &Settings) -> Self {
        let mut entries = settings.entries().into_iter();
        if let Some(first) = entries.next() {
            self.options = first.options;
        }
        for (template, entry) in self.further.iter_mut().zip(entries) {
            template.options = entry.options;
        }
        self
    }
}

/// The start of a round.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundStart {
    /// The round, from 1.
    pub round: Round,
    /// The number of messages in the pool.
    pub pool_size: u64,
    /// The number of messages that can be read.
    pub active_pool_size: u64,
}

/// The end of a round, with the sums of the run so far.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundEnd {
    /// The round, from 1.
    pub round: Round,
    /// The number of messages that the round added.
    pub messages_added: u64,
    /// The texts of these messages.
    pub pool_delta: Vec<String>,
    /// The ids of these messages.
    pub added_ids: Vec<MessageId>,
    /// The protocol meter of the round.
    pub protocol: Protocol,
    /// Tokens of the run so far.
    pub tokens_total: TokenTotals,
    /// US dollars of the run so far; `None` if no price is known.
    pub cost_usd_total: Option<f64>,
}

/// The protocol meter: how many answers kept to the format.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Protocol {
    /// Answers in the requested format.
    pub compliant: u64,
    /// Answers that are accepted although their end deviates from the format.
    pub tolerated: u64,
    /// Answers of which nothing was sent because of their form.
    pub lost: u64,
    /// The number of calls by outcome. Failed calls are in no other number.
    pub by_reason: BTreeMap<Reason, u64>,
}

impl fmt::Display for Protocol {
    /// Writes `91 % ok, 6 % tolerated, 3 % lost (unterminated 2, no_delimiter 1), 2 calls failed`: shares of the
    /// answers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answers = self.compliant + self.tolerated + self.lost;
        let failed = self.by_reason.get(&Reason::CallFailed);
        let failed = failed.copied().unwrap_or_default();
        let calls = if failed == 1 { "call" } else { "calls" };
        match (answers, failed) {
            (0, 0) => return f.write_str("no answers"),
            (0, _) => return write!(f, "{failed} {calls} failed"),
            _ => {}
        }
        let share = |count: u64| {
            (100 * count + answers / 2)
                .checked_div(answers)
                .unwrap_or(0)
        };
        write!(f, "{} % ok", share(self.compliant))?;
        if self.tolerated > 0 {
            write!(f, ", {} % tolerated", share(self.tolerated))?;
        }
        if self.lost > 0 {
            write!(f, ", {} % lost", share(self.lost))?;
            let reasons = self.losses().into_iter();
            let reasons: Vec<_> = reasons
                .map(|(reason, count)| format!("{reason} {count}"))
                .collect();
            write!(f, " ({})", reasons.join(", "))?;
        }
        if failed > 0 {
            write!(f, ", {failed} {calls} failed")?;
        }
        Ok(())
    }
}

impl Protocol {
    /// Counts a call with its [key](MindInvocation::meter_key).
    pub(crate) fn count(&mut self, key: Reason, end: End) {
        *self.by_reason.entry(key).or_insert(0) += 1;
        match (key, end) {
            (Reason::CallFailed, _) => {}
            (reason, _) if reason.is_loss() => self.lost += 1,
            (_, End::Lenient) => self.tolerated += 1,
            _ => self.compliant += 1,
        }
    }

    /// Returns the reasons why answers were lost with their counts, the most frequent first.
    pub fn losses(&self) -> Vec<(Reason, u64)> {
        let counts = self
            .by_reason
            .iter()
            .map(|(reason, count)| (*reason, *count));
        let mut losses: Vec<_> = counts.filter(|(reason, _)| reason.is_loss()).collect();
        losses.sort_by_key(|(reason, count)| (std::cmp::Reverse(*count), *reason));
        losses
    }
}

/// The tokens of a run.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenTotals {
    /// The tokens of the prompts.
    pub prompt: u64,
    /// The tokens of the answers.
    pub completion: u64,
}

/// The end of the run, with its sums.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentEnd {
    /// The number of rounds that ended.
    pub total_rounds: u32,
    /// The number of messages in the pool.
    pub final_pool_size: u64,
    /// The tokens of all answers.
    pub total_tokens: u64,
    /// The rule that ended the run: `max_rounds`, `silence_rounds`, `loss_above` or `fixed_pool`.
    pub stop_reason: String,
    /// The tokens of all calls.
    pub tokens: TokenTotals,
    /// The cost in US dollars; `None` if no price is known.
    pub cost_usd: Option<f64>,
    /// The protocol meter of the run.
    pub protocol: Protocol,
    /// The number of calls that failed after all their attempts.
    pub errors: u64,
    /// The part of these numbers after the fork; `None` for a run that is not a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnTotals>,
}

/// The numbers of a fork alone, without those of its parent.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnTotals {
    /// The number of calls.
    pub calls: u64,
    /// The tokens of all calls.
    pub tokens: TokenTotals,
    /// The cost in US dollars; `None` if no price is known.
    pub cost_usd: Option<f64>,
    /// The number of calls that failed after all their attempts.
    pub errors: u64,
}

/// The cause of an interruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a program says how each cause is continued"
)]
pub enum InterruptCause {
    /// A signal or the user stopped the process.
    Signal,
    /// The next call could take more than a cap leaves.
    Cap,
    /// A call failed, or the journal could not be written.
    Error,
    /// The run reached its limit of wall-clock time.
    Wall,
}

impl InterruptCause {
    /// Returns the word in a journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Cap => "cap",
            Self::Error => "error",
            Self::Wall => "wall",
        }
    }

    /// Returns whether calls in flight get only a short time to end. After a failure they take as long as they need.
    pub(crate) fn hurries(self) -> bool {
        match self {
            Self::Signal | Self::Wall => true,
            Self::Error | Self::Cap => false,
        }
    }
}

/// An interruption after which the run can be resumed.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInterrupted {
    /// The round of the next call.
    pub round: Round,
    /// The mind of the next call.
    pub next_mind: MindId,
    /// The cause.
    pub cause: InterruptCause,
    /// The cause in words.
    pub detail: String,
    /// Whether the run can be resumed.
    pub resumable: bool,
}

/// The start of another process that resumes the run.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResumed {
    /// The round of the next call.
    pub round: Round,
    /// The mind of the next call.
    pub next_mind: MindId,
    /// The bytes of an incomplete last line that were moved to another file.
    pub cut_bytes: u64,
    /// The number of answers that were paid for and had no event yet.
    pub reused_calls: u64,
    /// The program and its version.
    pub software: String,
    /// The settings that changed, each as `[old, new]`.
    pub changed: BTreeMap<String, [serde_json::Value; 2]>,
}

impl RunResumed {
    /// Returns the event of a program that resumes a run with settings that change as `[old, new]`. The
    /// [`Orchestrator`](crate::Orchestrator) fills in the rest.
    pub fn new(
        software: impl Into<String>,
        changed: BTreeMap<String, [serde_json::Value; 2]>,
    ) -> Self {
        Self {
            round: Round::default(),
            next_mind: MindId::default(),
            cut_bytes: 0,
            reused_calls: 0,
            software: software.into(),
            changed,
        }
    }
}

/// A call that failed after all its attempts.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// The round, from 1.
    pub round: Round,
    /// The mind, from 0.
    pub mind_id: MindId,
    /// The class of the failure.
    pub class: FailureClass,
    /// The error message, without secrets.
    pub message: String,
    /// The attempts of the call, in order.
    pub attempts: Vec<AttemptFacts>,
    /// Whether every other call would fail too.
    pub fatal: bool,
}
