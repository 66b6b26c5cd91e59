//! `report`: a run as one page for a browser.

use std::time::Duration;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, OutputTarget, Session};

use crate::error::Error;
use crate::folders::RUNS;
use crate::page::PageFile;

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// File for the page; - for stdout [default: report.html in the run's folder].
    #[arg(short, long, alias = "out", value_name = "FILE")]
    pub output: Option<OutputTarget>,
    /// Open the page in the browser.
    #[arg(long)]
    pub open: bool,
    /// Seconds between looks at a run in progress, whose page is written until it ends [default: 5].
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5")]
    pub watch: Option<u32>,
}

pub fn execute(args: &ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let is_stdout = matches!(args.output, Some(OutputTarget::Stdout));
    if is_stdout && (args.open || args.watch.is_some()) {
        return Err(Failure::usage(Error::NoPageFile));
    }
    let run = RUNS.find(&args.run, session)?;
    let page = PageFile::new(&run, args.output.as_ref())?;
    if let Some(seconds) = args.watch {
        return page.watch(Duration::from_secs(seconds.into()), args.open, session);
    }
    page.write(session)?;
    page.show(args.open, session)?;
    Ok(Exit::Done)
}
