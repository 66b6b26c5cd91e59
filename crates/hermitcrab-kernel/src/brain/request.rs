use async_trait::async_trait;
use llm_client::{Message, Reply, Spend, ToolSpec};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::allowance::Allowance;
use crate::{BrainError, EventSink, Face, table};

/// The longest reply in tokens where neither request nor settings say: room for a whole shell.
pub(crate) const MAX_TOKENS: u32 = 8_192;

/// Answers one request. Tools, budgets and the conversation are the kernel's.
#[async_trait]
pub trait Brain: Send + Sync {
    /// The provider and models of this brain.
    fn info(&self) -> BrainInfo;

    /// Answers a request. Pieces of text go to `events` as they arrive; `cancel` drops the request at once. A brain whose
    /// replies cost money asks [`BrainRequest::allowance`] before each attempt.
    ///
    /// # Errors
    /// There is no answer.
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

    /// Takes the charges since the last call of this function, including those of failed and cancelled calls. `None` if the
    /// replies report the whole cost.
    fn take_spend(&self) -> Option<Spend> {
        None
    }
}

/// The identity of a brain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BrainInfo {
    /// The provider's name.
    pub provider: String,
    /// The model that is asked first: the first of the chain, or the one that answered in its place.
    pub model: String,
    /// The model for small work.
    pub fast: String,
    /// The name of what answers in place of a model, such as `script`; `None` if a model answers.
    pub offline: Option<String>,
}

impl BrainInfo {
    /// A brain that asks models, the first of the chain and the one for small work.
    pub fn new(
        provider: impl Into<String>,
        model: impl Into<String>,
        fast: impl Into<String>,
    ) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
            fast: fast.into(),
            offline: None,
        }
    }

    /// The model that a request asks first.
    pub(crate) fn asked<'a>(&'a self, request: &'a BrainRequest) -> &'a str {
        match (&request.model, request.tier) {
            (Some(model), _) => model,
            (None, Tier::Default) => &self.model,
            (None, Tier::Fast) => &self.fast,
        }
    }
}

/// The size of the model that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Tier {
    /// The first of the chain that answers.
    #[default]
    Default,
    /// The model for small work.
    Fast,
}

/// A request to a brain.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct BrainRequest {
    /// The instructions, with cache marks.
    pub system: Vec<llm_client::Block>,
    /// The tools that may be called.
    pub tools: Vec<ToolSpec>,
    /// The model must not call tools: it is to answer in words.
    pub tools_off: bool,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The size of the model.
    pub tier: Tier,
    /// The model of the chain to begin with, in place of the first one.
    pub model: Option<String>,
    /// Turns thinking off where the model allows that.
    pub thinking_off: bool,
    /// The longest reply in tokens; `None`: as in the model's settings.
    pub max_tokens: Option<u32>,
    /// The kind of face that the person sees.
    pub face: Face,
    /// The model that refused: only models after it in the chain are asked.
    pub after: Option<String>,
    /// The spending limit; asked before each attempt.
    pub allowance: Allowance,
}

/// The reply of a brain.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BrainReply {
    /// The reply.
    pub reply: Reply,
    /// The id of the model that was asked for it.
    pub model: String,
}

impl BrainReply {
    /// The reply of the model with this id.
    pub fn new(reply: Reply, model: impl Into<String>) -> Self {
        Self {
            reply,
            model: model.into(),
        }
    }
}
