//! `leak`: whether minds were told anything but messages; and what a run watches for while it goes on.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::Reader;
use logosphere_core::verify::ResumeError;
use logosphere_core::verify::leak::{
    CanaryMind, Captured, Finding, LeakCheck, LeakReport, Severity, check_start,
};
use logosphere_core::{EventClock as _, ExperimentStart, Mind};

use crate::clock::SystemClock;
use crate::error::Error;
use crate::{args, journal};

pub fn execute(args: &args::Leak, session: &mut Session) -> Result<Exit, Failure> {
    let given = args.subject.find(session)?;
    let mut check = read(&given, &names(&journal::path(&given)))?;
    if let Some(directory) = &args.bodies {
        let requests = Requests::of(directory)?;
        for (name, files) in &requests.0 {
            check.captured(files.read(name)?);
        }
    }
    let report = check.finish();
    if args.json {
        serde_json::to_writer(&mut session.results, &report)?;
        writeln!(session.results)?;
    } else {
        print(&report, session)?;
    }
    Ok(if report.holds {
        Exit::Done
    } else {
        Exit::CheckFailed
    })
}

/// The leaks in the beginning of a journal that holds otherwise, or of that of an experiment's directory, wherever it
/// lies now: the rest of such a journal has none.
pub fn of_start(given: &Path) -> Result<Vec<Finding>, Failure> {
    let path = journal::path(given);
    let (_, start) = (Reader::new(journal::open(given)?).start())
        .map_err(|source| Failure::new(Exit::CheckFailed, Error::Journal { path, source }))?;
    Ok(leaks(check_start(&start, &[])))
}

fn leaks(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.retain(|finding| finding.severity == Severity::Leak);
    findings
}

fn read(given: &Path, names: &[String]) -> Result<LeakCheck, Failure> {
    LeakCheck::read(journal::open(given)?, names).map_err(|source| {
        let exit = match &source {
            ResumeError::Read(error) => journal::exit_of(error),
            _ => Exit::CheckFailed,
        };
        let path = journal::path(given);
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
    write!(out, "{calls} calls made again")?;
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

/// What an experiment is called and where it lies, from the path of its journal.
fn names(journal: &Path) -> Vec<String> {
    let Ok(journal) = fs::canonicalize(journal) else {
        return Vec::new();
    };
    // `logs` in every experiment's directory tells nothing; a journal that lies elsewhere has its folders' names.
    let skipped = if journal.ends_with("logs/experiment.jsonl") {
        2
    } else {
        1
    };
    let folders = journal.ancestors().skip(skipped).take(3 - skipped);
    folders.flat_map(of_folder).collect()
}

/// A folder's name, without its day too, and its path.
fn of_folder(folder: &Path) -> Vec<String> {
    let name = folder.file_name();
    let name = name.map(|name| name.to_string_lossy().into_owned());
    let bare = name.as_deref().and_then(without_day).map(str::to_owned);
    let path = folder.display().to_string();
    name.into_iter().chain(bare).chain([path]).collect()
}

/// The `NAME` of `2026-01-02-NAME`.
fn without_day(name: &str) -> Option<&str> {
    let (day, name) = name.split_at_checked(11)?;
    let form = day.bytes().zip("0000-00-00-".bytes());
    let is_day = form.into_iter().all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    });
    Some(name).filter(|name| is_day && !name.is_empty())
}

/// The files of captured requests by the requests' names.
struct Requests(BTreeMap<String, Files>);

/// What was captured of a request.
#[derive(Default)]
struct Files {
    body: Option<PathBuf>,
    headers: Option<PathBuf>,
}

impl Requests {
    /// A directory's: each file is a body, but `NAME.headers` is the list of headers of the request `NAME` or
    /// `NAME.json`.
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
        Ok(Captured {
            name: name.to_owned(),
            body: self.body.as_ref().map(read).transpose()?,
            headers: headers.map(|text| header_list(&String::from_utf8_lossy(&text))),
        })
    }
}

/// `name: value`, one a line; a line without a colon, such as that of the request itself, is none.
fn header_list(text: &str) -> Vec<(String, String)> {
    let headers = text.lines().filter_map(|line| line.split_once(':'));
    headers
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

/// Says what every request of a run that begins now will tell.
pub fn warn(start: &ExperimentStart, experiment: &Experiment, session: &Session) {
    let path = experiment.path();
    let folder = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    for leak in leaks(check_start(start, &of_folder(&folder))) {
        session.warn(&escape(&leak.to_string()));
    }
}

/// A mind whose requests are searched for the run's id, the experiment's place and the year of the clock.
pub fn watched(
    mind: Box<dyn Mind>,
    run_id: &str,
    experiment: &Experiment,
    clock: &SystemClock,
) -> Box<dyn Mind> {
    let mut canaries = vec![
        ("run id".to_owned(), run_id.to_owned()),
        (
            "year of the clock".to_owned(),
            format!("{:.5}", clock.now().to_string()),
        ),
    ];
    if let Ok(folder) = fs::canonicalize(experiment.path()) {
        canaries.push((
            "place of the experiment".to_owned(),
            folder.display().to_string(),
        ));
    }
    Box::new(CanaryMind::new(mind, canaries))
}
