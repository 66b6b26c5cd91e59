//! A language model as the proposer: what it is shown, and how its answers are read.
//!
//! A model works blind unless told otherwise: [`SymbolMask`] hides the symbols and the names that give something away, and every
//! prompt is scanned before it is sent ([`SymbolMask::leaks`]).

mod leak;
mod prompt;
pub mod prompts;
mod proposer;
mod reading;
mod scan;
mod schema;
mod sentence;
mod symbol_mask;

pub use prompts::PromptText;
pub use proposer::{LlmOptions, LlmProposer};
pub use symbol_mask::SymbolMask;
