//! The traits through which an experiment reaches a model and the time.

use futures_util::future::BoxFuture;
use jiff::Timestamp;

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

/// Time, from outside: it is recorded, and decides nothing.
pub trait RunClock: Send + Sync {
    /// The time of day.
    fn now(&self) -> Timestamp;
    /// Milliseconds since some fixed moment, never going back.
    fn monotonic_ms(&self) -> u64;
}
