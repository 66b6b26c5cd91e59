//! Who thinks: a model, a script for tests, or the offline rules.

mod allowance;
mod llm;
mod offline;
mod script;

use async_trait::async_trait;
use llm_client::{Message, Reply, Spend, ToolSpec};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

pub use allowance::Allowance;
pub(crate) use allowance::{Cap, Caps};
pub use llm::LlmBrain;
pub use offline::OfflineBrain;
pub use script::{ScriptBrain, ScriptStep};

use crate::{BrainError, EventSink, Face, table};

/// The longest reply in tokens where neither request nor settings say: room for a whole shell.
pub(crate) const MAX_TOKENS: u32 = 8_192;

/// Answers one request. Tools, budgets and the conversation are the kernel's.
#[async_trait]
pub trait Brain: Send + Sync {
    /// Who it is.
    fn info(&self) -> BrainInfo;

    /// Answers. Pieces of text go to `events` as they come; when `cancel` fires the request is dropped at once. A brain whose
    /// replies cost money asks [`BrainRequest::allowance`] before each attempt.
    ///
    /// # Errors
    /// No answer.
    async fn complete(
        &self,
        request: BrainRequest,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BrainReply, BrainError>;

    /// These tools as a request holds them, as compact JSON; in Anthropic's form unless the provider has another one.
    fn tools_as_sent(&self, tools: &[ToolSpec]) -> String {
        table::as_sent(tools)
    }

    /// What was charged since this was last asked, by calls with and without an answer, cancelled ones too. None if the
    /// cost that a reply tells is all there is.
    fn take_spend(&self) -> Option<Spend> {
        None
    }
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrainInfo {
    /// The provider's name.
    pub provider: String,
    /// The model that is asked first: the first of the chain, or the one that answered in its place.
    pub model: String,
    /// The model for small work.
    pub fast: String,
    /// Set when no model answers: what does, such as `script`.
    pub offline: Option<String>,
}

impl BrainInfo {
    /// The model that a request asks first.
    pub(crate) fn asked<'a>(&'a self, request: &'a BrainRequest) -> &'a str {
        match (&request.model, request.tier) {
            (Some(model), _) => model,
            (None, Tier::Default) => &self.model,
            (None, Tier::Fast) => &self.fast,
        }
    }
}

/// Which model is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The first of the chain that answers.
    #[default]
    Default,
    /// The one for small work.
    Fast,
}

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct BrainRequest {
    /// The instructions; a cache mark stands where the kernel wants one.
    pub system: Vec<llm_client::Block>,
    /// The tools that may be called.
    pub tools: Vec<ToolSpec>,
    /// The model must not call any: it is to answer in words.
    pub tools_off: bool,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Which model.
    pub tier: Tier,
    /// The model of the chain to begin with, in place of the first one.
    pub model: Option<String>,
    /// It is not to think, where it can do without.
    pub thinking_off: bool,
    /// The longest reply in tokens; unset: what the model's settings say.
    pub max_tokens: Option<u32>,
    /// What the person sees.
    pub face: Face,
    /// Only the models of the chain after this one: the one before refused.
    pub after: Option<String>,
    /// What may be spent; to be asked before each attempt.
    pub allowance: Allowance,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct BrainReply {
    /// The reply.
    pub reply: Reply,
    /// The id of the model that was asked for it.
    pub model: String,
}
