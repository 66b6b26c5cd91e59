//! The address of a server, and errors that name it.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::time::Duration;

use popper_discovery::store::StoreError;
use sqlx::migrate::MigrateError;
use tokio::time::timeout;

/// The limit for an answer. The server itself ends a statement after 60 s, so that only a broken connection takes longer.
const STALL: Duration = Duration::from_secs(75);

/// The address of a server, for messages: it never holds a password.
#[derive(Debug, Clone)]
pub(crate) struct ServerLocation(pub(crate) String);

impl ServerLocation {
    pub(crate) fn missing(&self) -> StoreError {
        StoreError::Missing {
            place: self.0.clone(),
        }
    }

    pub(crate) fn newer(&self, found: i64, known: i64) -> StoreError {
        StoreError::Newer {
            place: self.0.clone(),
            found,
            known,
        }
    }

    pub(crate) fn locked(&self, holder: Option<String>) -> StoreError {
        StoreError::Locked {
            place: match holder {
                Some(holder) => format!("{} ({holder})", self.0),
                None => self.0.clone(),
            },
        }
    }

    pub(crate) fn refused(&self, message: impl Into<String>) -> StoreError {
        StoreError::Refused {
            place: self.0.clone(),
            message: message.into(),
        }
    }

    /// The error of a server that does not answer.
    pub(crate) fn stalled(&self) -> StoreError {
        let text = format!("no answer within {} s", STALL.as_secs());
        self.disconnected(std::io::Error::new(ErrorKind::TimedOut, text).into())
    }

    /// Waits for the answer of the server.
    pub(crate) async fn answer<T>(
        &self,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, StoreError> {
        match timeout(STALL, work).await {
            Ok(answer) => answer.map_err(|error| self.sql(error)),
            Err(_) => Err(self.stalled()),
        }
    }

    fn disconnected(&self, source: sqlx::Error) -> StoreError {
        StoreError::Disconnected {
            place: self.0.clone(),
            source: source.into(),
        }
    }

    /// An error of the server or of the connection to it.
    pub(crate) fn sql(&self, error: sqlx::Error) -> StoreError {
        let said = match &error {
            sqlx::Error::Database(said) => said,
            // A certificate.
            sqlx::Error::Io(refused) if refused.kind() == ErrorKind::InvalidData => {
                return self.refused(refused.to_string());
            }
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
                return self.disconnected(error);
            }
            sqlx::Error::Tls(_) => return self.refused(error.to_string()),
            _ => return self.other(error),
        };
        let code = said.code().map(Cow::into_owned).unwrap_or_default();
        let message = said.message().to_owned();
        match code.as_str() {
            // Ended by an administrator, by a crash, or not yet up; idle for too long; too many connections.
            "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "53300" => self.disconnected(error),
            // Connection exceptions.
            _ if code.starts_with("08") => self.disconnected(error),
            "53100" => StoreError::Full {
                place: self.0.clone(),
            },
            // A transaction that may only read.
            "25006" => StoreError::ReadOnly {
                place: self.0.clone(),
            },
            // Authorization, and rights on an object.
            "42501" => self.refused(message),
            _ if code.starts_with("28") => self.refused(message),
            // No such database, schema or table.
            "3D000" => self.refused(format!("{message}; create it, for example with `createdb`")),
            "3F000" | "42P01" => self.missing(),
            _ => self.other(error),
        }
    }

    /// An error of the migrations.
    pub(crate) fn migration(&self, error: MigrateError) -> StoreError {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                self.sql(error)
            }
            error => self.other(error),
        }
    }

    fn other(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
        StoreError::Database {
            place: self.0.clone(),
            source: source.into(),
        }
    }
}
