//! The text that minds read and write: the prompt, and the parser of answers.

mod answer;
mod blocks;
mod cap;
mod delimiters;
mod hash;
mod notes;
mod parsed;
mod parser;
mod prompt;
mod rules;
mod signature;

pub(crate) use blocks::Cut;
pub(crate) use cap::MessageCap;
pub(crate) use delimiters::holds_delimiter;
pub use hash::sha256_hex;
pub(crate) use notes::is_invisible;
pub use parsed::{End, Note, ParseMode, Parsed, Reason, Spans};
pub(crate) use parsed::{is_blank, lost, trimmed};
pub(crate) use parser::parse_in_run;
pub use parser::{parse, parse_signed};
pub(crate) use prompt::SEPARATOR;
pub use prompt::{Prompt, PromptRole, SystemPrompt, format_prompt};
pub(crate) use rules::Rules;
pub use signature::is_signature;
pub(crate) use signature::{
    LONGEST as LONGEST_SIGNATURE, find as find_signature, may_be_signature, with_signature,
    without_signature,
};
