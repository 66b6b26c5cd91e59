//! The columns of a row in a result, read one by one. An error names table, key and column.

use popper_discovery::store::StoreError;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row as _, Sqlite, Type};

use super::column::Column;
use super::record::{Record, Table};
use crate::location::column_message;

/// The columns of one table within a row of a result.
pub(crate) struct Fields<'r> {
    row: &'r SqliteRow,
    table: Table,
    /// The index of the table's first column in the row.
    begin: usize,
    next: usize,
    id: i64,
}

/// The row of a table whose columns begin at `begin`.
pub(crate) fn record<R: Record>(row: &SqliteRow, begin: usize) -> Result<R, StoreError> {
    R::read(&mut Fields::new(row, R::TABLE, begin))
}

impl<'r> Fields<'r> {
    pub(crate) fn new(row: &'r SqliteRow, table: Table, begin: usize) -> Self {
        Self {
            row,
            table,
            begin,
            next: 0,
            id: 0,
        }
    }

    /// The key, which later messages name.
    pub(crate) fn key(&mut self) -> Result<i64, StoreError> {
        self.id = self.get()?;
        Ok(self.id)
    }

    /// The value of the next column.
    pub(crate) fn get<C: Column>(&mut self) -> Result<C, StoreError> {
        C::read(self)
    }

    /// The next column as the database has it.
    pub(super) fn stored<T: Decode<'r, Sqlite> + Type<Sqlite>>(&mut self) -> Result<T, StoreError> {
        let index = self.begin + self.next;
        self.next += 1;
        self.row
            .try_get::<T, _>(index)
            .map_err(|error| self.bad(column_message(&error)))
    }

    /// The error for the column that was read last.
    pub(super) fn bad(&self, message: String) -> StoreError {
        let column = self.next.saturating_sub(1);
        StoreError::Column {
            table: self.table.name,
            id: self.id,
            column: self.table.columns.get(column).copied().unwrap_or("?"),
            message,
        }
    }
}
