//! `check-leaks`: checks that minds received nothing but messages.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::verify::ResumeError;
use logosphere_core::verify::leak::{Captured, LeakCheck, LeakReport, Severity};
use serde::Serialize;

use crate::error::Error;
use crate::folders;
use crate::journal_file;
use crate::leaks::of_folder;

#[derive(Debug, clap::Args)]
pub struct CheckLeaksArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Directory of requests as a server received them, one file each.
    #[arg(long, value_name = "DIR")]
    pub bodies: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The report as JSON.
#[derive(Serialize)]
struct LeakResult<'a> {
    schema_version: u32,
    #[serde(flatten)]
    report: &'a LeakReport,
}

pub fn execute(args: &CheckLeaksArgs, session: &mut Session) -> Result<Exit, Failure> {
    let given = folders::recorded(&args.run, session)?;
    let mut check = read(&given, &names(&journal_file::path(&given)))?;
    if let Some(directory) = &args.bodies {
        let requests = Requests::of(directory)?;
        for (name, files) in &requests.0 {
            check.captured(files.read(name)?);
        }
    }
    let report = check.finish();
    if args.json {
        let result = LeakResult {
            schema_version: 1,
            report: &report,
        };
        session.results.json_line(&result)?;
    } else {
        print(&report, session)?;
    }
    Ok(if report.holds {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

fn read(given: &Path, names: &[String]) -> Result<LeakCheck, Failure> {
    LeakCheck::read(journal_file::open(given)?, names).map_err(|source| {
        let exit = match &source {
            ResumeError::Read(error) => journal_file::exit_of(error),
            _ => Exit::CheckFailed,
        };
        let path = journal_file::path(given);
        Failure::new(exit, Error::Leak { path, source })
    })
}

fn print(report: &LeakReport, session: &mut Session) -> io::Result<()> {
    let out = &mut session.results;
    for finding in &report.findings {
        writeln!(out, "{}", escape(&finding.to_string()))?;
    }
    let LeakReport {
        calls,
        captured,
        equal,
        uncommitted,
        uncaptured,
        ..
    } = report;
    let leaks = (report.findings.iter()).filter(|finding| finding.severity == Severity::Leak);
    match leaks.count() {
        0 => write!(out, "holds: ")?,
        1 => write!(out, "does not hold, 1 leak: ")?,
        leaks => write!(out, "does not hold, {leaks} leaks: ")?,
    }
    write!(out, "{calls} calls rebuilt")?;
    if *captured > 0 {
        write!(out, ", {equal} of {captured} captured requests equal")?;
    }
    if *uncommitted > 0 {
        write!(out, ", uncommitted {uncommitted}")?;
    }
    if *uncaptured > 0 {
        write!(out, ", {uncaptured} calls without a captured request")?;
    }
    writeln!(out)
}

/// Returns the names and paths of an experiment, from the path of its journal.
fn names(journal: &Path) -> Vec<String> {
    let Ok(journal) = fs::canonicalize(journal) else {
        return Vec::new();
    };
    // `logs` is in every experiment's directory; a journal elsewhere has the names of its folders.
    let skipped = if journal.ends_with("logs/experiment.jsonl") {
        2
    } else {
        1
    };
    let folders = journal.ancestors().skip(skipped).take(3 - skipped);
    folders.flat_map(of_folder).collect()
}

/// The files of captured requests, by the requests' names.
struct Requests(BTreeMap<String, Files>);

/// The captured files of a request.
#[derive(Default)]
struct Files {
    body: Option<PathBuf>,
    headers: Option<PathBuf>,
}

impl Requests {
    /// Returns the requests of a directory. Each file is a body, but `NAME.headers` is the list of headers of the
    /// request `NAME` or `NAME.json`.
    fn of(directory: &Path) -> Result<Self, Failure> {
        let failed = |source| {
            let path = directory.to_owned();
            Failure::usage(Error::Read { path, source })
        };
        let mut requests: BTreeMap<String, Files> = BTreeMap::new();
        let mut lists = Vec::new();
        for entry in fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.starts_with('.') || !path.is_file() {
                continue;
            }
            match name.strip_suffix(".headers") {
                Some(of) => lists.push((of.to_owned(), path)),
                None => requests.entry(name).or_default().body = Some(path),
            }
        }
        for (of, path) in lists {
            let json = format!("{of}.json");
            let name = if requests.contains_key(&json) {
                json
            } else {
                of
            };
            requests.entry(name).or_default().headers = Some(path);
        }
        if requests.is_empty() {
            // Nothing would be held against the journal, and it would hold.
            let path = directory.to_owned();
            return Err(Failure::usage(Error::NoRequests { path }));
        }
        Ok(Self(requests))
    }
}

impl Files {
    fn read(&self, name: &str) -> Result<Captured, Failure> {
        let read = |path: &PathBuf| {
            fs::read(path).map_err(|source| {
                let path = path.clone();
                Failure::usage(Error::Read { path, source })
            })
        };
        let headers = self.headers.as_ref().map(read).transpose()?;
        Ok(Captured::new(
            name.to_owned(),
            self.body.as_ref().map(read).transpose()?,
            headers.map(|text| header_list(&String::from_utf8_lossy(&text))),
        ))
    }
}

/// Parses headers, one `name: value` per line. Lines without a colon, such as the request line, are skipped.
fn header_list(text: &str) -> Vec<(String, String)> {
    let headers = text.lines().filter_map(|line| line.split_once(':'));
    headers
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}
