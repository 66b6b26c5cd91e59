//! `export`: all blocks as one file.

use std::io::ErrorKind;

use bin_support::{Exit, Failure, OutputTarget, Session};

use crate::bundle::{all_blocks, send};
use crate::data_dir::DataDir;
use crate::error::Error;

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
    /// With everything that was done to the blocks. An import leaves it out.
    #[arg(long)]
    pub with_log: bool,
    /// Print JSON about a file that was written.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &ExportArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    if !data.path().exists() {
        let source = ErrorKind::NotFound.into();
        let path = data.path().to_owned();
        return Err(Error::Read { path, source }.failure());
    }
    let export = all_blocks(data, args.with_log);
    send(export, args.output.as_ref(), args.json, data, session)
}
