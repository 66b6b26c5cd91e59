use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::ErrorClass;
use crate::message::text_of;
use crate::{Block, BlockKind, Charge, Cost, Message, Raw, Role, Target, Usage};

/// What was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The provider's id of it.
    pub id: String,
    /// The model that served it, which need not be the one that was asked for.
    pub model: String,
    /// What was said, in order. Pick blocks by kind, never by position.
    pub content: Vec<Block>,
    /// Why it ends.
    pub stop: StopReason,
    /// What the provider says beyond that.
    pub stop_details: Option<Raw>,
    /// Tokens.
    pub usage: Usage,
    /// Money.
    pub cost: Cost,
    /// Every attempt of the call, the last one is this reply.
    pub attempts: Vec<Attempt>,
    /// What was changed in the request before it was sent.
    pub warnings: Vec<Warning>,
    /// The provider's id of the HTTP exchange.
    pub request_id: Option<String>,
    /// Whether a model answered now, or a cassette, or no model at all.
    pub source: ReplySource,
    /// The body as it came; for a stream, the message put together from its events.
    pub raw: Raw,
    /// The assistant object of an OpenAI-compatible server, for [`Reply::to_message`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_raw: Option<Raw>,
}

impl Reply {
    /// A live reply of `model`, for providers of one's own: tokens and cost unknown, `raw` the JSON null. Set the
    /// fields that are known.
    pub fn new(model: impl Into<String>, content: Vec<Block>, stop: StopReason) -> Self {
        Self {
            id: String::new(),
            model: model.into(),
            content,
            stop,
            stop_details: None,
            usage: Usage::default(),
            cost: Cost::UNKNOWN,
            attempts: Vec::new(),
            warnings: Vec::new(),
            request_id: None,
            source: ReplySource::Live,
            raw: RawValue::NULL.to_owned().into(),
            message_raw: None,
        }
    }

    /// The text blocks, one after another.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }

    /// The tool calls, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &Block> {
        self.content
            .iter()
            .filter(|block| matches!(block.kind, BlockKind::ToolUse { .. }))
    }

    /// The assistant turn for the next request, every block as it came.
    pub fn to_message(&self) -> Message {
        Message {
            role: Role::Assistant,
            content: self.content.clone(),
            raw: self.message_raw.clone(),
        }
    }
}

/// Why a reply ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// It wrote a stop text, this one if the provider tells.
    StopSequence(Option<String>),
    /// `max_tokens` is reached; the last block may be cut.
    MaxTokens,
    /// It waits for the results of tools.
    ToolUse,
    /// It wants to go on: send the content back.
    PauseTurn,
    /// It will not answer.
    Refusal,
    /// The context window is full.
    ContextWindow,
    /// A filter cut it.
    ContentFilter,
    /// The server failed in the middle and says so.
    Error,
    /// A reason this version does not know.
    Other(String),
}

impl StopReason {
    /// The word, such as `end_turn`; of another reason the provider's own.
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::StopSequence(_) => "stop_sequence",
            Self::MaxTokens => "max_tokens",
            Self::ToolUse => "tool_use",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ContextWindow => "context_window",
            Self::ContentFilter => "content_filter",
            Self::Error => "error",
            Self::Other(word) => word,
        }
    }
}

/// One try at one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// From 1, over all targets of the call.
    pub n: u32,
    /// Who was asked.
    pub target: Target,
    /// The HTTP status, if an answer came.
    pub status: Option<u16>,
    /// The class of its error; `None` when it succeeded.
    pub class: Option<ErrorClass>,
    /// What was waited before it.
    pub wait: Duration,
    /// From the start of the attempt to its end; for a stream, to its first event.
    pub latency: Duration,
    /// What the budget was charged for it.
    #[serde(default, skip_serializing_if = "Charge::is_none")]
    pub charge: Charge,
}

/// Something of the request or the response that was changed, or could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The field of the request, or [`Warning::UTF8_REPAIRED`].
    pub field: String,
    /// What was done to it and why.
    pub message: String,
}

impl Warning {
    /// The field of a warning about a response whose bytes or escapes are not Unicode text.
    pub const UTF8_REPAIRED: &str = "utf8_repaired";
}

/// Where a reply comes from. It belongs into every result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplySource {
    /// A model answered now.
    Live,
    /// A cassette.
    Replay,
    /// No model: the name of the building block, such as `echo`.
    Offline(String),
}

impl ReplySource {
    /// The word: `live`, `replay` or `offline`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Replay => "replay",
            Self::Offline(_) => "offline",
        }
    }
}

/// How many tokens a prompt has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Tokens.
    pub tokens: u64,
    /// Who counted.
    pub source: CountSource,
}

/// Who counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountSource {
    /// The provider.
    Exact,
    /// Nobody who knows.
    Estimate {
        /// The estimator, such as `bytes3`.
        method: String,
        /// Why the provider did not count.
        reason: String,
    },
}

/// What a provider says of one of its models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The id to ask for.
    pub id: String,
    /// Such as `active`, in the provider's words.
    pub lifecycle: Option<String>,
    /// When it goes, in the provider's words.
    pub retires_at: Option<String>,
    /// The longest prompt in tokens.
    pub max_input: Option<u64>,
    /// The longest reply in tokens.
    pub max_output: Option<u64>,
    /// The row as it came.
    pub raw: Raw,
}
