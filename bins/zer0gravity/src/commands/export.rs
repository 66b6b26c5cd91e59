//! `zer0gravity export`: writes the results of a run as CSV, JSON or a log of Inspect.

use std::path::Path;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, OutputTarget, Session};
use zer0gravity_engine::report::{
    RunReport, export_csv, export_inspect, export_json, inspect_file_name,
};

use crate::error::Error;
use crate::filter::EncodingFilter;
use crate::source::Source;

/// Examples of the command, which tests run.
pub const EXAMPLES: &str = "\
Examples:
  zer0gravity export -o first.csv
  zer0gravity export matrix --format json
  zer0gravity export matrix --inspect logs/";

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
    /// Folder of the logs of Inspect, or file .json, for the results as such a log; - for stdout.
    #[arg(long, value_name = "OUT", conflicts_with_all = ["format", "output"])]
    pub inspect: Option<OutputTarget>,
    #[command(flatten)]
    pub only: EncodingFilter,
    /// The former name of `--format csv --output OUT`.
    #[arg(long, value_name = "OUT", hide = true, conflicts_with_all = ["format", "output", "inspect"])]
    pub csv: Option<OutputTarget>,
    /// The former name of `--format json --output OUT`.
    #[arg(long, value_name = "OUT", hide = true, conflicts_with_all = ["format", "output", "inspect", "csv"])]
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
    let report = source.read(&args.only, session)?;
    let (text, target): (fn(&RunReport) -> String, _) = match (&args.inspect, &args.csv, &args.json)
    {
        (Some(target), _, _) => (export_inspect, inspect_target(target, &report)?),
        (None, Some(target), _) => (export_csv, target.clone()),
        (None, None, Some(target)) => (export_json, target.clone()),
        (None, None, None) => {
            let target = args.output.clone().unwrap_or(OutputTarget::Stdout);
            let ending = target.file().and_then(Path::extension);
            let by_name = match ending {
                Some(ending) if ending == "json" => Format::Json,
                _ => Format::Csv,
            };
            let form = match args.format.unwrap_or(by_name) {
                Format::Csv => export_csv,
                Format::Json => export_json,
            };
            (form, target)
        }
    };
    let output = target.begin(source.files())?;
    let text = text(&report);
    output.finish(session, |out| out.write_all(text.as_bytes()))?;
    if target.file().is_some() {
        session.status(&format!("{} results in {target}", report.results.len()));
    }
    Ok(Exit::Done)
}

/// The file of a log. A folder, which need not be there yet if it ends in a slash, gets a file with the name that Inspect finds.
fn inspect_target(target: &OutputTarget, report: &RunReport) -> Result<OutputTarget, Failure> {
    let Some(path) = target.file() else {
        return Ok(OutputTarget::Stdout);
    };
    let is_folder = path.is_dir() || path.to_string_lossy().ends_with(std::path::is_separator);
    if is_folder {
        Ok(path.join(inspect_file_name(report)).into())
    } else if path.extension().is_some_and(|ending| ending == "json") {
        Ok(target.clone())
    } else {
        let path = path.to_owned();
        Err(Failure::usage(Error::LogEnding { path }))
    }
}
