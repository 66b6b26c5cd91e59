use std::error::Error as StdError;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use jiff::Timestamp;

/// The reason why React is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// A program that would bring React cannot be started.
    #[error("{} cannot be started", program.display())]
    Start {
        /// The command.
        program: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// A program that would bring React ended with an error.
    #[error("{client} could not install React ({status}): {said}")]
    Failed {
        /// Either `npm` or `pip`.
        client: &'static str,
        /// The exit status.
        status: ExitStatus,
        /// The end of what it said.
        said: String,
    },
    /// A program that would bring React did not end in time.
    #[error("{client} did not finish within {} seconds", limit.as_secs())]
    Slow {
        /// Either `npm` or `pip`.
        client: &'static str,
        /// The time it had.
        limit: Duration,
    },
    /// A script is not the one that was expected.
    #[error("{} has sha256 {found}, expected {expected}", path.display())]
    Other {
        /// The path of the file.
        path: PathBuf,
        /// The hash of the file.
        found: String,
        /// Of the script of React 18.3.1.
        expected: &'static str,
    },
    /// A file or folder cannot be read or written.
    #[error("{} cannot be read or written", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// A second process installs React in the same place.
    #[error("another process installs React in {}: try again when it has ended", folder.display())]
    Busy {
        /// The folder of the installation.
        folder: PathBuf,
    },
    /// Neither client brought React.
    #[error(
        "React could not be installed (npm: {}; pip: {}): install Node.js or Python, give the files by --react DIR, or use \
         --runtime builtin",
        reason(npm),
        reason(pip)
    )]
    NotBrought {
        /// The failure of npm.
        npm: Box<RuntimeError>,
        /// The failure of pip.
        pip: Box<RuntimeError>,
    },
    /// Both clients failed less than a day ago, and were not asked again.
    #[error(
        "React could not be installed at {at} (npm: {npm}; pip: {pip}): `hermitcrab runtime fetch` tries again now, a start does \
         after a day"
    )]
    TriedBefore {
        /// The time of the failure.
        at: Timestamp,
        /// The failure of npm.
        npm: String,
        /// The failure of pip.
        pip: String,
    },
}

/// An error and its sources on one line.
pub(super) fn reason(error: &RuntimeError) -> String {
    let mut line = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        line = format!("{line}: {source}");
        next = source.source();
    }
    line
}

pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> RuntimeError {
    let path = path.to_owned();
    move |source| RuntimeError::File { path, source }
}
