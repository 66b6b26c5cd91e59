//! The database of a command, and the run in it.

use std::error::Error as StdError;
use std::fmt;

use bin_support::{Exit, Failure};
use popper_discovery::store::{RunRow, Store, StoreError};
use popper_discovery::{Error, EvaluatorError, RunConfig};
use popper_store::{Access, AnyDatabase};
use work_queue::Timing;

use super::patience::patiently;
use crate::error;
use crate::location::StoreLocation;
use bin_support::escape;

/// The name that a server shows for the sessions of a command.
pub const PROGRAM: &str = "popper";

/// The name for a session that works on a run.
pub const COORDINATOR: &str = "popper run";

/// Opens the database of a command.
pub async fn open(location: &StoreLocation, access: Access) -> Result<AnyDatabase, Failure> {
    let opened = location.open(PROGRAM, access).await;
    opened.map_err(failure)
}

/// Opens the database of a run, and reads its runs. Waits for a server that cannot be reached.
pub async fn open_patiently(
    location: &StoreLocation,
    access: Access,
    timing: &Timing,
) -> Result<(AnyDatabase, Vec<RunRow>), Failure> {
    let opened = patiently(timing, async || {
        let mut store = location.open(COORDINATOR, access).await?;
        let runs = store.runs().await?;
        Ok((store, runs))
    });
    opened.await.map_err(failure)
}

/// Returns the error that ends the program. A wrong request is a usage error.
pub fn failure(error: impl Into<Error>) -> Failure {
    let error = error.into();
    let exit = match error {
        Error::NoRun { .. } | Error::Differs { .. } | Error::NoLaw { .. } | Error::Config(_) => {
            Exit::Usage
        }
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

/// The run with this id, or the newest.
pub async fn run(store: &mut impl Store, id: Option<i64>) -> Result<RunRow, Failure> {
    let runs = store.runs().await.map_err(failure)?;
    pick(runs, id)
}

/// The run with this id, or the newest, which is the first.
pub fn pick(mut runs: Vec<RunRow>, id: Option<i64>) -> Result<RunRow, Failure> {
    match id {
        None if runs.is_empty() => Err(Failure::new(Exit::Failed, error::Error::NoRuns)),
        None => Ok(runs.swap_remove(0)),
        Some(id) => match runs.into_iter().find(|run| run.id == id) {
            Some(run) => Ok(run),
            None => Err(failure(Error::NoRun { id })),
        },
    }
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
