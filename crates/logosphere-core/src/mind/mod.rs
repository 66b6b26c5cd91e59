//! The interface to minds: their input, their reply and their errors.

mod call;
#[cfg(feature = "llm")]
mod llm;
mod local;
mod mixed;
mod recorded;
mod template;

use async_trait::async_trait;

use crate::journal::MindReply;

pub use call::{CallContext, MindError, MindInput, WireRequest};
#[cfg(feature = "llm")]
pub use llm::LlmMind;
pub use local::{LocalMind, LocalMindKind, LocalMindParameter, MindSpecError, local_mind};
pub use mixed::MixedMinds;
pub use recorded::{RecordedMind, RecordedReplies};
pub(crate) use template::PROBE;

/// A mind: an agent that reads a prompt and writes an answer.
///
/// All minds of a run are called through one `Mind`. They have no memory and no identity.
#[async_trait]
pub trait Mind: Send + Sync {
    /// Returns the name for the journal, such as `openrouter` or `copier:mu=0.05`. It is never sent.
    fn label(&self) -> &str;

    /// Returns the request that [`Mind::respond`] would send, byte for byte.
    ///
    /// A scripted mind sends nothing; it returns the request that a server of chat completions would receive.
    ///
    /// # Errors
    /// The request cannot be built.
    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        Ok(WireRequest::local(input))
    }

    /// Returns the answer to `input`.
    ///
    /// `context` has random numbers for scripted minds. A mind that calls a model must not send its content.
    async fn respond(
        &self,
        input: &MindInput,
        context: &CallContext,
    ) -> Result<MindReply, MindError>;
}

#[async_trait]
impl<M: Mind + ?Sized> Mind for Box<M> {
    fn label(&self) -> &str {
        (**self).label()
    }

    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        (**self).request(input)
    }

    async fn respond(
        &self,
        input: &MindInput,
        context: &CallContext,
    ) -> Result<MindReply, MindError> {
        (**self).respond(input, context).await
    }
}
