//! `zer0gravity report`: writes a run as a page.

use bin_support::output::ensure_not_input;
use bin_support::page::PageFlags;
use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, OutputTarget, Session, block_on};
use zer0gravity_engine::report::page;

use crate::calibrated::CalibrationFlags;
use crate::error::Error;
use crate::filter::EncodingFilter;
use crate::live::LiveRun;
use crate::source::Source;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity report
  zer0gravity report results.json -o -";

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// File for the page; - for stdout [default: report.html in the run's folder].
    #[arg(short, long, value_name = "FILE", alias = "html")]
    pub output: Option<OutputTarget>,
    #[command(flatten)]
    pub page: PageFlags,
    #[command(flatten)]
    pub only: EncodingFilter,
    #[command(flatten)]
    pub calibration: CalibrationFlags,
}

pub fn execute(args: &ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    args.page.check(args.output.as_ref())?;
    if args.only.is_given() && args.output.is_none() {
        return Err(Failure::usage(Error::PartOfPage));
    }
    let source = Source::find(&args.run, session)?;
    let default = || OutputTarget::from(source.file.with_extension("html"));
    let target = args.output.clone().unwrap_or_else(default);
    let inputs = source.files().into_iter().chain(args.calibration.file());
    if let (Some(every), Some(file)) = (args.page.watch, target.file()) {
        ensure_not_input(file, inputs)?;
        let live = LiveRun::open(source.path())?;
        let read = async |last: Option<&_>| {
            live.read_page(&args.only, last, every, &args.calibration)
                .await
        };
        return block_on(args.page.follow(every, file, session, read))?;
    }
    let output = target.begin(inputs)?;
    let report = args.calibration.read(&source, &args.only, session)?;
    let html = page(&report).render()?;
    output.finish(session, |out| out.write_all(html.as_bytes()))?;
    if let Some(file) = target.file() {
        args.page.show(file, session)?;
    }
    Ok(Exit::Done)
}
