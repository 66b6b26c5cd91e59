//! The drivers of the databases: what differs between them, and nothing that names a table of popper.

mod any;
mod interface;
pub(crate) mod postgres;
mod row;
mod scope;
pub(crate) mod sqlite;

pub use any::FileOrServer;
pub use interface::{Driver, Mode};
pub use row::Row;
pub use scope::TransactionScope;
