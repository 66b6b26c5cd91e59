//! The database of a command, and the run in it.

use std::error::Error as StdError;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use bin_support::{Exit, Failure, OutputTarget};
use llm_client::LedgerFile;
use popper_discovery::store::{RunRow, Store, StoreError};
use popper_discovery::{Error, RunConfig};
use popper_store::{Access, Database};

use crate::{error, input};
use bin_support::escape;

/// Opens a database.
pub async fn open(path: &Path, access: Access) -> Result<Database, Failure> {
    let opened = Database::open(path, access).await;
    opened.map_err(failure)
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
        _ => None,
    }
}

impl StdError for Spoken {}

/// An error and its sources as one escape line.
pub fn spoken(error: &dyn StdError) -> String {
    let mut line = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        line.push_str(": ");
        line.push_str(&source.to_string());
        next = source.source();
    }
    escape(&line)
}

/// As [`refuse_output_over_database`]; stdout takes no file's place.
pub fn refuse_target_over_database(db: &Path, target: &OutputTarget) -> Result<(), Failure> {
    target
        .file()
        .map_or(Ok(()), |path| refuse_output_over_database(db, path))
}

/// Refuses to write a result over the database, or over one of the files that belong to it.
pub fn refuse_output_over_database(db: &Path, output: &Path) -> Result<(), Failure> {
    let is_part = ["", "-wal", "-shm", ".lock", LEDGER].iter().any(|suffix| {
        let mut part = db.as_os_str().to_owned();
        part.push(suffix);
        let part = Path::new(&part);
        let same = |(one, other): (PathBuf, PathBuf)| one == other;
        part == output
            || fs::canonicalize(part)
                .ok()
                .zip(fs::canonicalize(output).ok())
                .is_some_and(same)
    });
    if is_part {
        let name = input::name(output);
        return Err(Failure::usage(error::Error::OverDatabase { name }));
    }
    Ok(())
}

/// The suffix that the database's name gets in the name of its ledger file.
const LEDGER: &str = ".spend.jsonl";

/// The ledger of a database's runs: a file in the same folder.
pub fn ledger(db: &Path, run_id: i64) -> LedgerFile {
    LedgerFile::new(ledger_path(db)).run(run_id)
}

/// The file of the ledger.
pub fn ledger_path(db: &Path) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push(LEDGER);
    name.into()
}

/// The run with this id, or the newest.
pub async fn run(store: &mut impl Store, id: Option<i64>) -> Result<RunRow, Failure> {
    let mut runs = store.runs().await.map_err(failure)?;
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
