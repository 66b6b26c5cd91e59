//! The one grammar of observables and claims, and the tree both parse to.
//!
//! From loosest to tightest: `->` (also `=>`), `or`, `and`, `not`, one comparison, `+ -`, `* / %`, unary minus, then
//! integers, quoted symbols, names, calls and parentheses. What a tree may hold (booleans in an observable, a time behind
//! a name) is decided when it is resolved, not here.

mod node;
mod op;
mod parse;

pub use node::{Kind, Node, SyntaxError, Time};
pub(crate) use node::{integer_only, timed};
pub use op::Op;
pub(crate) use parse::parse_displayed;
pub use parse::{QUOTES, parse};
