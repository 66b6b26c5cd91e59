use std::io;
use std::path::PathBuf;

use llm_types::Usd;

use crate::RunError;
use crate::report::ReportError;
use crate::store::StoreError;

/// The reason why a run directory cannot be used, or why a run in it has no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file cannot be written; its old content remains.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file of the directory does not have the expected JSON.
    #[error("{}: expected a JSON file of {what}: {message}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The expected content of the file.
        what: &'static str,
        /// The problem with the file.
        message: String,
    },
    /// `report.json` is not a report.
    #[error("{}: expected a JSON file of a report; remove it and resume the run", path.display())]
    Report {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: ReportError,
    },
    /// A file is of a version that this crate does not read.
    #[error("{}: schema_version is {found}, this version reads 1 and 2; use the version that wrote it", path.display())]
    SchemaVersion {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: u64,
    },
    /// The lock is held by another process, or by another `RunDirectory` of this process.
    #[error("{}: another process is using this directory; wait until it ends", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds a run with another plan, or with other models.
    #[error("{}: already contains another run, which differs in {}; use another directory", path.display(), differences.join(", "))]
    AnotherPlan {
        /// The directory.
        path: PathBuf,
        /// The paths at which the plans differ, such as `config.trials`.
        differences: Vec<String>,
    },
    /// The plan in `run.json` was changed after the run began.
    #[error("{}: the plan is not the one that the run began with; restore the file, or start a new run", path.display())]
    Thawed {
        /// The file.
        path: PathBuf,
    },
    /// The directory has calls and no plan.
    #[error("{}: holds calls.jsonl and no run.json; choose an empty directory", path.display())]
    ForeignCalls {
        /// The directory.
        path: PathBuf,
    },
    /// The directory has no run.
    #[error("{}: holds no run; create one first", path.display())]
    NoRun {
        /// The directory.
        path: PathBuf,
    },
    /// The run has texts that were not decoded, so a rescore cannot finish it.
    #[error("{}: the run is not finished; resume it first", path.display())]
    Unfinished {
        /// The directory.
        path: PathBuf,
    },
    /// The directory has no rescore to continue.
    #[error("{}: no rescore to continue; plan a new one", path.display())]
    NoRescore {
        /// The directory.
        path: PathBuf,
    },
    /// The calls differ from those that the report was made from.
    #[error("{}: changed after report.json was written; restore the file, or resume and accept the changed calls", path.display())]
    CallsChanged {
        /// The file of calls.
        path: PathBuf,
        /// The directory.
        run: PathBuf,
    },
    /// The record of the run's spending is missing, so its cap cannot be enforced.
    #[error("{}: is missing though calls were made, so the cap of {cap} cannot be held; restore the file, or create an empty one if nothing was spent", path.display())]
    LedgerLost {
        /// The file.
        path: PathBuf,
        /// The most that the run may cost.
        cap: Usd,
    },
    /// No reply in the calls reports its tokens.
    #[error("{}: no reply in it reports its tokens; choose another run", path.display())]
    NoReplies {
        /// The file of calls.
        path: PathBuf,
    },
    /// The stored calls cannot be read.
    #[error(transparent)]
    Calls(#[from] StoreError),
    /// A call could not be stored.
    #[error(transparent)]
    Run(#[from] RunError),
}
