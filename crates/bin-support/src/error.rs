use std::io;
use std::path::PathBuf;

/// What can go wrong before or beside a program's own work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A `.env` file was found and could not be read.
    #[error("cannot read {}", path.display())]
    EnvFileUnreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A line of a `.env` file is not `NAME=value`. The line itself is kept out: it may hold a key.
    #[error("{} has a line that is not NAME=value (column {column} of it)", path.display())]
    EnvFileMalformed {
        /// The file.
        path: PathBuf,
        /// Where in the line reading stopped, from 1.
        column: usize,
    },
    /// The handler for Ctrl-C could not be set.
    #[error("cannot watch for Ctrl-C")]
    Interrupt {
        /// Why.
        #[source]
        source: io::Error,
    },
    /// stdout took no more, for a reason other than a reader that went away.
    #[error("cannot write the results to stdout")]
    Results {
        /// Why.
        #[source]
        source: io::Error,
    },
}
