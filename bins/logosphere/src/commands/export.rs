//! `export`: writes a run in a format of other programs.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, OutputTarget, Session};
use logosphere_core::export::{ExportError, ExportFormat, ExportKind, export};

use crate::error::Error;
use crate::folders::MEASURED;
use crate::journal_file;
use crate::recorded::RecordedRun;
use crate::setup::shown;

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Contents of the export.
    #[arg(value_enum, value_name = "KIND")]
    pub kind: ExportKind,
    #[command(flatten)]
    pub run: RunArg,
    /// Format of the export [default: from the name of the file, else csv].
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// CSV cells unchanged, also those that a spreadsheet reads as formulas.
    #[arg(long)]
    pub raw_csv: bool,
    /// File to write; - for stdout [default: -].
    #[arg(short, long, alias = "out", value_name = "FILE")]
    pub output: Option<OutputTarget>,
}

pub fn execute(args: &ExportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let (kind, target) = (args.kind, args.output.as_ref());
    let target = target.unwrap_or(&OutputTarget::Stdout);
    let named = target.file().and_then(|file| file.extension());
    let named = named.and_then(OsStr::to_str).unwrap_or_default();
    let format = match (args.format, named) {
        (Some(format), _) => format,
        (None, "") => ExportFormat::Csv,
        (None, named) => named.parse().map_err(|_| {
            Failure::usage(Error::UnknownEnding {
                path: target.file().map(Path::to_owned).unwrap_or_default(),
                formats: kind.formats().iter().map(ToString::to_string).collect(),
            })
        })?,
    };
    if !kind.formats().contains(&format) {
        return Err(Failure::usage(ExportError::NoSuchForm { kind, format }));
    }
    let given = MEASURED.find(&args.run, session)?;
    let recorded = RecordedRun::read(&given)?;
    let mut rows = 0;
    let write = |out: &mut dyn io::Write| {
        rows = export(&recorded.run, kind, format, args.raw_csv, out).map_err(
            |error| match error {
                ExportError::Write(error) => error,
                error => io::Error::other(error),
            },
        )?;
        Ok(())
    };
    let output = target.begin(journal_file::kept(&given))?;
    output.finish(session, write)?;
    if let Some(file) = target.file() {
        let noun = match format {
            ExportFormat::Csv | ExportFormat::Jsonl => "rows",
            ExportFormat::Svg => "nodes",
            _ => "edges",
        };
        session.status(&format!("{rows} {noun} in {}", shown(file)));
    }
    Ok(Exit::Done)
}
