use crate::dialect::{
    MaxTokensField, ReasoningField, StreamUsage, SystemRole, ThinkingField, ToolIndex,
};
use crate::provider::Structure;

/// How one server speaks the chat completions protocol: each field is one fact about it.
///
/// Take a preset and change what differs:
///
/// ```
/// use llm_client::Dialect;
/// use llm_client::dialect::MaxTokensField;
///
/// let mine = Dialect {
///     max_tokens_field: MaxTokensField::MaxTokens,
///     ..Dialect::openai()
/// };
/// assert_eq!(mine.base_url, Some("https://api.openai.com/v1"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about a server, not states of one machine"
)]
pub struct Dialect {
    /// What a provider of this dialect is called unless it is told otherwise.
    pub name: &'static str,
    /// Where the server is found unless it is told otherwise.
    pub base_url: Option<&'static str>,
    /// A program should ask for a key before it starts. Nothing is refused without one: a stand-in needs none.
    pub key_required: bool,
    /// The name of the longest reply.
    pub max_tokens_field: MaxTokensField,
    /// Who gives instructions.
    pub system_role: SystemRole,
    /// It takes tools; else a request with tools is refused.
    pub tools: bool,
    /// It takes `parallel_tool_calls`.
    pub parallel_flag: bool,
    /// What `response_format` can ask for.
    pub json_mode: Structure,
    /// It takes `seed`.
    pub seed: bool,
    /// It takes `top_k`, which the protocol does not have.
    pub top_k: bool,
    /// How usage is had from a stream.
    pub stream_usage: StreamUsage,
    /// How [`crate::Request::thinking`] and [`crate::Request::effort`] are said.
    pub thinking: ThinkingField,
    /// Where it puts thoughts, and so where they are echoed. Both places are read from any server.
    pub reasoning_field: ReasoningField,
    /// It wants its `reasoning_details` back.
    pub echo_reasoning_details: bool,
    /// How far it can be trusted to number the tool calls of a stream.
    pub tool_index: ToolIndex,
    /// `usage.cost` is what the call cost in dollars.
    pub cost_in_usage: bool,
    /// A 403 means that the content was flagged, not that the key is wrong.
    pub moderates: bool,
    /// It runs on hardware of its user, so that nothing is known of its speed.
    pub self_hosted: bool,
}

impl Dialect {
    /// `OpenAI` itself.
    pub const fn openai() -> Self {
        Self {
            name: "openai",
            json_mode: Structure::Schema,
            base_url: Some("https://api.openai.com/v1"),
            key_required: true,
            max_tokens_field: MaxTokensField::MaxCompletionTokens,
            stream_usage: StreamUsage::Send,
            thinking: ThinkingField::Effort,
            tool_index: ToolIndex::Strict,
            parallel_flag: true,
            ..Self::generic()
        }
    }

    /// `OpenRouter`.
    pub const fn openrouter() -> Self {
        Self {
            name: "openrouter",
            json_mode: Structure::Schema,
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

    /// The server of llama.cpp.
    pub const fn llamacpp() -> Self {
        Self {
            name: "llamacpp",
            self_hosted: true,
            json_mode: Structure::Schema,
            base_url: Some("http://127.0.0.1:8080/v1"),
            parallel_flag: true,
            top_k: true,
            stream_usage: StreamUsage::Send,
            reasoning_field: ReasoningField::ReasoningContent,
            ..Self::generic()
        }
    }

    /// Ollama, through its `/v1`.
    pub const fn ollama() -> Self {
        Self {
            name: "ollama",
            self_hosted: true,
            json_mode: Structure::Schema,
            base_url: Some("http://127.0.0.1:11434/v1"),
            stream_usage: StreamUsage::Send,
            reasoning_field: ReasoningField::Reasoning,
            ..Self::generic()
        }
    }

    /// vLLM.
    pub const fn vllm() -> Self {
        Self {
            name: "vllm",
            self_hosted: true,
            json_mode: Structure::Schema,
            base_url: Some("http://127.0.0.1:8000/v1"),
            parallel_flag: true,
            top_k: true,
            stream_usage: StreamUsage::Send,
            reasoning_field: ReasoningField::ReasoningContent,
            ..Self::generic()
        }
    }

    /// A server nobody knows: only what nearly all of them take. Each way to ask for JSON is refused by some, so
    /// that a schema goes into the instructions.
    pub const fn generic() -> Self {
        Self {
            name: "generic",
            base_url: None,
            key_required: false,
            max_tokens_field: MaxTokensField::MaxTokens,
            system_role: SystemRole::System,
            tools: true,
            parallel_flag: false,
            json_mode: Structure::None,
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
        }
    }
}
