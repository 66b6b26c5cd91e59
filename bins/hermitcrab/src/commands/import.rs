//! `import`: reads blocks from a file or a folder.

use bin_support::{Exit, Failure, Session};

use crate::answer::print_answer;
use crate::bundle::{ImportFlags, import};
use crate::data_dir::DataDir;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  hermitcrab import backup.json --on-conflict replace
  hermitcrab import backup.json --on-conflict rename";

#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Print the outcome for each block as JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub import: ImportFlags,
}

pub fn execute(args: &ImportArgs, data: &DataDir, session: &mut Session) -> Result<Exit, Failure> {
    print_answer(args.json, import(&args.import, data), session)
}
