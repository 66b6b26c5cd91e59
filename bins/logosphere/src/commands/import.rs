//! `import`: reads messages of other programs into a folder that is measured as a run is.

use std::ffi::OsStr;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use bin_support::runs::EXPERIMENTS;
use bin_support::{Exit, Failure, Interrupt, Session, escape};
use llm_client::SystemClock;
use logosphere_core::experiment::Experiment;
use logosphere_core::import::{
    ColumnName, Import, ImportError, ImportFormat, ImportPlan, Imported, RoundRule,
};
use logosphere_core::verify::Exposure;
use serde::Serialize;

use crate::error::Error;
use crate::import_file::{ImportFile, is_stdin};
use crate::setup::{failure, today};

#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Files with messages, or - for stdin.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Name of the folder after its date: 1 to 64 of a-z, 0-9, dot, underscore and dash.
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// Format of the files [default: from their names, .jsonl or .csv].
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<ImportFormat>,
    /// Columns or keys of fields that have another name, such as text=body,author=from.
    #[arg(long, value_name = "FIELD=COLUMN", value_delimiter = ',')]
    pub map: Vec<ColumnName>,
    /// Messages that authors had read: `recorded`, `thread`, `window:M` or `none` [default: recorded if the files say it].
    #[arg(long, value_name = "READS")]
    pub reads: Option<Exposure>,
    /// Length of a round: `messages:N`, `1h` or `1d` [default: messages:50].
    #[arg(long, value_name = "SPEC")]
    pub round: Option<RoundRule>,
    /// Names of authors unchanged, not a01, a02 and so on.
    #[arg(long)]
    pub keep_authors: bool,
    /// Leave out bad messages, and store their number.
    #[arg(long)]
    pub skip_bad: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The result of an import.
#[derive(Serialize)]
struct ImportResult {
    schema_version: u32,
    /// The folder.
    path: String,
    messages: u64,
    /// The number of authors, unknown ones not counted.
    authors: usize,
    rounds: u32,
    exposure: Exposure,
    /// The bad messages that were left out.
    skipped: u64,
    /// The parents and reads that were left out.
    lost_links: u64,
    /// The calls of an old journal whose reads are assumed.
    unknown_reads: u64,
    /// Whether an old journal has no last event.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    assumption: Option<String>,
}

impl ImportResult {
    fn new(path: &Path, imported: &Imported) -> Self {
        let header = &imported.header;
        Self {
            schema_version: 1,
            path: path.display().to_string(),
            messages: header.messages,
            authors: imported.authors,
            rounds: imported.rounds(),
            exposure: header.exposure,
            skipped: header.skipped,
            lost_links: header.lost_links,
            unknown_reads: imported.unknown_reads,
            unended: imported.is_unended,
            assumption: header.exposure.assumption(),
        }
    }
}

