//! Rules that a program can follow: their syntax, their checks, and the client that follows them without a model.

pub mod codec;
pub mod lint;
pub(crate) mod offline;

/// The description, for people, of the syntax of rules that a program can follow.
pub const SYNTAX: &str = include_str!("../data/rule_syntax.txt");
