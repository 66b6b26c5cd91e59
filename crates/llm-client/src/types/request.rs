use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Block, CacheMark, Message, Raw};

/// What is asked. Make one with [`Request::new`] and set the fields that matter.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The model's id at the client's provider.
    pub model: String,
    /// The conversation, oldest first; never empty.
    pub messages: Vec<Message>,
    /// The instructions, as text blocks.
    pub system: Vec<Block>,
    /// The longest reply in tokens, at least 1. Unset: 4096 at Anthropic, the server's own limit elsewhere.
    pub max_tokens: Option<u32>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Asks the provider to cache the prompt up to the last tool (Anthropic).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_tools: Option<CacheMark>,
    /// Whether it may, must or must not.
    pub tool_choice: ToolChoice,
    /// Whether it thinks before it answers.
    pub thinking: Thinking,
    /// How hard it tries, in the provider's own words (`low`, `high`).
    pub effort: Option<String>,
    /// How the next token is drawn.
    pub sampling: Sampling,
    /// Texts at which the reply ends.
    pub stop: Vec<String>,
    /// The form of the reply.
    pub format: Option<OutputFormat>,
    /// An opaque id of the end user, for the provider's abuse detection.
    pub user_id: Option<String>,
    /// For the caller's logs; never sent.
    pub labels: BTreeMap<String, String>,
    /// Tells equal requests apart in a cassette, whatever order they run in; never sent.
    pub replay_key: Option<String>,
    /// Further top-level fields of the body, merged last. A null takes a field out. `model`, `messages` and
    /// `stream` are refused.
    pub extra: Map<String, Value>,
}

impl Request {
    /// Asks `model` with one user message.
    pub fn new(model: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            messages: vec![Message::user(text)],
            ..Self::default()
        }
    }
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolSpec {
    /// One that the caller runs.
    Function {
        /// 1 to 64 of `a-z A-Z 0-9 _ -`.
        name: String,
        /// What it does, for the model.
        description: String,
        /// The JSON schema of its arguments.
        schema: Value,
        /// Asks the provider to hold the model to the schema.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        strict: Option<bool>,
    },
    /// One that the provider runs, in its own form.
    Server(Raw),
}

/// How the reply is to be formed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputFormat {
    /// A short name for the schema.
    pub name: String,
    /// The JSON schema.
    pub schema: Value,
    /// Asks the provider to hold the model to it.
    pub strict: bool,
}

/// Whether the model calls tools.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    Auto {
        /// Whether it may call several at once.
        parallel: Option<bool>,
    },
    /// It must call one.
    Any,
    /// It must call this one.
    Tool(String),
    /// It must not.
    None,
    /// The server's default; nothing is sent.
    #[default]
    Unset,
}

/// Whether the model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// The server's default; nothing is sent.
    #[default]
    Unset,
    /// It does not.
    Off,
    /// As much as it finds right.
    Adaptive,
    /// At most this many tokens, at least 1024 and fewer than `max_tokens`.
    Budget(u32),
}

/// How the next token is drawn; what is unset is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// At least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Where the server's random choices come from, if it takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}
