//! How servers of chat completions differ: the fields of a [`Dialect`](crate::Dialect).

/// The name of the longest reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxTokensField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// Who gives instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
}

/// How usage is had from a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamUsage {
    /// It is asked for with `stream_options`.
    Send,
    /// It comes by itself.
    Implicit,
    /// Not at all.
    None,
}

/// How the wish to think is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingField {
    /// Not at all: it is left out.
    None,
    /// `reasoning_effort`, for the effort only.
    Effort,
    /// `reasoning`, an object with an effort or a number of tokens.
    Object,
}

/// Where a server puts thoughts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningField {
    /// Nowhere: they are not echoed.
    None,
    /// `reasoning`.
    Reasoning,
    /// `reasoning_content`.
    ReasoningContent,
}

/// How far a server can be trusted to number the tool calls of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolIndex {
    /// It numbers every piece, from 0 and without gaps; else it breaks the protocol.
    Strict,
    /// A piece without a number belongs to a new call if it has a new id, else to the last one.
    Lenient,
}
