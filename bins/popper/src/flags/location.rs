//! The flags that name the place of the runs.

use std::path::PathBuf;

use bin_support::{Failure, Session};
use popper_store::Address;

use crate::error::Error;
use crate::location::{DEFAULT_DATABASE, ServerLocation, StoreLocation};

/// The variable with the address of a server, in which a password is not shown to other users.
pub const STORE: &str = "POPPER_STORE";

/// A database file, or a database on a server.
#[derive(Debug, clap::Args)]
pub struct LocationFlags {
    /// Database file [default: experiments/popper/popper.db].
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    pub db: Option<PathBuf>,
    #[command(flatten)]
    pub server: ServerFlag,
}

/// A database on a server.
#[derive(Debug, clap::Args)]
pub struct ServerFlag {
    /// Database on a server, in place of a file [default: `POPPER_STORE`].
    ///
    /// The address of a `PostgreSQL` database, `postgres://USER@HOST/DATABASE`; the default is in the variable `POPPER_STORE`.
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub store: Option<String>,
}

impl LocationFlags {
    /// Returns the place that the flags name, else the one of the variable, else the default file.
    pub fn location(&self, session: &Session) -> Result<StoreLocation, Failure> {
        if let Some(db) = &self.db {
            return Ok(StoreLocation::File(db.clone()));
        }
        let server = self.server.given(session)?;
        Ok(server.map_or_else(
            || StoreLocation::File(DEFAULT_DATABASE.into()),
            |server| StoreLocation::Server(Box::new(server)),
        ))
    }
}

impl From<Option<String>> for ServerFlag {
    fn from(store: Option<String>) -> Self {
        Self { store }
    }
}

impl ServerFlag {
    /// Returns the server that the flag or the variable names.
    pub fn server(&self, session: &Session) -> Result<ServerLocation, Failure> {
        let server = self.given(session)?;
        server.ok_or_else(|| Failure::usage(Error::NoServer))
    }

    /// Returns the server that the flag names, without a look at the variable.
    pub fn flagged(&self) -> Result<Option<ServerLocation>, Failure> {
        self.parsed(None)
    }

    fn given(&self, session: &Session) -> Result<Option<ServerLocation>, Failure> {
        self.parsed(session.environment.value(STORE))
    }

    fn parsed(&self, variable: Option<String>) -> Result<Option<ServerLocation>, Failure> {
        let Some(text) = self.store.clone().or(variable) else {
            return Ok(None);
        };
        let address = Address::parse(&text).map_err(Failure::usage)?;
        if self.store.is_some() && address.has_password() {
            return Err(Failure::usage(Error::PasswordInFlag));
        }
        Ok(Some(ServerLocation {
            address,
            flag: self.store.clone(),
        }))
    }
}
