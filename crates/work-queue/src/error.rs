use std::error::Error as StdError;
use std::time::Duration;

use crate::address::Address;

/// The error of a queue or a worker. A place is the address without its password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The address cannot be read. Its text is left out because it may contain a password.
    #[error("the address of the database: {problem}; write postgres://USER@HOST:PORT/DATABASE")]
    Address {
        /// The problem.
        problem: String,
    },
    /// The tables of the queue are absent, or older than this program.
    #[error("{place}: there is no work queue for this program; start a run, which creates it")]
    Missing {
        /// The database.
        place: String,
    },
    /// The tables are those of a newer program.
    #[error(
        "{place}: schema {schema} has version {found}, this program knows {known}; use a newer program"
    )]
    Newer {
        /// The database.
        place: String,
        /// The name of the schema.
        schema: &'static str,
        /// The version of its tables.
        found: i64,
        /// The version that this program knows.
        known: i64,
    },
    /// The server is too old.
    #[error("{place}: the server has version {found}, the oldest that works is {needed}")]
    Server {
        /// The database.
        place: String,
        /// The number of the server's version.
        found: i32,
        /// The number of the oldest version that works.
        needed: i32,
    },
    /// The database has another encoding than UTF8.
    #[error("{place}: the database has the encoding {found}; create one with UTF8")]
    Encoding {
        /// The database.
        place: String,
        /// The encoding of the database.
        found: String,
    },
    /// The connection was lost for longer than the patience.
    #[error("{place}: no connection for {} s; try again when the server can be reached", patience.as_secs_f64())]
    Lost {
        /// The database.
        place: String,
        /// The time that was waited.
        patience: Duration,
        /// The last cause.
        #[source]
        source: Cause,
    },
    /// The database answers with an error: a missing right, a wrong password, a missing database.
    #[error("{place}")]
    Database {
        /// The database.
        place: String,
        /// The cause.
        #[source]
        source: Cause,
    },
    /// A name cannot be used.
    #[error("{field} must have 1 to 2000 bytes and no zero byte")]
    Name {
        /// The field.
        field: &'static str,
    },
    /// The input of a job is too large.
    #[error("the input of a job has {bytes} bytes, at most {most} are taken")]
    TooLarge {
        /// The size of the input in bytes.
        bytes: usize,
        /// The largest size in bytes.
        most: usize,
    },
    /// The work of this process refuses a job: it was made for another program.
    #[error(
        "a job is for {expected}, this worker computes {found}; use the program that made the job"
    )]
    Refused {
        /// The identity that the job names.
        expected: String,
        /// The identity of this worker.
        found: String,
    },
    /// A job did not stop after its limit. The process must end, so that the job is given to another one.
    #[error("job {key} did not stop: this process ends")]
    Stuck {
        /// The key of the job.
        key: String,
    },
    /// The conflict does not exist, or is resolved.
    #[error("there is no open conflict {id}")]
    NoConflict {
        /// The requested id.
        id: i64,
    },
}

/// A cause of any kind.
pub type Cause = Box<dyn StdError + Send + Sync>;

impl QueueError {
    /// The error and its causes in one line.
    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let words = error.to_string();
            // Some errors say what their causes do.
            if !text.contains(&words) {
                text = format!("{text}: {words}");
            }
            cause = error.source();
        }
        text
    }

    /// An error of the database at an address.
    pub(crate) fn database(address: &Address, source: impl Into<Cause>) -> Self {
        Self::Database {
            place: address.to_string(),
            source: source.into(),
        }
    }
}
