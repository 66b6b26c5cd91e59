//! The brains that answer: a model, a script for tests, or the offline rules.

mod allowance;
mod llm;
mod offline;
mod request;
mod script;

pub use allowance::Allowance;
pub(crate) use allowance::{Cap, Caps};
pub use llm::LlmBrain;
pub use offline::OfflineBrain;
pub(crate) use request::MAX_TOKENS;
pub use request::{Brain, BrainInfo, BrainReply, BrainRequest, Tier};
pub use script::{ScriptBrain, ScriptStep};
