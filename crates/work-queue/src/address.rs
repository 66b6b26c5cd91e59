use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr as _;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use url::{Position, Url};

use crate::QueueError;

/// The parameters of an address that are understood.
const PARAMETERS: [&str; 8] = [
    "dbname",
    "host",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
];

/// The settings of a session, so that no statement and no lock waits without an end.
const SETTINGS: [(&str, &str); 5] = [
    ("statement_timeout", "60s"),
    ("lock_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("client_min_messages", "warning"),
    ("default_transaction_isolation", "read committed"),
];

/// The address of a database, which never shows its password.
///
/// Parts that the URL leaves out are read from the variables `PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`, `PGDATABASE`,
/// `PGSSLROOTCERT` and the password file: the one place where a library of this workspace reads the environment.
/// A host that is neither a socket nor loopback is reached by TLS whose certificate is verified (`verify-full`), unless the URL
/// has another `sslmode`.
#[derive(Clone)]
pub struct Address {
    options: PgConnectOptions,
    has_password: bool,
}

impl Address {
    /// Reads a URL such as `postgres://user@host:5432/database?sslmode=require`.
    ///
    /// # Errors
    /// [`QueueError::Address`], which does not contain the text.
    pub fn parse(text: &str) -> Result<Self, QueueError> {
        let fault = |problem: String| QueueError::Address { problem };
        let url = Url::parse(text).map_err(|error| fault(error.to_string()))?;
        if !["postgres", "postgresql"].contains(&url.scheme()) {
            return Err(fault("its scheme is not postgres".to_owned()));
        }
        // Else the end of a password would be read, and shown, as the name of the database or of a parameter.
        if url[Position::AfterPort..].contains('@') {
            return Err(fault(
                "an `@` after the host; in a password `/` is %2F, `?` is %3F, `#` is %23, `@` is %40".to_owned(),
            ));
        }
        if url.path().contains(['&', '=', ':']) {
            return Err(fault(
                "`&`, `=` or `:` in the name of the database; parameters begin with `?`".to_owned(),
            ));
        }
        let parameters: Vec<_> = url.query_pairs().collect();
        let has = |name: &str| parameters.iter().any(|(found, _)| found == name);
        // Its name is not shown: it may be the end of a password.
        if parameters
            .iter()
            .any(|(name, _)| !PARAMETERS.contains(&&**name))
        {
            return Err(fault(format!(
                "one of its parameters is unknown; known are {}",
                PARAMETERS.join(", ")
            )));
        }
        let has_password = url.password().is_some() || has("password");
        let has_mode = has("sslmode");
        // The text of the error may quote a value of the URL, which is not a password.
        let options = PgConnectOptions::from_str(text)
            .map_err(|_| fault("a parameter has a wrong value".to_owned()))?;
        // The brackets of an IPv6 address belong to the URL.
        let bare = options.get_host().trim_matches(['[', ']']).to_owned();
        let options = options.host(&bare);
        let is_near = is_near(&options);
        let mode = options.get_ssl_mode();
        let options = options
            .ssl_mode(if has_mode || is_near {
                mode
            } else {
                PgSslMode::VerifyFull
            })
            .options(SETTINGS)
            .disable_statement_logging();
        Ok(Self {
            options,
            has_password,
        })
    }

    /// Whether the text of the address holds a password, which other users of the machine can read on a command line.
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// The options of a session, for a crate that keeps its own tables in the same database. `name` is shown by the server.
    pub fn options(&self, name: &str) -> PgConnectOptions {
        self.options.clone().application_name(name)
    }
}

/// Whether a host is a socket or this machine.
fn is_near(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    options.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = &self.options;
        let socket = options
            .get_socket()
            .map(|socket| Path::display(socket).to_string());
        let host = match options.get_host() {
            _ if socket.is_some() => socket.unwrap_or_default(),
            host if host.contains(':') => format!("[{host}]"),
            host => host.to_owned(),
        };
        let user = options.get_username();
        let database = options.get_database().unwrap_or(user);
        write!(
            f,
            "postgres://{user}@{host}:{}/{database}",
            options.get_port()
        )
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}
