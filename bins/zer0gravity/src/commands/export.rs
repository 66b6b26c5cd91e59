//! `zer0gravity export`: writes the results of a run as CSV or JSON.

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, OutputTarget, Session};
use zer0gravity_engine::report::{export_csv, export_json};

use crate::filter::EncodingFilter;
use crate::source::Source;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity export -o first.csv
  zer0gravity export matrix --format json";

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Form of the export: one row per result, or the whole report [default: csv, or json for a file .json].
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,
    /// File for the export; - for stdout [default: -].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<OutputTarget>,
    #[command(flatten)]
    pub only: EncodingFilter,
    /// The former name of `--format csv --output OUT`.
    #[arg(long, value_name = "OUT", hide = true, conflicts_with_all = ["format", "output"])]
    pub csv: Option<OutputTarget>,
    /// The former name of `--format json --output OUT`.
    #[arg(long, value_name = "OUT", hide = true, conflicts_with_all = ["format", "output", "csv"])]
    pub json: Option<OutputTarget>,
}

/// A form of exported results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One row per result.
    Csv,
    /// The whole report.
    Json,
}

pub fn execute(args: &ExportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let source = Source::find(&args.run, session)?;
    let (format, target) = match (&args.csv, &args.json) {
        (Some(target), _) => (Format::Csv, Some(target)),
        (None, Some(target)) => (Format::Json, Some(target)),
        (None, None) => {
            let target = args.output.as_ref();
            let file = target.and_then(OutputTarget::file);
            let is_json =
                file.is_some_and(|path| path.extension().is_some_and(|end| end == "json"));
            let by_name = if is_json { Format::Json } else { Format::Csv };
            (args.format.unwrap_or(by_name), target)
        }
    };
    let text = match format {
        Format::Csv => export_csv,
        Format::Json => export_json,
    };
    let target = target.unwrap_or(&OutputTarget::Stdout);
    let output = target.begin(source.files())?;
    let report = source.read(&args.only, session)?;
    let text = text(&report);
    output.finish(session, |out| out.write_all(text.as_bytes()))?;
    if target.file().is_some() {
        session.status(&format!("{} results in {target}", report.results.len()));
    }
    Ok(Exit::Done)
}
