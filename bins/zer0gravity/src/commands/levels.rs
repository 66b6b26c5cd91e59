//! `zer0gravity levels`: lists the embedded texts.

use std::io::Write as _;

use bin_support::{Exit, Failure, Output, Session};
use zer0gravity_engine::dataset::{LEVELS, Level};

use crate::{flags, output};

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity levels
  zer0gravity levels 3
  zer0gravity levels --json > levels.json";

#[derive(Debug, clap::Args)]
pub struct LevelsArgs {
    /// Number of a level: 1, 2 or 3 [default: all].
    #[arg(value_name = "N", value_parser = flags::level)]
    pub level: Option<u32>,
    /// Print the cases as a JSON array, an INPUT of `run`.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &LevelsArgs, session: &mut Session) -> Result<Exit, Failure> {
    let is_asked = |level: &&Level| args.level.is_none_or(|number| level.number == number);
    let levels: Vec<&Level> = LEVELS.iter().filter(is_asked).collect();
    if args.json {
        let cases: Vec<_> = levels.into_iter().flat_map(Level::cases).collect();
        output::json(Output::Stdout, &cases, session)?;
        return Ok(Exit::Done);
    }
    for level in levels {
        let (name, about) = (level.name(), level.description());
        writeln!(session.results, "level {}: {name}. {about}", level.number)?;
        for case in level.cases() {
            writeln!(session.results, "  {}  {}", case.id, case.text)?;
        }
    }
    Ok(Exit::Done)
}
