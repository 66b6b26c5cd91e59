//! `SQLite`: a file, one process that writes.

mod connection;
mod location;
mod lock;
mod schema;

pub use connection::{Access, Sqlite, Tuning};
