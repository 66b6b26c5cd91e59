use std::fmt::Display;

use popper_harness::decide::ConfigError;
use serde::de::DeserializeOwned;

use crate::store::StoreError;

/// The error that interrupts a run. Committed rows stay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The proposer failed; the iteration stays `running`.
    #[error(transparent)]
    Propose(ProposeError),
    /// The evaluator failed; the iteration stays `running`.
    #[error(transparent)]
    Evaluate(#[from] EvaluatorError),
    /// A field of the configuration is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The run does not exist.
    #[error("there is no run {id}")]
    NoRun {
        /// The requested id.
        id: i64,
    },
    /// A run cannot continue under another universe, configuration or proposer.
    #[error("run {id} has another {what}: it has {stored}, asked for is {asked}")]
    Differs {
        /// The id of the run.
        id: i64,
        /// The part that differs.
        what: &'static str,
        /// The hash or name of the stored run.
        stored: String,
        /// The requested hash or name.
        asked: String,
    },
    /// The law does not exist.
    #[error("no run of this database has a law {law_fingerprint}")]
    NoLaw {
        /// The requested fingerprint.
        law_fingerprint: String,
    },
    /// A column has a value that this program does not write.
    #[error("{table} {id}: column {column}: {message}")]
    Row {
        /// The table.
        table: &'static str,
        /// The key of the row.
        id: i64,
        /// The column.
        column: &'static str,
        /// The problem with the value.
        message: String,
    },
}

impl From<ProposeError> for Error {
    /// An error of the store stays one.
    fn from(error: ProposeError) -> Self {
        match error {
            ProposeError::Store(error) => Self::Store(error),
            error => Self::Propose(error),
        }
    }
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

/// The error of a proposer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposeError {
    /// The store failed while the proposer asked it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model could not be reached or did not reply; a later attempt may succeed.
    #[error("the model gave no answer")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A cap on money or tokens is reached.
    #[error("the budget is used up")]
    Budget(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The request cannot be sent as it is; another attempt does not help.
    #[error("the model cannot be asked")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A blind prompt contains a word that reveals the universe.
    #[error("the prompt would give away {word:?}; nothing was sent")]
    Leak {
        /// The word or state.
        word: String,
    },
}

/// The error that ends the evaluation of a batch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluatorError {
    /// An evaluation in this process panicked.
    #[error("law {law_fingerprint}: its evaluation panicked; this is a fault of the program")]
    Panicked {
        /// The fingerprint of the law.
        law_fingerprint: String,
    },
    /// The evaluations ended before every law had an outcome.
    #[error("the evaluations ended after {outcomes} of {laws} laws")]
    Incomplete {
        /// The number of outcomes.
        outcomes: usize,
        /// The number of laws.
        laws: usize,
    },
    /// Two machines gave different verdicts, or one gave a verdict that does not hold. All of it stays on record.
    #[error("{problem} (conflict {id}): one machine or program is faulty")]
    Conflict {
        /// The law, and what is wrong.
        problem: String,
        /// The id of the conflict in the queue.
        id: i64,
    },
    /// The evaluator could not reach those who evaluate, or refuses what they answered.
    #[error(transparent)]
    Other(#[from] Box<dyn std::error::Error + Send + Sync>),
}
