//! The calls of the engine to models: requests, replies and failures.

mod call_tally;
pub(crate) mod client;
pub(crate) mod failure_kind;
#[cfg(feature = "llm")]
pub(crate) mod llm;
mod messages;
pub(crate) mod outcome;

pub use call_tally::CallTally;
pub use messages::{
    CallFacts, CountRequest, Endpoint, ModelError, ModelLabel, ModelReply, ModelRequest,
    PromptInputs, Repeat, TokenCount,
};
