//! The place of the runs: a database file, or a database on a server.

use std::fmt;
use std::path::{Path, PathBuf};

use bin_support::{Failure, OutputTarget, escape};
use llm_client::LedgerFile;
use popper_discovery::store::StoreError;
use popper_store::{Access, Address, AnyDatabase, Database, Server};

use crate::{error, input};

/// The default database of runs.
pub const DEFAULT_DATABASE: &str = "experiments/popper/popper.db";

/// The suffix that the database's name gets in the name of its ledger file.
const LEDGER: &str = ".spend.jsonl";

/// The suffix of a run's file of batches, after the number of the run.
const BATCHES: &str = ".batch.jsonl";

/// The place of the runs.
#[derive(Debug, Clone)]
pub enum StoreLocation {
    /// A database file.
    File(PathBuf),
    /// A database on a server.
    Server(Box<ServerLocation>),
}

/// A database on a server.
#[derive(Debug, Clone)]
pub struct ServerLocation {
    pub address: Address,
    /// The flag as it was given, which has no password; `None` if the address comes from the environment.
    pub flag: Option<String>,
}

impl StoreLocation {
    /// Opens the database. A server shows the sessions under a name.
    pub async fn open(&self, name: &str, access: Access) -> Result<AnyDatabase, StoreError> {
        Ok(match self {
            Self::File(path) => Database::open(path, access).await?.into(),
            Self::Server(server) => Server::open(&server.address, name, access).await?.into(),
        })
    }

    /// Returns the server, if it is one.
    pub fn server(&self) -> Option<&ServerLocation> {
        match self {
            Self::File(_) => None,
            Self::Server(server) => Some(server),
        }
    }

    /// Returns the flag that names this place again. `None` if no flag is needed.
    pub fn flag(&self) -> Option<(&'static str, String)> {
        match self {
            Self::File(path) if path == Path::new(DEFAULT_DATABASE) => None,
            Self::File(path) => Some(("--db", path.display().to_string())),
            Self::Server(server) => server.flag.clone().map(|flag| ("--store", flag)),
        }
    }

    /// The ledger of the model calls of a run.
    pub fn ledger(&self, run_id: i64) -> LedgerFile {
        LedgerFile::new(self.ledger_path()).run(run_id)
    }

    /// The file of the ledger: next to the database file, or in the usual folder under the name of the server's database.
    pub fn ledger_path(&self) -> PathBuf {
        with_suffix(&self.base(), LEDGER)
    }

    /// The path whose name begins those of the files of this place.
    fn base(&self) -> PathBuf {
        match self {
            Self::File(db) => db.clone(),
            Self::Server(server) => {
                let plain = |char: char| match char {
                    '.' | '-' => char,
                    _ if char.is_ascii_alphanumeric() => char,
                    _ => '_',
                };
                let name: String = server.address.to_string().chars().map(plain).collect();
                Path::new(DEFAULT_DATABASE).with_file_name(name)
            }
        }
    }

    /// The file of the batches of a run, next to the ledger.
    pub fn spool(&self, run_id: i64) -> PathBuf {
        with_suffix(&self.base(), &format!(".{run_id}{BATCHES}"))
    }

    /// The folder of the database file, or the usual one for a server; where it is the working directory, an empty path.
    pub fn folder(&self) -> PathBuf {
        let ledger = self.ledger_path();
        ledger.parent().unwrap_or(Path::new("")).to_owned()
    }

    /// Returns the files that belong to this place.
    fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::File(db) => ["", "-wal", "-shm", ".lock", LEDGER]
                .map(|suffix| with_suffix(db, suffix))
                .into(),
            Self::Server(_) => vec![self.ledger_path()],
        }
    }

    /// The database file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Server(_) => None,
        }
    }

    /// As [`Self::refuse_output`]; stdout takes no file's place.
    pub fn refuse_target(&self, target: &OutputTarget) -> Result<(), Failure> {
        let file = target.file();
        file.map_or(Ok(()), |path| self.refuse_output(path))
    }

    /// Refuses to write a result over the database, or over one of the files that belong to it.
    pub fn refuse_output(&self, output: &Path) -> Result<(), Failure> {
        let is_same = |part: &PathBuf| {
            let same = |(one, other): (PathBuf, PathBuf)| one == other;
            part == output
                || part
                    .canonicalize()
                    .ok()
                    .zip(output.canonicalize().ok())
                    .is_some_and(same)
        };
        if self.files().iter().any(is_same) {
            let name = input::name(output);
            return Err(Failure::usage(error::Error::OverDatabase { name }));
        }
        Ok(())
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(&input::name(path)),
            Self::Server(server) => f.write_str(&escape(&server.address.to_string())),
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
