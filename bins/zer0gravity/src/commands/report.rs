//! `zer0gravity report`: writes a run as a page.

use std::io::Write as _;
use std::num::NonZeroU64;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, OutputTarget, Session, open_in_browser};
use zer0gravity_engine::report::page;

use crate::error::Error;
use crate::live;
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
    /// Open the page in the browser.
    #[arg(long)]
    pub open: bool,
    /// Write the page again when the run changes, at most every 5 s or SECONDS, until the run ends.
    ///
    /// The page loads itself again. Exit code 3 if the process that works on the run is gone before its end.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5")]
    pub watch: Option<NonZeroU64>,
}

pub fn execute(args: &ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let to_stdout = args.output == Some(OutputTarget::Stdout);
    if to_stdout && (args.open || args.watch.is_some()) {
        return Err(Failure::usage(Error::NeedsFile));
    }
    let source = Source::find(&args.run, session)?;
    let default = || OutputTarget::from(source.file.with_extension("html"));
    let target = args.output.clone().unwrap_or_else(default);
    if let (Some(every), Some(file)) = (args.watch, target.file()) {
        bin_support::output::ensure_not_input(file, source.files())?;
        let folder = source.directory().unwrap_or(&source.file);
        return live::watch(folder, file, every, args.open, session);
    }
    let output = target.begin(source.files())?;
    let html = page(&source.read()?).render()?;
    output.finish(session, |out| out.write_all(html.as_bytes()))?;
    if let Some(file) = target.file() {
        writeln!(session.results, "{target}")?;
        if args.open {
            open_in_browser(file, session);
        }
    }
    Ok(Exit::Done)
}
