//! `zer0gravity levels`: lists the embedded texts.

use std::io::Write as _;

use bin_support::{Exit, Failure, Output, Session};
use zer0gravity_engine::dataset::{LEVELS, Level};

use crate::output;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity levels
  zer0gravity levels --json";

#[derive(Debug, clap::Args)]
pub struct LevelsArgs {
    /// Print the cases as a JSON array, a dataset for --dataset.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &LevelsArgs, session: &mut Session) -> Result<Exit, Failure> {
    if args.json {
        let cases: Vec<_> = LEVELS.iter().flat_map(Level::cases).collect();
        output::json(Output::Stdout, &cases, session)?;
        return Ok(Exit::Done);
    }
    for level in LEVELS {
        writeln!(session.results, "level {}", level.number)?;
        for case in level.cases() {
            writeln!(session.results, "  {}  {}", case.id, case.text)?;
        }
    }
    Ok(Exit::Done)
}
