//! `report`: a run as one page for a browser.

use bin_support::{Exit, Failure, OutputTarget, Session};

use crate::page;
use crate::subject::Subject;

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub subject: Subject,
    /// File for the page; - for stdout [default: report.html in the experiment's directory].
    #[arg(long, value_name = "FILE")]
    pub out: Option<OutputTarget>,
}

pub fn execute(args: &ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    page::write(&args.subject.find(session)?, args.out.as_ref(), session)
}
