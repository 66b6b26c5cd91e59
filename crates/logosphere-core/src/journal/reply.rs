//! The reply of a mind as the journal records it.

use llm_types::Usd;
use serde::{Deserialize, Serialize};

use super::event::AttemptFacts;

/// An answer.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MindReply {
    /// What was written, all of it.
    pub text: String,
    /// The model that says it answered.
    pub model: String,
    /// Why the text ends, in llm-client's words; `max_tokens` and `context_window` mean that it was cut.
    pub finish_reason: Option<String>,
    /// The same in the server's own words, if it gives any.
    #[serde(default)]
    pub finish_raw: Option<String>,
    /// Tokens.
    pub tokens: TokenUse,
    /// The cost, if the price is known; in JSON nano-dollars.
    #[serde(rename = "cost_nanos")]
    pub cost: Option<Usd>,
    /// Every try, the last one is this answer. None for local minds. It is written beside the answer, not in it.
    #[serde(skip)]
    pub attempts: Vec<AttemptFacts>,
}

impl MindReply {
    /// Returns an answer of a model; whatever else is known of it is set by whoever made it.
    pub fn new(text: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            model: model.into(),
            ..Self::default()
        }
    }
}

/// The tokens of a call.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUse {
    /// Of the prompt.
    pub prompt: u64,
    /// Of the answer, reasoning included.
    pub completion: u64,
    /// Of the answer, reasoning alone, if that is known.
    pub reasoning: Option<u64>,
    /// Of the prompt, read from a cache.
    pub cached: u64,
    /// Nobody who knows counted them.
    pub estimated: bool,
}

impl TokenUse {
    /// Returns counts of a prompt and its answer.
    pub fn new(prompt: u64, completion: u64) -> Self {
        Self {
            prompt,
            completion,
            ..Self::default()
        }
    }
}
