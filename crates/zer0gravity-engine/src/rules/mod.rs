//! Rules that a program can follow: their syntax, their checks, and the client that follows them without a model.

pub mod codec;
pub mod lint;
pub(crate) mod offline;

/// The syntax of rules that a program can follow, for people.
pub const SYNTAX: &str = include_str!("../data/rule_syntax.txt");
