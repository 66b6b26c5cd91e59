use std::io;
use std::path::PathBuf;

use crate::config::ConfigError;
use crate::verify::ResumeError;

/// Why an experiment's directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A name that not every system takes, or that leads elsewhere.
    #[error("{name:?} is no name for an experiment: {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no such directory.
    #[error("{}: no such experiment; `logosphere new NAME` makes one", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is something else in its place.
    #[error("{}: not the directory of an experiment; give the one that holds logs/experiment.jsonl", path.display())]
    NotADirectory {
        /// The place.
        path: PathBuf,
    },
    /// There are no seeds.
    #[error("{}: no such file; `logosphere new NAME` makes an experiment that has one", path.display())]
    NoInit {
        /// Where `init.md` should be.
        path: PathBuf,
    },
    /// Something that must not be overwritten is there.
    #[error("{}: is there already and stays as it is", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another process works in it.
    #[error("{}: {} works in this experiment", path.display(), process(*pid))]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process, if that can be told.
        pid: Option<u32>,
    },
    /// Its journal holds a run.
    #[error(
        "{}: holds a run already; `logosphere resume` goes on with it, `logosphere new NAME --from {}` begins another",
        path.display(),
        path.display()
    )]
    HasRun {
        /// The directory.
        path: PathBuf,
    },
    /// Its `config.json` is not understood.
    #[error("{}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: ConfigError,
    },
    /// Its journal is not that of a run.
    #[error("{}", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: Box<ResumeError>,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file or directory cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl ExperimentError {
    /// Whether it is the input that is wrong, and not the machine.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Write { .. })
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(
        || "another process".to_owned(),
        |pid| format!("process {pid}"),
    )
}