pub fn execute(args: &ImportArgs, session: &mut Session) -> Result<Exit, Failure> {
    // A wrong name is an error before anything is read.
    let (root, today) = (Path::new(EXPERIMENTS), today(&SystemClock::new()));
    Experiment::next(root, &args.name, today).map_err(failure)?;
    let interrupt = Interrupt::on_signals()?;
    let mut on_line = || {
        if interrupt.is_raised() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut plan = ImportPlan::default();
    plan.columns.clone_from(&args.map);
    (plan.exposure, plan.round) = (args.reads, args.round);
    (plan.keep_authors, plan.skip_bad) = (args.keep_authors, args.skip_bad);
    let mut import = Import::new(plan, &mut on_line);
    let read = if args.format == Some(ImportFormat::Reference) {
        read_reference(&args.files, &interrupt, &mut import)
    } else {
        read_messages(args, &interrupt, &mut import)
    };
    let imported = match read.and_then(|()| Ok(import.finish()?)) {
        Ok(imported) => imported,
        Err(_) if interrupt.is_raised() => return Ok(Exit::Interrupted),
        Err(ReadFailure::Import(error)) => return Err(Failure::usage(error)),
        Err(ReadFailure::Other(failure)) => return Err(failure),
    };
    let made = Experiment::create(root, &args.name, today).map_err(failure)?;
    made.write_imported(&imported).map_err(failure)?;
    tell(&imported, session);
    let path = escape(&made.path().display().to_string());
    if args.json {
        let result = ImportResult::new(made.path(), &imported);
        session.results.json(&result)?;
    } else {
        writeln!(session.results, "{path}")?;
    }
    session.status(&format!("next: logosphere report {path}"));
    Ok(Exit::Done)
}

/// A failure to read the files: of the import, or before it.
enum ReadFailure {
    Import(ImportError),
    Other(Failure),
}

impl From<ImportError> for ReadFailure {
    fn from(error: ImportError) -> Self {
        Self::Import(error)
    }
}

impl From<Failure> for ReadFailure {
    fn from(failure: Failure) -> Self {
        Self::Other(failure)
    }
}

impl From<Error> for ReadFailure {
    fn from(error: Error) -> Self {
        Self::Other(Failure::usage(error))
    }
}

fn read_messages(
    args: &ImportArgs,
    interrupt: &Interrupt,
    import: &mut Import<'_>,
) -> Result<(), ReadFailure> {
    for path in &args.files {
        let format = match (args.format, ending(path)) {
            (Some(format), _) => format,
            (None, "jsonl") => ImportFormat::Jsonl,
            (None, "csv") => ImportFormat::Csv,
            _ => return Err(Error::UnknownFormat { path: path.clone() }.into()),
        };
        let file = ImportFile::open(path, interrupt)?;
        match format {
            ImportFormat::Csv => import.add_csv(&name(path), file)?,
            _ => import.add_jsonl(&name(path), file)?,
        }
    }
    Ok(())
}

/// Reads the files of the Python program: a journal with its seeds, or its list of messages, and its measures.
fn read_reference(
    files: &[PathBuf],
    interrupt: &Interrupt,
    import: &mut Import<'_>,
) -> Result<(), ReadFailure> {
    let with = |endings: &[&str]| {
        let found = files.iter().filter(|path| endings.contains(&ending(path)));
        found.collect::<Vec<_>>()
    };
    let known = ["jsonl", "yaml", "yml", "json", "md"];
    if let Some(path) = files.iter().find(|path| !known.contains(&ending(path))) {
        return Err(Error::NoReferenceFile { path: path.clone() }.into());
    }
    let (journals, memes) = (with(&["jsonl"]), with(&["yaml", "yml"]));
    if journals.len() + memes.len() > 1 {
        return Err(Error::TwoReferences.into());
    }
    let metrics = one(&with(&["json"]), "diversity_metrics.json")?;
    let init = one(&with(&["md"]), "init.md")?;
    if let (Some(path), true) = (init, journals.is_empty()) {
        return Err(Error::UnusedInit { path: path.clone() }.into());
    }
    for path in journals {
        let init = init.cloned().or_else(|| init_of(path));
        let path_of_init = init.ok_or_else(|| Error::NoSeeds { path: path.clone() })?;
        let seeds = Experiment::read_init_at(&path_of_init).map_err(failure)?;
        let seeds = String::from_utf8(seeds);
        let seeds = seeds.map_err(|_| Error::InitEncoding { path: path_of_init })?;
        let file = ImportFile::open(path, interrupt)?;
        import.add_old_journal(&name(path), file, &seeds)?;
    }
    for path in memes {
        import.add_memes(&name(path), ImportFile::open(path, interrupt)?)?;
    }
    if let Some(path) = metrics {
        import.add_metrics(&name(path), ImportFile::open(path, interrupt)?)?;
    }
    Ok(())
}

/// Returns the only file of a kind; two are an error.
fn one<'a>(paths: &[&'a PathBuf], what: &'static str) -> Result<Option<&'a PathBuf>, Failure> {
    if let [first, second, ..] = paths {
        let paths = [(*first).clone(), (*second).clone()];
        return Err(Failure::usage(Error::TwoOfARun { what, paths }));
    }
    Ok(paths.first().copied())
}

/// Returns the `init.md` of the experiment that a journal is in.
fn init_of(journal: &Path) -> Option<PathBuf> {
    let near = journal.with_file_name("init.md");
    let above = journal.parent().and_then(Path::parent);
    let above = above.map(|folder| folder.join("init.md"));
    [Some(near), above]
        .into_iter()
        .flatten()
        .find(|path| path.exists())
}

/// Returns the name of a file without its folder, as a terminal can show it; the path if it ends with `..` or is `/`.
fn name(path: &Path) -> String {
    if is_stdin(path) {
        return "stdin".to_owned();
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    escape(&name.to_string_lossy())
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(OsStr::to_str).unwrap_or_default()
}

/// Prints what was imported, and what was left out or assumed.
fn tell(imported: &Imported, session: &Session) {
    let header = &imported.header;
    session.status(&format!(
        "{} messages of {} authors in {} rounds, reads {}",
        header.messages,
        imported.authors,
        imported.rounds(),
        header.exposure
    ));
    if header.skipped > 0 {
        session.warn(&format!("{} bad messages were left out", header.skipped));
    }
    if header.lost_links > 0 {
        session.warn(&format!(
            "{} parents and reads were left out: they are unknown or not older than their message",
            header.lost_links
        ));
    }
    if imported.unknown_reads > 0 {
        session.warn(&format!(
            "{} calls read texts that were not among the newest messages, so reads are assumed: {}",
            imported.unknown_reads, header.exposure
        ));
    }
    if imported.is_unended {
        session
            .warn("the journal has no experiment_end: its run was stopped, or lines are missing");
    }
    if let Some(assumption) = header.exposure.assumption() {
        session.warn(&format!("it is assumed that {assumption}"));
    }
    if header.exposure == Exposure::Unknown {
        session.warn(
            "it is not known which messages an author read, so nothing is compared with chance; --reads thread or window:15 assumes it",
        );
    }
}
