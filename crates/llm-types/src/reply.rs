use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::ErrorClass;
use crate::message::text_of;
use crate::{Block, BlockKind, Charge, Cost, Message, Raw, Role, Target, Usage};

/// A reply of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// The provider's id of the reply.
    pub id: String,
    /// The model that served it, which need not be the one that was asked for.
    pub model: String,
    /// The blocks, in order. Pick them by kind, never by position.
    pub content: Vec<Block>,
    /// The reason for its end.
    pub stop: StopReason,
    /// The provider's further details of that reason.
    pub stop_details: Option<Raw>,
    /// The tokens used.
    pub usage: Usage,
    /// The money spent.
    pub cost: Cost,
    /// Every attempt of the call; the last one is this reply.
    pub attempts: Vec<Attempt>,
    /// The changes made to the request before it was sent.
    pub warnings: Vec<Warning>,
    /// The provider's id of the HTTP exchange.
    pub request_id: Option<String>,
    /// Whether a model answered now, or a cassette, or no model at all.
    pub source: ReplySource,
    /// The body as received; for a stream, the message assembled from its events.
    pub raw: Raw,
    /// The assistant object of an OpenAI-compatible server, for [`Reply::to_message`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_raw: Option<Raw>,
}

impl Reply {
    /// A live reply of `model`, for custom providers: tokens and cost unknown, `raw` the JSON null. Set the
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

/// The reason for the end of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model finished.
    EndTurn,
    /// The model wrote a stop text, this one if the provider names it.
    StopSequence(Option<String>),
    /// `max_tokens` is reached; the last block may be cut.
    MaxTokens,
    /// The model waits for the results of tools.
    ToolUse,
    /// The model wants to continue: send the content back.
    PauseTurn,
    /// The model refuses to answer.
    Refusal,
    /// The context window is full.
    ContextWindow,
    /// A filter cut the reply.
    ContentFilter,
    /// The server failed in the middle and reports it.
    Error,
    /// A reason that this version does not know.
    Other(String),
}

impl StopReason {
    /// The word, such as `end_turn`; for another reason the provider's word.
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

/// One attempt at one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Attempt {
    /// The number of the attempt in its call, from 1.
    pub n: u32,
    /// The provider and model that were asked.
    pub target: Target,
    /// The HTTP status, if an answer came.
    pub status: Option<u16>,
    /// The class of its error; `None` when it succeeded.
    pub class: Option<ErrorClass>,
    /// The wait before the attempt.
    pub wait: Duration,
    /// From the start of the attempt to its end; for a stream, to its first event.
    pub latency: Duration,
    /// The charge to the budget.
    #[serde(default, skip_serializing_if = "Charge::is_none")]
    pub charge: Charge,
}

impl Attempt {
    /// Creates an attempt without an answer, a wait or a charge; `n` counts from 1.
    pub fn new(n: u32, target: Target) -> Self {
        Self {
            n,
            target,
            status: None,
            class: None,
            wait: Duration::ZERO,
            latency: Duration::ZERO,
            charge: Charge::NONE,
        }
    }
}

/// A part of the request or the response that was changed or could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Warning {
    /// The field of the request, or [`Warning::UTF8_REPAIRED`].
    pub field: String,
    /// The change and its reason.
    pub message: String,
}

impl Warning {
    /// The field of a warning about a response whose bytes or escapes are not Unicode text.
    pub const UTF8_REPAIRED: &str = "utf8_repaired";

    /// Creates a warning about `field`.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }
}

/// The source of a reply, which belongs into every result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplySource {
    /// A model answered now.
    Live,
    /// A cassette answered.
    Replay,
    /// An offline provider answered: its name, such as `echo`.
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

/// The number of tokens of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Count {
    /// The tokens used.
    pub tokens: u64,
    /// The source of a count.
    pub source: CountSource,
}

impl Count {
    /// Creates a count.
    pub fn new(tokens: u64, source: CountSource) -> Self {
        Self { tokens, source }
    }
}

/// The source of a count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CountSource {
    /// The provider.
    Exact,
    /// An estimator of the client.
    Estimate {
        /// The estimator, such as `bytes3`.
        method: String,
        /// The reason why the provider did not count.
        reason: String,
    },
}

/// A provider's description of one of its models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The id to ask for.
    pub id: String,
    /// The state, such as `active`, in the provider's words.
    pub lifecycle: Option<String>,
    /// The date of its retirement, in the provider's words.
    pub retires_at: Option<String>,
    /// The longest prompt in tokens.
    pub max_input: Option<u64>,
    /// The longest reply in tokens.
    pub max_output: Option<u64>,
    /// The provider's row, unchanged.
    pub raw: Raw,
}

impl ModelInfo {
    /// Creates a description without facts; `raw` is the provider's row.
    pub fn new(id: impl Into<String>, raw: Raw) -> Self {
        Self {
            id: id.into(),
            lifecycle: None,
            retires_at: None,
            max_input: None,
            max_output: None,
            raw,
        }
    }
}
