//! `export`: writes a run in a format of other programs.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, OutputTarget, Session};
use logosphere_core::export::{ExportError, ExportFormat, ExportKind, export};

use crate::error::Error;
use crate::journal_file;
use crate::recorded::RecordedRun;
use crate::subject::Subject;

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// The experiment (its directory, its name or a journal), then the file, whose name is CONTENTS.FORMAT, or - with
    /// --what and --format.
    ///
    /// Without an experiment: the one whose journal changed last.
    #[arg(value_name = "EXP> <FILE", num_args = 0..=2)]
    pub names: Vec<PathBuf>,
    /// Contents of the export [default: from the file's name].
    #[arg(long, value_enum, value_name = "WHAT")]
    pub what: Option<ExportKind>,
    /// Format of the export [default: from the file's name].
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// Write CSV cells unchanged, also those that a spreadsheet reads as formulas.
    #[arg(long)]
    pub raw_csv: bool,
    /// File to write; - for stdout [default: -].
    #[arg(long, value_name = "FILE")]
    pub out: Option<OutputTarget>,
}

pub fn execute(args: &ExportArgs, session: &mut Session) -> Result<Exit, Failure> {
    let (experiment, file) = names(args);
    let (kind, format) = form(args, file.as_deref())?;
    if !kind.formats().contains(&format) {
        return Err(Failure::usage(ExportError::NoSuchForm { kind, format }));
    }
    let given = Subject { experiment }.find(session)?;
    let recorded = RecordedRun::read(&given)?;
    let write =
        |out: &mut dyn io::Write| match export(&recorded.run, kind, format, args.raw_csv, out) {
            Err(ExportError::Write(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
            Ok(()) => Ok(()),
        };
    let target = match (&args.out, file) {
        (Some(target), _) => target.clone(),
        (None, Some(file)) => target(file),
        (None, None) => OutputTarget::Stdout,
    };
    let output = target.begin(journal_file::kept(&given))?;
    output.finish(session, write)?;
    Ok(Exit::Done)
}

/// Returns the experiment and the file of the command line. With both flags a single name is the experiment's.
fn names(args: &ExportArgs) -> (Option<PathBuf>, Option<PathBuf>) {
    let flagged = args.what.is_some() && args.format.is_some();
    match &args.names[..] {
        [] => (None, None),
        [one] if flagged || args.out.is_some() => (Some(one.clone()), None),
        [one] => (None, Some(one.clone())),
        [experiment, file, ..] => (Some(experiment.clone()), Some(file.clone())),
    }
}

fn target(file: PathBuf) -> OutputTarget {
    if file == Path::new("-") {
        OutputTarget::Stdout
    } else {
        file.into()
    }
}

/// Returns the contents and the format: from the flags, otherwise from the file's name (`lineage.graphml`).
fn form(args: &ExportArgs, file: Option<&Path>) -> Result<(ExportKind, ExportFormat), Failure> {
    let named = args.out.as_ref().and_then(|out| out.file()).or(file);
    let part = |part: fn(&Path) -> Option<&OsStr>| {
        let part = named.and_then(part).and_then(OsStr::to_str);
        part.unwrap_or_default()
    };
    let kind = (args.what).or_else(|| part(Path::file_stem).parse().ok());
    let format = (args.format).or_else(|| part(Path::extension).parse().ok());
    match (kind, format) {
        (Some(what), Some(form)) => Ok((what, form)),
        _ => Err(Failure::usage(Error::NoForm)),
    }
}
