//! The command `popper resume`.

use bin_support::{Exit, Failure, Session};

use crate::discovery::job;
use crate::flags::{LocationFlags, RunName, RunOptions};

#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub location: LocationFlags,
    #[command(flatten)]
    pub name: RunName,
    #[command(flatten)]
    pub work: RunOptions,
}

pub async fn execute(args: &ResumeArgs, session: &mut Session) -> Result<Exit, Failure> {
    let location = args.location.location(session)?;
    job::resume(&location, args.name.asked().as_deref(), &args.work, session).await
}
