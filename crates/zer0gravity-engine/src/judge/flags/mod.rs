//! Findings that a reader of a result should look at. No flag changes a score.
//!
//! Texts are compared as sequences of case-folded words. Words of the original never raise a flag on its encoding. The time of
//! every check is proportional to the length of the texts.

mod atom_loss;
mod echo;
mod executed;
mod flag;
mod hidden;
pub(crate) mod injection;
mod leak;
pub(crate) mod phrases;
mod talk;
mod words;

pub use flag::{Flag, FlagId, FlagInput, Severity, detect};
pub(crate) use words::folded_words;
