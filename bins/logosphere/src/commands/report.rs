//! `report`: a run as one page for a browser.

use bin_support::output::ensure_not_input;
use bin_support::page::PageFlags;
use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, OutputTarget, Session, block_on};

use crate::embedding::EmbedFlags;
use crate::error::Error;
use crate::folders::MEASURED;
use crate::journal_file;
use crate::page::PageFile;

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// File for the page; - for stdout [default: report.html in the run's folder].
    #[arg(short, long, alias = "out", value_name = "FILE")]
    pub output: Option<OutputTarget>,
    #[command(flatten)]
    pub page: PageFlags,
    #[command(flatten)]
    pub embed: EmbedFlags,
}

pub fn execute(args: &ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    args.page.check(args.output.as_ref())?;
    if args.page.watch.is_some() && args.embed.embed.is_some() {
        return Err(Failure::usage(Error::EmbedLive));
    }
    let run = MEASURED.find(&args.run, session)?;
    let page = PageFile::new(&run, args.output.as_ref())?;
    if let (Some(every), Some(file)) = (args.page.watch, page.file()) {
        ensure_not_input(file, journal_file::kept(&run))?;
        let read = async |last: Option<&_>| page.read_again(last);
        return block_on(args.page.follow(every, file, session, read))?;
    }
    let written = page.write(&args.embed, session)?;
    if written != Exit::Done {
        return Ok(written);
    }
    if let Some(file) = page.file() {
        args.page.show(file, session)?;
    }
    Ok(Exit::Done)
}
