//! A language model as the proposer: its prompts, and the parser of its replies.
//!
//! A model works blind by default: [`SymbolMask`] hides the symbols and the names that reveal the universe, and every
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

pub use proposer::{LlmOptions, LlmProposer};
pub use symbol_mask::SymbolMask;
