//! The event of a call: its input, its answer and its attempts.

use llm_types::ErrorClass;
use serde::{Deserialize, Deserializer, Serialize};

use super::reply::{MindReply, TokenUse, usd};
use crate::format::{End, Note, ParseMode, Reason, Rules};
use crate::pool::{MessageId, MindId, Round};

/// A call of a mind: its input, its answer and how the answer was read.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MindInvocation {
    /// The round, from 1.
    pub round: Round,
    /// The mind, from 0.
    pub mind_id: MindId,
    /// The texts that it read, in the order of the prompt.
    pub input_messages: Vec<String>,
    /// The text before the first delimiter line, which is not sent.
    pub thinking: String,
    /// The messages that it sent, each with the signature.
    pub transmitted: Vec<String>,
    /// Whether a blank block ends the answer.
    pub completed: bool,
    /// The signature; empty if the answer has none.
    pub signature: String,
    /// The number of tokens of the answer.
    pub tokens_used: u64,
    /// The answer as it was received.
    pub raw_output: String,
    /// The ids of the texts that it read, in the order of the prompt.
    pub sampled_ids: Vec<MessageId>,
    /// The ids of the messages that it sent.
    pub added_ids: Vec<MessageId>,
    /// The ids of the texts that it read and sent again byte for byte.
    pub echoed_ids: Vec<MessageId>,
    /// The result of parsing the answer.
    pub parse: ParseFacts,
    /// SHA-256 of the whole prompt.
    pub prompt_sha256: String,
    /// SHA-256 of the request's body.
    pub request_sha256: String,
    /// The model of the request.
    pub model_asked: String,
    /// The model named by the reply; empty if the call failed.
    pub model_answered: String,
    /// The reason for the end of the answer, in llm-client's words.
    pub finish_reason: Option<String>,
    /// The same in the server's words; absent in version 1, `null` if the server gives none.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub finish_raw: Option<Option<String>>,
    /// The tokens of the call.
    pub tokens: TokenUse,
    /// The cost in US dollars; `None` if the price is unknown.
    pub cost_usd: Option<f64>,
    /// Milliseconds from the start of the call to its end.
    pub latency_ms: u64,
    /// All attempts, the last one included.
    pub attempts: Vec<AttemptFacts>,
}

/// The result of parsing an answer.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseFacts {
    /// The rules that it was parsed by.
    pub mode: ParseMode,
    /// The form of its end.
    pub end: End,
    /// The outcome: sent, silent, or the reason why it was lost.
    pub reason: Reason,
    /// Deviations from the format, sorted by name.
    pub notes: Vec<Note>,
    /// The number of non-blank blocks that are not sent.
    pub lost_blocks: u64,
    /// The characters of these blocks, as code points.
    pub lost_chars: u64,
    /// The messages among these blocks that are over the cap of the run; absent if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub over_cap: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field as it is"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// An attempt of a call.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptFacts {
    /// The number of the attempt, from 1.
    pub n: u32,
    /// The HTTP status; `None` without a response.
    pub status: Option<u16>,
    /// The class of the failure; `None` when it succeeded.
    pub class: Option<ErrorClass>,
    /// Milliseconds of waiting before the attempt.
    pub wait_ms: u64,
    /// Milliseconds from its start to its end.
    pub latency_ms: u64,
    /// Corrections to the answer: `absurd_usage`, `utf8_repaired`; absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl AttemptFacts {
    /// Returns the attempt with this number, from 1, as one that succeeded at once.
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

/// Reads a field that may be `null` or absent: `null` becomes `Some(None)`.
#[expect(
    clippy::option_option,
    reason = "the field is absent in version 1, and null is a value of it in version 2"
)]
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(field).map(Some)
}

impl MindInvocation {
    /// Returns the answer as it was received; `None` for a call that failed.
    pub fn reply(&self) -> Option<MindReply> {
        (self.parse.reason != Reason::CallFailed).then(|| MindReply {
            text: self.raw_output.clone(),
            model: self.model_answered.clone(),
            finish_reason: self.finish_reason.clone(),
            finish_raw: self.finish_raw.clone().flatten(),
            tokens: self.tokens,
            cost: self.cost_usd.map(usd),
            attempts: self.attempts.clone(),
        })
    }

    /// Returns the call's key in the protocol meter: its outcome, or a more exact reason of its loss.
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
