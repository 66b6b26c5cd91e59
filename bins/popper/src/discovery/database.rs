//! The database of a command, and the run in it.

use std::error::Error as StdError;
use std::fmt;

use bin_support::{Exit, Failure, Interrupt, Session};
use popper_discovery::store::{RunRow, Store, StoreError};
use popper_discovery::{Error, EvaluatorError, RunConfig};
use popper_store::{Access, AnyDatabase};
use work_queue::Timing;

use super::patience::patiently;
use crate::error;
use crate::flags::RunName;
use crate::location::StoreLocation;
use bin_support::escape;

/// The name that a server shows for the sessions of a command.
pub const PROGRAM: &str = "popper";

/// The name for a session that works on a run.
pub const COORDINATOR: &str = "popper run";

/// The number of runs that an error names.
const NAMED: usize = 3;

/// Opens the database of a command.
pub async fn open(location: &StoreLocation, access: Access) -> Result<AnyDatabase, Failure> {
    let opened = location.open(PROGRAM, access).await;
    opened.map_err(failure)
}

/// Opens the database of a run, and reads its runs. Waits for a server that cannot be reached; `None` if a signal ends the wait.
pub async fn open_patiently(
    location: &StoreLocation,
    access: Access,
    timing: &Timing,
    interrupt: &Interrupt,
) -> Result<Option<(AnyDatabase, Vec<RunRow>)>, Failure> {
    let opened = patiently(timing, async || {
        let mut store = location.open(COORDINATOR, access).await?;
        let runs = store.runs().await?;
        Ok((store, runs))
    });
    tokio::select! {
        opened = opened => opened.map(Some).map_err(failure),
        () = interrupt.raised() => Ok(None),
    }
}

/// Returns the error that ends the program. A wrong request is a usage error.
pub fn failure(error: impl Into<Error>) -> Failure {
    let error = error.into();
    let exit = match error {
        Error::NoRun { .. }
        | Error::Differs { .. }
        | Error::NoLaw { .. }
        | Error::Config(_)
        | Error::Store(
            StoreError::Missing { .. } | StoreError::Newer { .. } | StoreError::Corrupt { .. },
        ) => Exit::Usage,
        _ => Exit::Failed,
    };
    Failure::new(exit, Spoken(error))
}

/// An error in one escape line: it may quote a column or a reply.
#[derive(Debug)]
struct Spoken(Error);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spoken(&self.0))?;
        match advice(&self.0) {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}

/// The command or flag that helps.
fn advice(error: &Error) -> Option<&'static str> {
    match error {
        Error::Differs { .. } => Some("--new-run begins a new one"),
        Error::Store(StoreError::Missing { .. }) => Some("`popper run` makes one"),
        Error::Evaluate(EvaluatorError::Conflict { .. }) => Some(
            "`popper queue list` shows the answers, and `popper queue resolve` opens the job again",
        ),
        _ => None,
    }
}

impl StdError for Spoken {}

/// An error and its sources as one escape line.
pub fn spoken(error: &dyn StdError) -> String {
    let mut line = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let words = source.to_string();
        // Some errors say what their sources do.
        if !line.contains(&words) {
            line.push_str(": ");
            line.push_str(&words);
        }
        next = source.source();
    }
    escape(&line)
}

/// Returns the run that is named, or the newest, which stderr names.
pub async fn run(
    store: &mut impl Store,
    name: &RunName,
    session: &Session,
) -> Result<RunRow, Failure> {
    let runs = store.runs().await.map_err(failure)?;
    pick(runs, name.asked().as_deref(), session)
}

/// Returns the run of these that is named, or the newest, which stderr names.
pub fn pick(runs: Vec<RunRow>, asked: Option<&str>, session: &Session) -> Result<RunRow, Failure> {
    let run = pick_silently(runs, asked)?;
    if asked.is_none() {
        session.status(&format!("run: {} (newest)", run.id));
    }
    Ok(run)
}

/// As [`pick`], for a command that looks again and again.
pub fn pick_silently(runs: Vec<RunRow>, asked: Option<&str>) -> Result<RunRow, Failure> {
    if runs.is_empty() {
        return Err(Failure::new(Exit::Failed, error::Error::NoRuns));
    }
    let known = known(&runs);
    let is_asked = |run: &RunRow| asked.is_none_or(|name| is_named(run, name));
    runs.into_iter().find(is_asked).ok_or_else(|| {
        let asked = escape(asked.unwrap_or_default());
        Failure::usage(error::Error::NoRun { asked, known })
    })
}

/// Whether a run has this number, or is in the universe of this name.
pub fn is_named(run: &RunRow, name: &str) -> bool {
    name.parse() == Ok(run.id) || name == run.universe_id
}

/// The newest runs with their universes, for an error.
pub fn known(runs: &[RunRow]) -> String {
    let newest = runs.iter().take(NAMED);
    let words = newest.map(|run| format!("{} ({})", run.id, escape(&run.universe_id)));
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the configuration of a run.
pub fn config(run: &RunRow) -> Result<RunConfig, Failure> {
    serde_json::from_str(&run.config_json).map_err(|error| {
        failure(Error::Row {
            table: "runs",
            id: run.id,
            column: "config_json",
            message: error.to_string(),
        })
    })
}
