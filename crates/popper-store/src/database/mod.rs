//! A database file and the schema that it has.

mod connection;
mod schema;

pub use connection::{Access, Database, Tuning};
