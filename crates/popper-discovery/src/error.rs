use std::fmt::Display;

use popper_harness::decide::ConfigError;
use serde::de::DeserializeOwned;

use crate::store::StoreError;

/// Why a run does not go on. What was committed stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The proposer failed; the iteration stays `running`.
    #[error(transparent)]
    Propose(#[from] ProposeError),
    /// A field of the configuration is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no such run.
    #[error("there is no run {id}")]
    NoRun {
        /// The run that was asked for.
        id: i64,
    },
    /// A run cannot go on under another universe, configuration or proposer.
    #[error("run {id} has another {what}: it has {stored}, asked for is {asked}")]
    Differs {
        /// The run.
        id: i64,
        /// What differs.
        what: &'static str,
        /// What the run has: a hash, or a name.
        stored: String,
        /// What was asked for.
        asked: String,
    },
    /// There is no such law.
    #[error("no run of this database has a law {law_fingerprint}")]
    NoLaw {
        /// The fingerprint that was asked for.
        law_fingerprint: String,
    },
    /// A column holds what this program does not write.
    #[error("{table} {id}: column {column}: {message}")]
    Row {
        /// The table.
        table: &'static str,
        /// The key of the row.
        id: i64,
        /// The column.
        column: &'static str,
        /// What is wrong.
        message: String,
    },
}

impl Error {
    pub(crate) fn row(
        table: &'static str,
        id: i64,
        column: &'static str,
        message: impl Display,
    ) -> Self {
        Self::Row {
            table,
            id,
            column,
            message: message.to_string(),
        }
    }

    /// The value of a JSON column.
    pub(crate) fn json<T: DeserializeOwned>(
        table: &'static str,
        id: i64,
        column: &'static str,
        text: &str,
    ) -> Result<T, Self> {
        serde_json::from_str(text).map_err(|error| Self::row(table, id, column, error))
    }
}

/// Why there is no proposal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposeError {
    /// The model could not be reached or did not answer; later it may.
    #[error("the model gave no answer")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A cap on money or tokens is reached.
    #[error("the budget is used up")]
    Budget(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The request cannot be sent as it is; trying again does not help.
    #[error("the model cannot be asked")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A prompt that was to be blind holds a word that gives something away.
    #[error("the prompt would give away {word:?}; nothing was sent")]
    Leak {
        /// The word or state.
        word: String,
    },
}
