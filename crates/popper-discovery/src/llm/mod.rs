//! A language model as the proposer: what it is shown, and how its answers are read.
//!
//! A model works blind unless told otherwise: [`Disguise`] hides the symbols and the names that give something away, and every
//! prompt is scanned before it is sent ([`Disguise::leaks`]).

mod disguise;
mod leak;
mod prompt;
pub mod prompts;
mod proposer;
mod reading;
mod scan;
mod schema;
mod sentence;

pub use disguise::Disguise;
pub use prompts::PromptText;
pub use proposer::{LlmOptions, LlmProposer};
