//! `zer0gravity export`: writes the results of a run as CSV or JSON.

use std::path::PathBuf;

use bin_support::{Exit, Failure, OutputTarget, Session};
use zer0gravity_engine::report::{export_csv, export_json};

use crate::source::Source;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity export runs/first --output first.csv
  zer0gravity export runs/first --format json";

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Run: a directory, a report, or the output of `run`.
    #[arg(value_name = "DIR|FILE")]
    pub source: PathBuf,
    /// Form of the export: one row per result, or the whole report.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Csv)]
    pub format: Format,
    /// File for the export; - for stdout [default: -].
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<OutputTarget>,
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
    let source = Source::of(&args.source);
    let (format, target) = match (&args.csv, &args.json) {
        (Some(target), _) => (Format::Csv, Some(target)),
        (None, Some(target)) => (Format::Json, Some(target)),
        (None, None) => (args.format, args.output.as_ref()),
    };
    let text = match format {
        Format::Csv => export_csv,
        Format::Json => export_json,
    };
    let output = target
        .unwrap_or(&OutputTarget::Stdout)
        .begin(source.files())?;
    let text = text(&source.read()?);
    output.finish(session, |out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}
