//! `export`: all blocks as one file.

use bin_support::{Exit, Failure, OutputTarget, Session};

use crate::bundle::{all_blocks, send};
use crate::data_dir::DataDir;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab export -o backup.json
  hermitcrab export --with-log -o backup.json";

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// File to write; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
    /// Export the logs of all edits, too. An import leaves them out.
    #[arg(long)]
    pub with_log: bool,
    /// Print facts about the written file as JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &ExportArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    let export = all_blocks(data, args.with_log);
    send(export, args.output.as_ref(), args.json, data, session)
}
