use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema::is_closed;
use crate::setters::setters;
use crate::{Block, CacheMark, Message, Raw};

/// A request to a model. Create one with [`Request::new`] and set the fields that matter.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
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
    /// Whether the model may, must or must not call tools.
    pub tool_choice: ToolChoice,
    /// Whether it thinks before it answers.
    pub thinking: Thinking,
    /// The effort, in the provider's words (`low`, `high`).
    pub effort: Option<String>,
    /// The settings for drawing the next token.
    pub sampling: Sampling,
    /// Texts at which the reply ends.
    pub stop: Vec<String>,
    /// The form of the reply. Where the server or the model has no field for it, the schema is written into the system
    /// text, with a warning. Either way the reply is not checked: read it with `llm_client::json`.
    pub format: Option<OutputFormat>,
    /// An opaque id of the end user, for the provider's abuse detection.
    pub user_id: Option<String>,
    /// Labels for the caller's logs; never sent.
    pub labels: BTreeMap<String, String>,
    /// Tells equal requests apart in a cassette, whatever order they run in; never sent.
    pub replay_key: Option<String>,
    /// Headers of this request, in addition to those of the client: at most 16. A name has 1 to 64 of `a-z 0-9 -` and comes once,
    /// a value at most 4096 bytes of visible ASCII. `anthropic-beta` is added to the client's own list; a name that the client or
    /// HTTP sets is refused. They are not part of the hash by which a cassette knows the request, and a batch cannot have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
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

    setters! {
        model: String,
        messages: Vec<Message>,
        system: Vec<Block>,
        max_tokens: Option<u32>,
        tools: Vec<ToolSpec>,
        cache_tools: Option<CacheMark>,
        tool_choice: ToolChoice,
        thinking: Thinking,
        effort: Option<String>,
        sampling: Sampling,
        stop: Vec<String>,
        format: Option<OutputFormat>,
        user_id: Option<String>,
        labels: BTreeMap<String, String>,
        replay_key: Option<String>,
        headers: Vec<(String, String)>,
        extra: Map<String, Value>,
    }

    /// The same request with `schema` as the form of the reply, named by the schema's title (`reply` without one) and
    /// strict if the schema leaves nothing open, for providers turn down a strict one that does.
    ///
    /// ```
    /// use llm_types::Request;
    ///
    /// let schema = serde_json::json!({"title": "Score", "type": "object"});
    /// let format = Request::new("claude-opus-5-5", "Rate tea.").with_schema(schema).format.unwrap();
    /// assert_eq!((format.name.as_str(), format.strict), ("Score", false));
    /// ```
    #[must_use]
    pub fn with_schema(self, schema: Value) -> Self {
        let (name, strict) = (name(&schema), is_closed(&schema));
        self.format(Some(OutputFormat::new(name, schema, strict)))
    }
}

/// A name for the schema that every provider accepts.
fn name(schema: &Value) -> String {
    let title = schema.get("title").and_then(Value::as_str).unwrap_or("");
    let name: String = title
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .take(64)
        .collect();
    if name.is_empty() {
        "reply".into()
    } else {
        name
    }
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolSpec {
    /// A tool that the caller runs.
    Function {
        /// The name: 1 to 64 of `a-z A-Z 0-9 _ -`.
        name: String,
        /// The description for the model.
        description: String,
        /// The JSON schema of its arguments.
        schema: Value,
        /// Asks the provider to hold the model to the schema.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        strict: Option<bool>,
    },
    /// A tool that the provider runs, in the provider's form.
    Server(Raw),
}

impl ToolSpec {
    /// The name of a tool that the caller runs; `None` for any other.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Function { name, .. } => Some(name),
            Self::Server(_) => None,
        }
    }
}

/// The form of the reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputFormat {
    /// A short name for the schema.
    pub name: String,
    /// The JSON schema.
    pub schema: Value,
    /// Asks the provider to hold the model to it.
    pub strict: bool,
}

impl OutputFormat {
    /// Creates the form of a reply.
    pub fn new(name: impl Into<String>, schema: Value, strict: bool) -> Self {
        Self {
            name: name.into(),
            schema,
            strict,
        }
    }
}

/// Whether the model calls tools.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    Auto {
        /// Whether the model may call several at once.
        parallel: Option<bool>,
    },
    /// The model must call a tool.
    Any,
    /// The model must call this tool.
    Tool(String),
    /// The model must not call a tool.
    None,
    /// The server's default; nothing is sent.
    #[default]
    Unset,
}

/// Whether the model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Thinking {
    /// The server's default; nothing is sent.
    #[default]
    Unset,
    /// The model does not think.
    Off,
    /// The model decides how much to think.
    Adaptive,
    /// At most this many tokens, at least 1024 and fewer than `max_tokens`.
    Budget(u32),
}

/// The settings for drawing the next token; unset fields are not sent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Sampling {
    /// The temperature, 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The share of probability to draw from, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The number of most likely tokens to draw from, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// The random seed, for servers that take one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Sampling {
    setters! {
        temperature: Option<f64>,
        top_p: Option<f64>,
        top_k: Option<u32>,
        seed: Option<u64>,
    }
}
