//! The trait through which an experiment reaches a model, and the time of day for its records.

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_types::Clock;

use crate::model::{CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, TokenCount};

/// A client that calls a model.
pub trait ModelClient: Send + Sync {
    /// Returns the reply to a new conversation.
    ///
    /// # Errors
    /// [`ModelError`]: there is no reply. A refusal and a truncated reply are replies.
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>>;

    /// Returns the number of tokens of a conversation with one user message.
    ///
    /// # Errors
    /// [`ModelError`]: the provider did not count.
    fn count_tokens(&self, request: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>>;

    /// Returns the names of the model's provider and server.
    fn label(&self) -> ModelLabel;
}

/// The time of day, as records contain it. It decides nothing.
pub(crate) fn now(clock: &dyn Clock) -> Timestamp {
    Timestamp::try_from(clock.now()).unwrap_or(Timestamp::MAX)
}
