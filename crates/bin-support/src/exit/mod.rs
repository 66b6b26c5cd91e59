//! Exit codes and failures of a program, and text that is safe for a terminal.

mod failure;
mod terminal_text;

pub(crate) use self::failure::error_line;
pub use self::failure::{Exit, Failure};
pub use self::terminal_text::{escape, shortened};
