//! The trait through which an experiment reaches a model, and the time of day for its records.

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_types::Clock;

use crate::model::{CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, TokenCount};

/// Asks a model.
pub trait ModelClient: Send + Sync {
    /// One reply to one new conversation.
    ///
    /// # Errors
    /// [`ModelError`]: no reply came. A refusal and a cut reply are replies.
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>>;

    /// The tokens of a conversation that holds one user message.
    ///
    /// # Errors
    /// [`ModelError`]: the provider has not counted.
    fn count_tokens(&self, request: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>>;

    /// The name of the model's provider and server.
    fn label(&self) -> ModelLabel;
}

/// The time of day, as records contain it. It decides nothing.
pub(crate) fn now(clock: &dyn Clock) -> Timestamp {
    Timestamp::try_from(clock.now()).unwrap_or(Timestamp::MAX)
}
