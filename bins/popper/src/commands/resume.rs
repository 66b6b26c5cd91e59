//! The command `popper resume`.

use bin_support::{Exit, Failure, Session};

use crate::discovery::job;
use crate::flags::{DatabaseFlag, RunOptions};

#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub database: DatabaseFlag,
    /// Id of the run.
    #[arg(long, value_name = "ID")]
    pub run_id: i64,
    #[command(flatten)]
    pub work: RunOptions,
}

pub async fn execute(args: &ResumeArgs, session: &mut Session) -> Result<Exit, Failure> {
    job::resume(&args.database.db, args.run_id, &args.work, session).await
}
