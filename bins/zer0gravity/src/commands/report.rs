//! `zer0gravity report`: writes a run as a page.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, OutputTarget, Session};
use zer0gravity_engine::report::page;

use crate::source::Source;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity report runs/first
  zer0gravity report results.json --output -";

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Run: a directory, a report, or the output of `run`.
    #[arg(value_name = "DIR|FILE")]
    pub source: PathBuf,
    /// File for the page; - for stdout [default: report.html in DIR].
    #[arg(short, long, value_name = "OUT", alias = "html")]
    pub output: Option<OutputTarget>,
}

pub fn execute(args: &ReportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let source = Source::of(&args.source);
    let default = || OutputTarget::from(source.file.with_extension("html"));
    let target = args.output.clone().unwrap_or_else(default);
    let output = target.begin(source.files())?;
    let html = page(&source.read()?).render()?;
    output.finish(session, |out| out.write_all(html.as_bytes()))?;
    if target.file().is_some() {
        writeln!(session.results, "{target}")?;
    }
    Ok(Exit::Done)
}
