//! The requests to a model client and its replies.

use jiff::Timestamp;
use llm_types::{StopReason, Usd};
use serde::{Deserialize, Serialize};

use crate::prompts::{Prompt, Role};
use crate::text::setters::setters;
use crate::{FailureKind, TokenUse};

/// The provider and server of a model; part of every call's key, so that a reply is never taken for that of another model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelLabel {
    /// The provider's name.
    pub provider: String,
    /// The server's host, with its port if it names one; empty for no server.
    pub host: String,
    /// Whether no model is asked.
    pub offline: bool,
}

impl ModelLabel {
    /// The label of a model that `provider` serves from `host`.
    pub fn new(provider: impl Into<String>, host: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            host: host.into(),
            offline: false,
        }
    }

    setters! {
        offline: bool,
    }
}

/// A request to one role.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The role that is asked.
    pub role: Role,
    /// The model's id.
    pub model: String,
    /// The system prompt and the messages.
    pub prompt: Prompt,
    /// The rules and texts of the prompt, for clients that ask no model.
    pub inputs: PromptInputs,
    /// The temperature, 0 to 2; `None` sends none.
    pub temperature: Option<f64>,
    /// The numbers that distinguish equal requests; never sent.
    pub repeat: Repeat,
}

impl ModelRequest {
    /// A request of `role` to `model`, without inputs, temperature and repeat numbers.
    pub fn new(role: Role, model: impl Into<String>, prompt: Prompt) -> Self {
        Self {
            role,
            model: model.into(),
            prompt,
            inputs: PromptInputs::default(),
            temperature: None,
            repeat: Repeat::default(),
        }
    }

    setters! {
        inputs: PromptInputs,
        temperature: Option<f64>,
        repeat: Repeat,
    }
}

/// The rules and texts that a role gets to see, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PromptInputs {
    /// The rules; empty where the role does not see them.
    pub rules: String,
    /// The texts in the order of [`crate::prompts::RoleInput`]: the original for the encoder, the encoded text for the decoder, both
    /// for the judge of meaning, the decoded text for the executor.
    pub texts: Vec<String>,
}

impl PromptInputs {
    setters! {
        rules: String,
        texts: Vec<String>,
    }
}

/// A request for the tokens of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountRequest {
    /// The model whose tokenizer counts.
    pub model: String,
    /// The one user message.
    pub text: String,
}

impl CountRequest {
    /// A request for the tokens of `text` by the tokenizer of `model`.
    pub fn new(model: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            text: text.into(),
        }
    }
}

/// The endpoint of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Endpoint {
    /// A reply of a model.
    Messages,
    /// The result of a count.
    CountTokens,
}

/// The numbers that tell equal calls of a plan apart. Only those that the role repeats over are set, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repeat {
    /// The encoding's id, for a judge of the rules that is asked for every case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The case's id, for the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The number of the encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
    /// The number of the decoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decode: Option<u32>,
    /// The number of the judge's sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u32>,
    /// The number of the request to a judge: 2 after a reply without a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<u32>,
}

impl Repeat {
    setters! {
        encoding: Option<String>,
        case: Option<String>,
        trial: Option<u32>,
        decode: Option<u32>,
        sample: Option<u32>,
        ask: Option<u32>,
    }
}

/// A reply of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelReply {
    /// The text blocks of the reply, joined.
    pub text: String,
    /// The reason that it ends.
    pub stop: StopReason,
    /// Tokens, if the reply reports them.
    pub usage: Option<TokenUse>,
    /// The cost, if it is known; in JSON nano-dollars.
    #[serde(rename = "costNanos")]
    pub cost: Option<Usd>,
    /// The requests that were sent, and their time.
    pub call: CallFacts,
}

impl ModelReply {
    /// A complete reply with this text, without token numbers and cost.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            stop: StopReason::EndTurn,
            usage: None,
            cost: None,
            call: CallFacts::default(),
        }
    }

    setters! {
        stop: StopReason,
        usage: Option<TokenUse>,
        cost: Option<Usd>,
        call: CallFacts,
    }
}

/// The result of a count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TokenCount {
    /// The number of tokens.
    pub tokens: u64,
    /// The requests that were sent, and their time.
    pub call: CallFacts,
}

impl TokenCount {
    /// A count that took no request.
    pub fn new(tokens: u64) -> Self {
        Self {
            tokens,
            call: CallFacts::default(),
        }
    }

    setters! {
        call: CallFacts,
    }
}

/// The requests and the time of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallFacts {
    /// The time at which it began; `None` without a clock.
    pub started_at: Option<Timestamp>,
    /// Milliseconds until the reply was there.
    pub elapsed_ms: u64,
    /// Requests that were sent: 1, more after failures, 0 where no model was asked.
    pub attempts: u32,
}

impl CallFacts {
    setters! {
        started_at: Option<Timestamp>,
        elapsed_ms: u64,
        attempts: u32,
    }
}

/// The reason that no reply came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
#[non_exhaustive]
pub struct ModelError {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// The HTTP status, if an answer came.
    pub status: Option<u16>,
    /// The cause and what to do; holds no key.
    pub message: String,
    /// The requests that were sent, and their time.
    pub call: CallFacts,
    /// Whether the call was not sent because the run had ended, for the reason in `kind`.
    #[serde(default)]
    pub stopped: bool,
}

impl ModelError {
    /// A failure before anything was sent.
    pub fn unsent(kind: impl Into<FailureKind>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            status: None,
            message: message.into(),
            call: CallFacts::default(),
            stopped: false,
        }
    }

    setters! {
        status: Option<u16>,
        call: CallFacts,
        stopped: bool,
    }
}
