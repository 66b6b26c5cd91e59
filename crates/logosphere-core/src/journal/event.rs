//! What a journal says, event by event.

use std::collections::BTreeMap;
use std::fmt;

use llm_types::ErrorClass;
use serde::{Deserialize, Deserializer, Serialize};

use super::failure::FailureClass;
use super::reply::TokenUse;
use crate::config::{Effective, Options};
use crate::format::{End, Note, ParseMode, Reason, Rules, sha256_hex};
use crate::pool::{ALGORITHM, MessageId, MindId, Round};

/// The version of the form that new journals have; older ones are read by their own rules.
pub const SCHEMA_VERSION: u32 = 2;

/// Something that happened. Its JSON object has the fields in the order of the structs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    /// The run begins.
    ExperimentStart(Box<ExperimentStart>),
    /// A round begins.
    RoundStart(RoundStart),
    /// A mind was asked.
    MindInvocation(Box<MindInvocation>),
    /// A round ends.
    RoundEnd(RoundEnd),
    /// The run ends.
    ExperimentEnd(Box<ExperimentEnd>),
    /// The run stops and can go on.
    RunInterrupted(RunInterrupted),
    /// The run goes on.
    RunResumed(RunResumed),
    /// A call failed.
    Error(CallError),
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
        }
    }
}

/// An event with what every line of a journal has.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// When, as it is written: UTC, RFC 3339, milliseconds, `Z`.
    pub timestamp: String,
    /// The line's number, from 0.
    pub seq: u64,
    /// What happened.
    pub event: Event,
    /// What ties the line to all before it: 32 hex digits.
    pub chain: String,
}

/// The run begins.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentStart {
    /// The settings that the requirement names.
    pub config: Parameters,
    /// What seeds are signed with.
    pub init_signature: String,
    /// Seeds.
    pub num_seed_messages: u64,
    /// The version of the journal's form: 1 or 2.
    pub schema_version: u32,
    /// The run's id; the chain begins with it.
    pub run_id: String,
    /// The program and its version.
    pub software: String,
    /// Who serves the model, or `offline`.
    pub provider: String,
    /// No model was asked.
    pub offline: bool,
    /// Every setting.
    pub effective: Effective,
    /// What every prompt begins with.
    pub system_prompt: String,
    /// Its SHA-256.
    pub system_prompt_sha256: String,
    /// SHA-256 of `init.md`.
    pub init_sha256: String,
    /// Where samples come from.
    pub rng: RngFacts,
    /// The pool at the beginning, as stored.
    pub seeds: Vec<SeedText>,
    /// What every request looks like.
    pub request_template: RequestTemplate,
}

impl ExperimentStart {
    /// The first event of a run with these settings; `seeds` as they lie in the pool.
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
            request_template: RequestTemplate {
                options: settings.options.clone(),
                ..request_template
            },
            effective,
        }
    }
}

/// The settings that the requirement names, as it names them.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct Parameters {
    /// Minds.
    pub n_minds: u32,
    /// Messages that each reads.
    pub k_samples: usize,
    /// Messages that can be read.
    pub m_active_pool: usize,
    /// Rounds.
    pub max_rounds: u32,
    /// The longest answer.
    pub token_limit: u32,
    /// The model.
    pub model: String,
}

/// Where samples come from.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RngFacts {
    /// `chacha20/1`.
    pub algorithm: String,
    /// The seed.
    pub seed: u64,
}

/// A message that the pool began with.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedText {
    /// Its id, from 0.
    pub id: MessageId,
    /// The text, stamp included.
    pub text: String,
}

impl SeedText {
    /// Returns a message that has this id in the pool.
    pub fn new(id: MessageId, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { id, text }
    }
}

/// What every request of a run looks like: all of its body but the prompt.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestTemplate {
    /// How the server is spoken to, or `local`.
    pub dialect: String,
    /// What is set besides prompt, model and token limit.
    pub options: Options,
    /// The names of the headers in the order sent.
    pub header_names: Vec<String>,
    /// The body up to the user's text and from there on. The text stands between them as a JSON string without quotes.
    pub body: [String; 2],
}

