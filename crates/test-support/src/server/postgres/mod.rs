//! A `PostgreSQL` server for the tests: found, started, and gone with the process that started it.
//!
//! ```
//! use test_support::postgres;
//!
//! // `None` where the server programs are missing: one line says so, and the test passes.
//! let Some(database) = postgres::database() else { return };
//! assert!(database.url().starts_with("postgres://"));
//! ```
//!
//! `ORRERY_POSTGRES` is the address of a server that `cargo xtask test` has started for all tests. Without it a process starts
//! its own at the first use. A test that kills or restarts a server takes [`server`].
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test looks for the programs, and says why it was skipped"
)]

mod database;
pub mod dump;
mod programs;
mod server;
mod tls;

pub use database::Database;
pub use server::Server;
pub use tls::TlsServer;

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::skip::skip;
use programs::PostgresPrograms;

/// The reason of a test that cannot run.
const MISSING: &str = "no PostgreSQL server programs (15 or later)";

/// The server of this process, if `ORRERY_POSTGRES` names no other.
static OWN: OnceLock<Server> = OnceLock::new();

/// Returns an empty database of the test's own, which is dropped afterwards. `None` if the server programs are missing.
pub fn database() -> Option<Database> {
    let given = std::env::var("ORRERY_POSTGRES").ok();
    if let Some(base) = given.filter(|base| !base.is_empty()) {
        return Some(Database::create(&base));
    }
    let programs = programs()?;
    Some(
        OWN.get_or_init(|| Server::start(&programs, false))
            .database(),
    )
}

/// Starts a server that a test may kill: the system keeps what its processes have written. `None` if the server programs are
/// missing.
pub fn server() -> Option<Server> {
    Some(Server::start(&programs()?, false))
}

/// The same with every commit on the disk, as in production: slow.
pub fn durable_server() -> Option<Server> {
    Some(Server::start(&programs()?, true))
}

/// Starts a server that is reached by TLS, too. `None` if the server programs or `openssl` are missing.
pub fn tls_server() -> Option<TlsServer> {
    let server = TlsServer::new(server()?);
    if server.is_none() {
        eprintln!("SKIPPED: no OpenSSL program for certificates (openssl)");
    }
    server
}

/// Starts a server for the tests of many processes, quick and not safe against a loss of power. `None` if the server programs
/// are missing.
pub fn shared_server() -> Option<Server> {
    let programs = PostgresPrograms::find()?;
    Some(Server::start(&programs, false))
}

/// Returns the path of a client program, such as `psql`, which comes with the server's.
///
/// # Panics
/// If it is missing.
pub fn client(name: &str) -> PathBuf {
    programs::client(name).unwrap_or_else(|| panic!("no program {name}"))
}

/// The programs. Says that a test is skipped without them, and fails it in CI.
fn programs() -> Option<PostgresPrograms> {
    let found = PostgresPrograms::find();
    if found.is_none() {
        skip(MISSING);
    }
    found
}
