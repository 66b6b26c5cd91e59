//! `export`: a run for other programs.

use std::io;

use bin_support::{Exit, Failure, OutputTarget, Session};
use logosphere_core::export::{ExportError, ExportFormat, ExportKind, export};

use crate::recorded::Recorded;
use crate::{cli, journal};

pub fn execute(args: &cli::Export, session: &mut Session) -> Result<Exit, Failure> {
    let (kind, format) = (kind(args.what), format(args.format));
    if !kind.formats().contains(&format) {
        return Err(Failure::usage(ExportError::NoSuchForm { kind, format }));
    }
    let recorded = Recorded::read(&args.experiment)?;
    let write =
        |out: &mut dyn io::Write| match export(&recorded.run, kind, format, args.raw_csv, out) {
            Err(ExportError::Write(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
            Ok(()) => Ok(()),
        };
    let target = args.out.as_ref().unwrap_or(&OutputTarget::Stdout);
    let output = target.begin(journal::kept(&args.experiment))?;
    output.finish(session, write)?;
    Ok(Exit::Done)
}

fn kind(kind: cli::ExportKind) -> ExportKind {
    match kind {
        cli::ExportKind::Lineage => ExportKind::Lineage,
        cli::ExportKind::Exposure => ExportKind::Exposure,
        cli::ExportKind::Messages => ExportKind::Messages,
        cli::ExportKind::Metrics => ExportKind::Metrics,
    }
}

fn format(format: cli::ExportFormat) -> ExportFormat {
    match format {
        cli::ExportFormat::Graphml => ExportFormat::Graphml,
        cli::ExportFormat::Dot => ExportFormat::Dot,
        cli::ExportFormat::Newick => ExportFormat::Newick,
        cli::ExportFormat::Csv => ExportFormat::Csv,
        cli::ExportFormat::Jsonl => ExportFormat::Jsonl,
    }
}
