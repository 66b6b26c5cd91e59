use std::error::Error as StdError;

use graphile_worker::DbError;
use graphile_worker::errors::GraphileWorkerError;

use crate::connection::is_lost_code;

/// The reason why the engine ended.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct EngineFailure {
    message: String,
    /// Whether it may work later.
    pub(crate) is_lost: bool,
}

impl EngineFailure {
    /// A failure that may pass.
    pub(crate) fn lost(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            is_lost: true,
        }
    }

    /// A failure of the engine, which may pass unless the server says that it will not.
    pub(crate) fn of(error: &(dyn StdError + 'static)) -> Self {
        let (mut cause, mut code) = (Some(error), None);
        while let (Some(error), None) = (cause, code) {
            code = error.downcast_ref::<DbError>().and_then(DbError::code);
            cause = error.source();
        }
        Self {
            message: error.to_string(),
            is_lost: code.is_none_or(is_lost_code),
        }
    }
}

/// The error of a statement that the engine ran in a transaction of ours.
pub(crate) fn statement_error(error: &GraphileWorkerError) -> sqlx::Error {
    let failure = EngineFailure::of(error);
    if failure.is_lost {
        sqlx::Error::Protocol(failure.message)
    } else {
        sqlx::Error::Configuration(failure.into())
    }
}
