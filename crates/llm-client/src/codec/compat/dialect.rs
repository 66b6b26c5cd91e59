use crate::dialect::{
    BatchForm, MaxTokensField, ReasoningField, StreamUsage, SystemRole, ThinkingField, ToolIndex,
};
use crate::provider::StructuredMode;

/// A server's variant of the chat completions protocol; each field is one fact about the server.
///
/// Take a preset and change what differs:
///
/// ```
/// use llm_client::Dialect;
/// use llm_client::dialect::MaxTokensField;
///
/// let mut mine = Dialect::openai();
/// mine.max_tokens_field = MaxTokensField::MaxTokens;
/// assert_eq!(mine.base_url, Some("https://api.openai.com/v1"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about a server, not states of one machine"
)]
#[non_exhaustive]
pub struct Dialect {
    /// The default name of a provider of this dialect.
    pub name: &'static str,
    /// The default base URL of the server.
    pub base_url: Option<&'static str>,
    /// Whether a program should ask for a key before it starts. The client refuses nothing without one.
    pub key_required: bool,
    /// The name of the field for the longest reply.
    pub max_tokens_field: MaxTokensField,
    /// The role of instructions.
    pub system_role: SystemRole,
    /// Whether the server supports tools; if not, a request with tools is refused.
    pub tools: bool,
    /// Whether the server supports `parallel_tool_calls`.
    pub parallel_flag: bool,
    /// The forms that `response_format` supports.
    pub json_mode: StructuredMode,
    /// Whether the server supports `seed`.
    pub seed: bool,
    /// Whether the server supports `top_k`, which is not part of the protocol.
    pub top_k: bool,
    /// The way to get usage from a stream.
    pub stream_usage: StreamUsage,
    /// The field for [`crate::Request::thinking`] and [`crate::Request::effort`].
    pub thinking: ThinkingField,
    /// The field of thoughts, used to echo them. Both fields are read from any server.
    pub reasoning_field: ReasoningField,
    /// Whether the server expects its `reasoning_details` back.
    pub echo_reasoning_details: bool,
    /// The numbering of tool calls in a stream.
    pub tool_index: ToolIndex,
    /// Whether `usage.cost` is the cost of the call in dollars.
    pub cost_in_usage: bool,
    /// Whether a 403 means that the content was flagged, not that the key is wrong.
    pub moderates: bool,
    /// Whether the server runs on the user's hardware, at an unknown speed.
    pub self_hosted: bool,
    /// The form of the server's batches.
    pub batch: BatchForm,
}

impl Dialect {
    /// The dialect of `OpenAI`.
    pub const fn openai() -> Self {
        Self {
            name: "openai",
            json_mode: StructuredMode::Schema,
            base_url: Some("https://api.openai.com/v1"),
            key_required: true,
            max_tokens_field: MaxTokensField::MaxCompletionTokens,
            stream_usage: StreamUsage::Send,
            thinking: ThinkingField::Effort,
            tool_index: ToolIndex::Strict,
            parallel_flag: true,
            batch: BatchForm::Files,
            ..Self::generic()
        }
    }

    /// The dialect of `OpenRouter`.
    pub const fn openrouter() -> Self {
        Self {
            name: "openrouter",
            json_mode: StructuredMode::Schema,
            base_url: Some("https://openrouter.ai/api/v1"),
            key_required: true,
            parallel_flag: true,
            top_k: true,
            stream_usage: StreamUsage::Implicit,
            thinking: ThinkingField::Object,
            reasoning_field: ReasoningField::Reasoning,
            echo_reasoning_details: true,
            cost_in_usage: true,
            moderates: true,
            ..Self::generic()
        }
    }

    /// The dialect of llama.cpp's server.
    pub const fn llamacpp() -> Self {
        Self {
            name: "llamacpp",
            self_hosted: true,
            json_mode: StructuredMode::Schema,
            base_url: Some("http://127.0.0.1:8080/v1"),
            parallel_flag: true,
            top_k: true,
            stream_usage: StreamUsage::Send,
            reasoning_field: ReasoningField::ReasoningContent,
            ..Self::generic()
        }
    }

    /// The dialect of Ollama, at its `/v1`.
    pub const fn ollama() -> Self {
        Self {
            name: "ollama",
            self_hosted: true,
            json_mode: StructuredMode::Schema,
            base_url: Some("http://127.0.0.1:11434/v1"),
            stream_usage: StreamUsage::Send,
            reasoning_field: ReasoningField::Reasoning,
            ..Self::generic()
        }
    }

    /// The dialect of vLLM.
    pub const fn vllm() -> Self {
        Self {
            name: "vllm",
            self_hosted: true,
            json_mode: StructuredMode::Schema,
            base_url: Some("http://127.0.0.1:8000/v1"),
            parallel_flag: true,
            top_k: true,
            stream_usage: StreamUsage::Send,
            reasoning_field: ReasoningField::ReasoningContent,
            ..Self::generic()
        }
    }

    /// The dialect of an unknown server: only fields that nearly all servers accept. Each way to ask for JSON is refused by
    /// some, so that a schema goes into the instructions.
    pub const fn generic() -> Self {
        Self {
            name: "generic",
            base_url: None,
            key_required: false,
            max_tokens_field: MaxTokensField::MaxTokens,
            system_role: SystemRole::System,
            tools: true,
            parallel_flag: false,
            json_mode: StructuredMode::None,
            seed: true,
            top_k: false,
            stream_usage: StreamUsage::None,
            thinking: ThinkingField::None,
            reasoning_field: ReasoningField::None,
            echo_reasoning_details: false,
            tool_index: ToolIndex::Lenient,
            cost_in_usage: false,
            moderates: false,
            self_hosted: false,
            batch: BatchForm::None,
        }
    }
}
