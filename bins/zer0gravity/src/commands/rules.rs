//! `zer0gravity rules`: shows the syntax of rules that run offline.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use zer0gravity_engine::rules::SYNTAX;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity rules
  zer0gravity rules > syntax.txt";

#[derive(Debug, clap::Args)]
pub struct RulesArgs {}

pub fn execute(_: &RulesArgs, session: &mut Session) -> Result<Exit, Failure> {
    session.results.write_all(SYNTAX.as_bytes())?;
    Ok(Exit::Done)
}
