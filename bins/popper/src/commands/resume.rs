//! The command `popper resume`.

use bin_support::{Exit, Failure, Session};

use crate::discovery::job;
use crate::flags::{LocationFlags, RunOptions};

#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub location: LocationFlags,
    /// Id of the run.
    #[arg(long, value_name = "ID")]
    pub run_id: i64,
    #[command(flatten)]
    pub work: RunOptions,
}

pub async fn execute(args: &ResumeArgs, session: &mut Session) -> Result<Exit, Failure> {
    let location = args.location.location(session)?;
    job::resume(&location, args.run_id, &args.work, session).await
}
