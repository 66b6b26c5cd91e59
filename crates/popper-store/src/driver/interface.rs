use popper_discovery::store::StoreError;

use super::row::Row;
use crate::statement::Statement;

/// The purpose of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Several queries that see one state.
    Read,
    /// The same for many queries, with a program between them that may wait for its reader.
    LongRead,
    /// Statements that change rows.
    Write,
}

/// A connection that runs statements in transactions.
///
/// A transaction whose end is not known, because a statement failed or its future was dropped, is given up: the next
/// [`Driver::begin`] closes the connection and opens another.
pub trait Driver: Send {
    /// Begins a transaction.
    fn begin(&mut self, mode: Mode) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Makes the changes of the transaction durable, and ends it.
    fn commit(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Ends the transaction without its changes.
    fn rollback(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns the rows of a query, within a transaction.
    fn fetch(
        &mut self,
        statement: Statement<'_>,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

    /// Runs a statement within a transaction, and returns the number of rows that it changed.
    fn execute(
        &mut self,
        statement: Statement<'_>,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// Returns that many unused keys of a table, in ascending order, within a transaction.
    fn next_ids(
        &mut self,
        table: &'static str,
        count: usize,
    ) -> impl Future<Output = Result<Vec<i64>, StoreError>> + Send;

    /// The schema version of the tables: the newest one, unless older tables were opened to be read.
    fn schema(&self) -> i64;

    /// Closes the connection.
    fn close(self) -> impl Future<Output = Result<(), StoreError>> + Send;
}
