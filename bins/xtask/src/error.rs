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
    NoSuchPeer {
        name: String,
        known: Vec<&'static str>,
    },
    NotInstalled {
        missing: &'static str,
    },
    NotHealthy {
        log: PathBuf,
    },
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
            Self::NoSuchPeer { name, known } => {
                write!(f, "unknown peer \"{name}\"; peers: {}", known.join(", "))
            }
            Self::NotInstalled { missing } => f.write_str(missing),
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
