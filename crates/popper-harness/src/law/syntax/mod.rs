//! The one grammar of observables and claims, and the tree both parse to.
//!
//! From loosest to tightest: `->` (also `=>`), `or`, `and`, `not`, one comparison, `+ -`, `* / %`, unary minus, then
//! integers, quoted symbols, names, calls and parentheses. Resolution checks the rest, such as booleans in an observable
//! or a time after a name.

mod node;
mod op;
mod parse;

pub use node::{Kind, Node, SyntaxError, Time};
pub(crate) use node::{integer_only, timed};
pub use op::Op;
pub(crate) use parse::parse_displayed;
pub use parse::{QUOTES, parse};
