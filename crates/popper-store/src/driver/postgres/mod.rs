//! `PostgreSQL`: a server, many processes that write.

mod connection;
mod location;
mod lock;
mod schema;
mod session;
pub(crate) mod text;

pub use connection::Postgres;