/// A round begins.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundStart {
    /// Which, from 1.
    pub round: Round,
    /// Messages so far.
    pub pool_size: u64,
    /// Messages that can be read.
    pub active_pool_size: u64,
}

/// A mind was asked.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MindInvocation {
    /// In which round, from 1.
    pub round: Round,
    /// Which mind, from 0.
    pub mind_id: MindId,
    /// What it read.
    pub input_messages: Vec<String>,
    /// What it thought.
    pub thinking: String,
    /// What it sent, signature appended.
    pub transmitted: Vec<String>,
    /// Whether it ended its answer.
    pub completed: bool,
    /// How it signed, or nothing.
    pub signature: String,
    /// Tokens of the answer.
    pub tokens_used: u64,
    /// The answer as it came.
    pub raw_output: String,
    /// The ids of what it read, in the order of the prompt.
    pub sampled_ids: Vec<MessageId>,
    /// The ids of what it sent.
    pub added_ids: Vec<MessageId>,
    /// The ids of what it read and sent again byte for byte.
    pub echoed_ids: Vec<MessageId>,
    /// How the answer was read.
    pub parse: ParseFacts,
    /// SHA-256 of the whole prompt.
    pub prompt_sha256: String,
    /// SHA-256 of the request's body.
    pub request_sha256: String,
    /// The model that was asked for.
    pub model_asked: String,
    /// The model that says it answered; empty without an answer.
    pub model_answered: String,
    /// The kind of end of the answer, in llm-client's words.
    pub finish_reason: Option<String>,
    /// The same in the server's own words; absent in version 1, `null` if the server gives none.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub finish_raw: Option<Option<String>>,
    /// Tokens.
    pub tokens: TokenUse,
    /// Dollars, if the price is known.
    pub cost_usd: Option<f64>,
    /// From the question to the answer.
    pub latency_ms: u64,
    /// Every try.
    pub attempts: Vec<AttemptFacts>,
}

/// How an answer was read.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseFacts {
    /// By which rules.
    pub mode: ParseMode,
    /// How it ended.
    pub end: End,
    /// What became of it.
    pub reason: Reason,
    /// What is remarkable about it, sorted.
    pub notes: Vec<Note>,
    /// Non-blank blocks that are not sent.
    pub lost_blocks: u64,
    /// Their characters.
    pub lost_chars: u64,
}

/// One try of a call.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptFacts {
    /// From 1.
    pub n: u32,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The class of the failure; `None` when it succeeded.
    pub class: Option<ErrorClass>,
    /// What was waited before it.
    pub wait_ms: u64,
    /// From its start to its end.
    pub latency_ms: u64,
    /// Corrections to the answer: `absurd_usage`, `utf8_repaired`; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl AttemptFacts {
    /// Returns the try with this number, from 1: one that succeeded at once.
    pub fn new(n: u32) -> Self {
        Self {
            n,
            status: None,
            class: None,
            wait_ms: 0,
            latency_ms: 0,
            notes: Vec::new(),
        }
    }
}

/// Tells a field that is null from one that is absent.
#[expect(
    clippy::option_option,
    reason = "the field is absent in version 1, and null is a value of it in version 2"
)]
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(field).map(Some)
}

impl MindInvocation {
    /// The key that the call has in the protocol meter: its reason, or more exactly why its answer was lost.
    pub(crate) fn meter_key(&self, rules: Rules) -> Reason {
        let reason = self.parse.reason;
        let refused = matches!(
            self.finish_reason.as_deref(),
            Some("refusal" | "content_filter")
        );
        if reason == Reason::Silence && rules.counts_text_after_end && self.parse.lost_blocks > 0 {
            Reason::SilenceWithText
        } else if reason.is_loss() && rules.records_finish && refused {
            Reason::Refusal
        } else {
            reason
        }
    }
}

