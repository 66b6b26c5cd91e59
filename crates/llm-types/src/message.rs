use serde::{Deserialize, Serialize};

use crate::Raw;
use crate::setters::setters;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a codec has a word for every role, and the compiler shows it a new one"
)]
pub enum Role {
    /// The person; also the results of tools.
    User,
    /// The model.
    Assistant,
    /// Instructions in the middle of a conversation.
    System,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// The author of a message.
    pub role: Role,
    /// The blocks, in order.
    pub content: Vec<Block>,
    /// The assistant object of an OpenAI-compatible server as it came, for the echo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
}

impl Message {
    /// A turn of these blocks.
    pub fn new(role: Role, content: Vec<Block>) -> Self {
        Self {
            role,
            content,
            raw: None,
        }
    }

    /// A message of the person.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Block::text(text)])
    }

    /// A message of the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![Block::text(text)])
    }

    /// The text blocks, one after another.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }
}

/// The text blocks, one after another.
pub(crate) fn text_of(blocks: &[Block]) -> String {
    blocks.iter().filter_map(Block::as_text).collect()
}

/// A piece of a message.
///
/// A block that was received keeps its exact JSON in `raw`, and that is what is sent back: to change the content
/// of such a block, make a new one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Block {
    /// The kind, with its content.
    pub kind: BlockKind,
    /// The block as it was received; sent in place of `kind`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
    /// The model that made it; `None` for a block of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Asks the provider to cache the prompt up to here (Anthropic).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMark>,
}

impl Block {
    /// A block of the caller.
    pub fn new(kind: BlockKind) -> Self {
        Self {
            kind,
            raw: None,
            origin: None,
            cache: None,
        }
    }

    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(BlockKind::Text { text: text.into() })
    }

    /// The result of a tool as text; `is_error` tells the model that the tool failed.
    pub fn tool_result(
        tool_use_id: impl Into<String>,
        text: impl Into<String>,
        is_error: bool,
    ) -> Self {
        Self::new(BlockKind::ToolResult {
            tool_use_id: tool_use_id.into(),
            content: vec![Self::text(text)],
            is_error,
        })
    }

    setters! {
        raw: Option<Raw>,
        origin: Option<Origin>,
    }

    /// The same block with a cache mark.
    #[must_use]
    pub fn cached(mut self, mark: CacheMark) -> Self {
        self.cache = Some(mark);
        self
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            BlockKind::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// The model that made a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// `Provider::name` of llm-client.
    pub provider: String,
    /// The model that was asked for.
    pub model: String,
}

impl Origin {
    /// `model` at `provider`.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
        }
    }
}

/// One model at one provider.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Target {
    /// `Provider::name` of llm-client.
    pub provider: String,
    /// The model's id there.
    pub model: String,
}

impl Target {
    /// `model` at `provider`.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
        }
    }
}

/// The lifetime of a cached prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheMark {
    /// The provider's default lifetime.
    Default,
    /// A lifetime of five minutes.
    FiveMinutes,
    /// A lifetime of one hour.
    OneHour,
}

/// The source of an image or a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaSource {
    /// The bytes themselves.
    Base64 {
        /// The media type, such as `image/png`.
        media_type: String,
        /// Base64, standard alphabet with padding.
        data: String,
    },
    /// An address that the provider fetches.
    Url(String),
    /// A file that was uploaded to the provider before.
    File {
        /// The provider's id of the file.
        id: String,
    },
}

/// The kind of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockKind {
    /// A text of the person or the model.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image(MediaSource),
    /// A document.
    Document(MediaSource),
    /// A thought of the model; kept even if it looks empty, because its signature counts.
    Thinking {
        /// The thought, often a summary or empty.
        text: String,
        /// The provider's proof that it is unchanged.
        signature: Option<String>,
    },
    /// A thought that the provider keeps hidden.
    RedactedThinking,
    /// The model calls a tool of the caller.
    ToolUse {
        /// Names the call in its result.
        id: String,
        /// The tool.
        name: String,
        /// The arguments of the call.
        input: ToolInput,
    },
    /// The result of such a call.
    ToolResult {
        /// The call's id.
        tool_use_id: String,
        /// The answer of the tool.
        content: Vec<Block>,
        /// The tool failed.
        is_error: bool,
    },
    /// The model calls a tool that the provider runs.
    ServerToolUse {
        /// Names the call in its result.
        id: String,
        /// The tool.
        name: String,
    },
    /// The result of such a call.
    ServerToolResult {
        /// The block's wire type, such as `web_search_tool_result`.
        kind: String,
        /// The call's id.
        tool_use_id: String,
        /// Set when the tool failed.
        error_code: Option<String>,
    },
    /// A block of a type this version does not know; kept and echoed from `raw`.
    Other {
        /// The wire type.
        kind: String,
    },
}

/// The arguments of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the arguments are valid JSON or they are not"
)]
pub enum ToolInput {
    /// JSON as the model wrote it.
    Json(Raw),
    /// The model's text, which is not valid JSON; the tool is never run.
    Invalid(String),
}
