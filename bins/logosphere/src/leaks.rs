//! The search for leaks around a run: before it begins, and in each of its requests.

use std::fs;
use std::path::Path;

use bin_support::{Exit, Failure, Session, escape};
use llm_client::Clock;
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::Reader;
use logosphere_core::verify::leak::{CanaryMind, Finding, Severity, check_start};
use logosphere_core::{ExperimentStart, Mind};

use crate::error::Error;
use crate::journal_file;
use crate::setup::timestamp;

/// Returns the leaks in the first event of a journal that verifies otherwise. The rest of such a journal has none.
pub fn of_start(given: &Path) -> Result<Vec<Finding>, Failure> {
    let path = journal_file::path(given);
    let (_, start) = (Reader::new(journal_file::open(given)?).start())
        .map_err(|source| Failure::new(Exit::CheckFailed, Error::Journal { path, source }))?;
    Ok(leaks(check_start(&start, &[])))
}

fn leaks(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.retain(|finding| finding.severity == Severity::Leak);
    findings
}

/// Returns a folder's name, also without its date, and its path.
pub fn of_folder(folder: &Path) -> Vec<String> {
    let name = folder.file_name();
    let name = name.map(|name| name.to_string_lossy().into_owned());
    let bare = name.as_deref().and_then(without_day).map(str::to_owned);
    let path = folder.display().to_string();
    name.into_iter().chain(bare).chain([path]).collect()
}

/// Returns the `NAME` of `2026-01-02-NAME`.
fn without_day(name: &str) -> Option<&str> {
    let (day, name) = name.split_at_checked(11)?;
    let form = day.bytes().zip("0000-00-00-".bytes());
    let is_day = form.into_iter().all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    });
    Some(name).filter(|name| is_day && !name.is_empty())
}

/// Prints the leaks in every request of a run that is about to begin.
pub fn warn(start: &ExperimentStart, experiment: &Experiment, session: &Session) {
    let path = experiment.path();
    let folder = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    for leak in leaks(check_start(start, &of_folder(&folder))) {
        session.warn(&escape(&leak.to_string()));
    }
}

/// Returns a mind whose requests are searched for the run's id, the experiment's path and the year of the clock.
pub fn watched(
    mind: Box<dyn Mind>,
    run_id: &str,
    experiment: &Experiment,
    clock: &dyn Clock,
) -> Box<dyn Mind> {
    let mut canaries = vec![
        ("run id".to_owned(), run_id.to_owned()),
        (
            "year of the clock".to_owned(),
            format!("{:.5}", timestamp(clock).to_string()),
        ),
    ];
    if let Ok(folder) = fs::canonicalize(experiment.path()) {
        canaries.push((
            "path of the experiment".to_owned(),
            folder.display().to_string(),
        ));
    }
    Box::new(CanaryMind::new(mind, canaries))
}