/// A round ends.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundEnd {
    /// Which.
    pub round: Round,
    /// Messages it added.
    pub messages_added: u64,
    /// These messages.
    pub pool_delta: Vec<String>,
    /// Their ids.
    pub added_ids: Vec<MessageId>,
    /// How well the round's answers kept to the format.
    pub protocol: Protocol,
    /// Tokens of the run so far.
    pub tokens_total: TokenTotals,
    /// Dollars of the run so far, if any price is known.
    pub cost_usd_total: Option<f64>,
}

/// How well answers kept to the format.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Protocol {
    /// Ended as told.
    pub compliant: u64,
    /// Ended nearly as told.
    pub tolerated: u64,
    /// Answers of which nothing was sent because of their form.
    pub lost: u64,
    /// All calls by what became of them; calls without an answer are in no other number.
    pub by_reason: BTreeMap<Reason, u64>,
}

impl fmt::Display for Protocol {
    /// `91 % ok, 6 % tolerated, 3 % lost (unterminated 2, no_delimiter 1), 2 calls failed`: shares of the answers.
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

    /// Why answers were lost and how many, the commonest first.
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

/// Tokens of a run.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenTotals {
    /// Of the prompts.
    pub prompt: u64,
    /// Of the answers.
    pub completion: u64,
}

/// The run ends.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentEnd {
    /// Rounds.
    pub total_rounds: u32,
    /// Messages.
    pub final_pool_size: u64,
    /// Tokens of all answers.
    pub total_tokens: u64,
    /// `max_rounds`, `silence_rounds`, `loss_above` or `fixed_pool`.
    pub stop_reason: String,
    /// Tokens.
    pub tokens: TokenTotals,
    /// Dollars, if any price is known.
    pub cost_usd: Option<f64>,
    /// How well all answers kept to the format.
    pub protocol: Protocol,
    /// Calls that failed for good.
    pub errors: u64,
}

/// The cause of an interruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterruptCause {
    /// The process was told to stop.
    Signal,
    /// The next call could take more than a cap leaves.
    Cap,
    /// A call failed, or the journal could not be written.
    Error,
    /// The run reached its limit of time.
    Wall,
}

impl InterruptCause {
    /// The word in a journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Cap => "cap",
            Self::Error => "error",
            Self::Wall => "wall",
        }
    }

    /// Returns whether calls in flight get a short time only: after a failure they take as long as they need.
    pub(crate) fn hurries(self) -> bool {
        match self {
            Self::Signal | Self::Wall => true,
            Self::Error | Self::Cap => false,
        }
    }
}

/// The run stops and can go on.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInterrupted {
    /// The round of the next call.
    pub round: Round,
    /// Its mind.
    pub next_mind: MindId,
    /// The cause.
    pub cause: InterruptCause,
    /// In words.
    pub detail: String,
    /// Whether it can go on.
    pub resumable: bool,
}

/// The run goes on.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResumed {
    /// The round of the next call.
    pub round: Round,
    /// Its mind.
    pub next_mind: MindId,
    /// Bytes of a torn last line that were set aside.
    pub cut_bytes: u64,
    /// Answers that were paid for and not in the journal yet.
    pub reused_calls: u64,
    /// The program and its version.
    pub software: String,
    /// Settings that changed, as `[old, new]`.
    pub changed: BTreeMap<String, [serde_json::Value; 2]>,
}

impl RunResumed {
    /// Returns what a program says that goes on with a run, with settings that change as `[old, new]`; the
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

/// A call failed for good.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// In which round.
    pub round: Round,
    /// Of which mind.
    pub mind_id: MindId,
    /// The class of the failure.
    pub class: FailureClass,
    /// What went wrong, without secrets.
    pub message: String,
    /// Every try.
    pub attempts: Vec<AttemptFacts>,
    /// No other call would have fared better.
    pub fatal: bool,
}
