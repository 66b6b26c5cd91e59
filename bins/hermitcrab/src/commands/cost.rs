//! `cost`: the tokens and dollars of all calls.

use std::io::Write as _;

use bin_support::{Exit, Failure, Session};
use serde_json::json;

use crate::answer::print_json;
use crate::data_dir::DataDir;
use crate::kernel_setup;
use crate::usage::usage_line;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab cost
  hermitcrab cost --json";

#[derive(Debug, clap::Args)]
pub struct CostArgs {
    /// Print the cost as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Prints the calls, tokens and dollars of this day and of all days.
pub fn execute(args: &CostArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let usage = kernel_setup::open_read_only(data)?.usage();
    if args.json {
        let document = json!({"schema_version": 1, "day": usage.day, "total": usage.total});
        print_json(&document, session)?;
        return Ok(Exit::Done);
    }
    writeln!(session.results, "day    {}", usage_line(&usage.day))?;
    writeln!(session.results, "total  {}", usage_line(&usage.total))?;
    Ok(Exit::Done)
}
