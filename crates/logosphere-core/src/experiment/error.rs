use std::io;
use std::path::PathBuf;

use durable::Linked;

use crate::config::ConfigError;
use crate::verify::ResumeError;

/// The error of an experiment's directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The name is not allowed on every system, or it leads to another directory.
    #[error("{name:?} is not a name for an experiment: {why}")]
    Name {
        /// The name.
        name: String,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// The directory does not exist.
    #[error("{}: no such experiment; `logosphere new NAME` makes one", path.display())]
    Missing {
        /// The missing directory.
        path: PathBuf,
    },
    /// The path is not a directory.
    #[error("{}: not the directory of an experiment; give the one that contains logs/experiment.jsonl", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// The directory has no `init.md`.
    #[error("{}: no such file; `logosphere new NAME` makes an experiment that has one", path.display())]
    NoInit {
        /// The missing file.
        path: PathBuf,
    },
    /// The directory of all experiments is a file.
    #[error("{}: a file; expected the directory of experiments, so rename the file", path.display())]
    RootIsFile {
        /// The path.
        path: PathBuf,
    },
    /// A file is a pipe, a device or a directory, or it is too long to be read whole.
    #[error("{}: {why}; expected a file of 1 GiB or less, so move it away", path.display())]
    Irregular {
        /// The path.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// A file exists that must not be overwritten.
    #[error("{}: exists already and is not overwritten", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The directory is in use by another process.
    #[error("{}: {} works in this experiment", path.display(), process(*pid))]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The id of the process; `None` if it is unknown.
        pid: Option<u32>,
    },
    /// The journal contains a run.
    #[error(
        "{}: contains a run already; `logosphere resume` continues it, `logosphere new NAME --from {}` begins another",
        path.display(),
        path.display()
    )]
    HasRun {
        /// The directory.
        path: PathBuf,
    },
    /// The directory contains imported messages.
    #[error("{} holds imported messages, not a journal", path.display())]
    Imported {
        /// The directory.
        path: PathBuf,
    },
    /// The `config.json` is invalid.
    #[error("{}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        source: ConfigError,
    },
    /// The journal is not that of a run.
    #[error("{}", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        source: Box<ResumeError>,
    },
    /// A file of vectors is damaged.
    #[error("{}: {why}; remove the file, or give --embed-fresh to replace it", path.display())]
    VectorFile {
        /// The file.
        path: PathBuf,
        /// The damage.
        why: String,
    },
    /// Vectors of an encoder cannot be kept.
    #[error("the vectors of the encoder cannot be kept: {why}")]
    Vectors {
        /// The reason.
        why: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// A file or directory cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}

impl ExperimentError {
    /// Returns whether the input is wrong, and not the machine or a server.
    pub fn is_usage(&self) -> bool {
        match self {
            // A folder from others has the link.
            Self::Write { source, .. } => Linked::is_cause_of(source),
            Self::Vectors { .. } => false,
            _ => true,
        }
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(
        || "another process".to_owned(),
        |pid| format!("process {pid}"),
    )
}
