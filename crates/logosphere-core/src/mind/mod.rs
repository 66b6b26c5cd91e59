//! Who answers: what a mind is asked, what it says, and what goes wrong.

mod call;
#[cfg(feature = "llm")]
mod llm;
mod local;
mod template;

use async_trait::async_trait;

use crate::journal::MindReply;

pub use call::{CallContext, MindError, MindInput, WireRequest};
#[cfg(feature = "llm")]
pub use llm::LlmMind;
pub(crate) use local::invented;
pub use local::{LocalMind, LocalMindKind, LocalMindParameter, MindSpecError, local_mind};
pub(crate) use template::PROBE;

/// Somebody who reads a prompt and writes an answer.
///
/// All minds of a run are asked through one `Mind`: they are strangers without memory, so nothing tells them apart.
#[async_trait]
pub trait Mind: Send + Sync {
    /// What the journal calls it, such as `openrouter` or `copier:mu=0.05`. Never sent.
    fn label(&self) -> &str;

    /// What [`Mind::respond`] would send, byte for byte. Local minds send nothing: theirs is what a server of chat
    /// completions would be sent.
    ///
    /// # Errors
    /// A request that cannot be made.
    fn request(&self, input: &MindInput) -> Result<WireRequest, MindError> {
        Ok(WireRequest::local(input))
    }

    /// The answer to `input`. `context` is randomness for minds that are programs; one that asks a model must not let any
    /// of it out.
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
