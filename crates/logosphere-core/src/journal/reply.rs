//! The reply of a mind as the journal records it.

use llm_types::Usd;
use serde::{Deserialize, Serialize};

use super::call::AttemptFacts;

/// A reply of a mind.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MindReply {
    /// The whole text of the answer.
    pub text: String,
    /// The model that the reply names.
    pub model: String,
    /// The reason for the end of the text, in llm-client's words. `max_tokens` and `context_window` mean that it was
    /// cut.
    pub finish_reason: Option<String>,
    /// The same in the server's words; `None` if the server gives none.
    #[serde(default)]
    pub finish_raw: Option<String>,
    /// The tokens of the call.
    pub tokens: TokenUse,
    /// The cost, in JSON as nano-dollars; `None` if the price is unknown.
    #[serde(rename = "cost_nanos")]
    pub cost: Option<Usd>,
    /// All attempts, the last of which returned this reply; empty for scripted minds. They are stored next to the
    /// reply.
    #[serde(skip)]
    pub attempts: Vec<AttemptFacts>,
}

impl MindReply {
    /// Returns a reply of a model; the caller sets the other fields.
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
    /// The tokens of the prompt.
    pub prompt: u64,
    /// The tokens of the answer with its reasoning.
    pub completion: u64,
    /// The tokens of the reasoning; `None` if unknown.
    pub reasoning: Option<u64>,
    /// The prompt tokens that were read from a cache.
    pub cached: u64,
    /// Whether the counts are estimates.
    pub estimated: bool,
}

impl TokenUse {
    /// Returns the counts of a prompt and its answer.
    pub fn new(prompt: u64, completion: u64) -> Self {
        Self {
            prompt,
            completion,
            ..Self::default()
        }
    }
}

/// Converts an amount to the dollars of a journal.
pub(crate) fn dollars(usd: Usd) -> f64 {
    usd.0 as f64 / 1e9
}

/// Converts the dollars of a journal to an amount.
pub(crate) fn usd(dollars: f64) -> Usd {
    Usd((dollars * 1e9).round() as i64)
}
