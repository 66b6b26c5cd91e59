use std::error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// The reason why a task did not finish.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// `cargo metadata` failed; its last line.
    Metadata(String),
    Start {
        command: String,
        source: io::Error,
    },
    Ended {
        command: String,
        status: ExitStatus,
    },
    File {
        path: PathBuf,
        source: io::Error,
    },
    /// A command wrote something else than the task reads.
    Output {
        path: PathBuf,
    },
    Unknown {
        /// The thing that was named, such as a peer.
        kind: &'static str,
        name: String,
        known: Vec<&'static str>,
    },
    /// The command line, or an input, is wrong.
    Usage {
        reason: String,
    },
    NotInstalled {
        missing: String,
    },
    /// A program of the workspace failed, or printed something else than its result.
    Program {
        reason: String,
    },
    /// The runner of the tests ended without a result.
    Tests,
    NotHealthy {
        log: PathBuf,
    },
    /// An archive is larger than a release may be, in bytes.
    TooLarge {
        name: String,
        size: u64,
        limit: u64,
    },
    /// A check of a release did not hold.
    Check(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metadata(line) => write!(f, "cannot read the workspace: {line}"),
            Self::Start { command, source } => write!(f, "cannot start `{command}`: {source}"),
            Self::Ended { command, status } => write!(f, "`{command}` ended with {status}"),
            Self::File { path, source } => write!(f, "cannot use {}: {source}", path.display()),
            Self::Output { path } => {
                let path = path.display();
                write!(f, "{path} is not what the command should have written")
            }
            Self::Unknown { kind, name, known } => {
                write!(f, "unknown {kind} \"{name}\"; known: {}", known.join(", "))
            }
            Self::Program { reason } | Self::Usage { reason } => f.write_str(reason),
            Self::NotInstalled { missing } => f.write_str(missing),
            Self::TooLarge { name, size, limit } => {
                write!(f, "{name} has {size} bytes, more than {limit}")
            }
            Self::Check(fault) => f.write_str(fault),
            Self::Tests => f.write_str("the tests could not be run to their end"),
            Self::NotHealthy { log } => {
                let log = log.display();
                write!(
                    f,
                    "the server did not become healthy; its output is in {log}"
                )
            }
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Start { source, .. } | Self::File { source, .. } => Some(source),
            _ => None,
        }
    }
}
