//! Differences between servers of chat completions: the fields of a [`Dialect`](crate::Dialect).

/// A protocol's form of message batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchForm {
    /// No batches: each request is a call.
    None,
    /// The requests are the body of the request for a batch, as at Anthropic: `POST {messages}/batches`.
    Messages,
    /// The requests are an uploaded file, as at `OpenAI`: `POST {base}/files`, then `POST {base}/batches`.
    Files,
}

/// The name of the field for the longest reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxTokensField {
    /// The field `max_tokens`.
    MaxTokens,
    /// The field `max_completion_tokens`.
    MaxCompletionTokens,
}

/// The role of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemRole {
    /// The role `system`.
    System,
    /// The role `developer`.
    Developer,
}

/// The way to get usage from a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamUsage {
    /// Usage is requested with `stream_options`.
    Send,
    /// The server sends usage without a request.
    Implicit,
    /// The server sends no usage.
    None,
}

/// The field that asks a model to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingField {
    /// No field: the setting is left out.
    None,
    /// `reasoning_effort`, for the effort only.
    Effort,
    /// `reasoning`, an object with an effort or a number of tokens.
    Object,
}

/// The field of a server's thoughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningField {
    /// No field: thoughts are not echoed.
    None,
    /// The field `reasoning`.
    Reasoning,
    /// The field `reasoning_content`.
    ReasoningContent,
}

/// The numbering of tool calls in a server's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolIndex {
    /// The server numbers every part, from 0 and without gaps; otherwise it breaks the protocol.
    Strict,
    /// A part without a number belongs to a new call if it has a new id, else to the last one.
    Lenient,
}
