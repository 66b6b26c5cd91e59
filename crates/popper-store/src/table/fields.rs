//! The columns of a row in a result, read one by one. An error names table, key and column.

use std::borrow::Cow;

use popper_discovery::store::StoreError;

use super::column::Column;
use super::record::{Record, Table};
use crate::driver::Row;

/// The columns of one table within a row of a result.
pub(crate) struct Fields<'r> {
    row: &'r Row,
    table: Table,
    /// The index of the table's first column in the row.
    begin: usize,
    next: usize,
    id: i64,
}

/// The row of a table whose columns begin at `begin`.
pub(crate) fn record<R: Record>(row: &Row, begin: usize) -> Result<R, StoreError> {
    R::read(&mut Fields::new(row, R::TABLE, begin))
}

impl<'r> Fields<'r> {
    pub(crate) fn new(row: &'r Row, table: Table, begin: usize) -> Self {
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

    /// The number in the next column.
    pub(super) fn int(&mut self) -> Result<Option<i64>, StoreError> {
        let index = self.next_index();
        self.row.int(index).map_err(|problem| self.bad(problem))
    }

    /// The text in the next column.
    pub(super) fn text(&mut self) -> Result<Option<Cow<'r, str>>, StoreError> {
        let index = self.next_index();
        self.row.text(index).map_err(|problem| self.bad(problem))
    }

    /// The value of a column that is never NULL.
    pub(super) fn present<T>(&self, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| self.bad("unexpected null; try decoding as an `Option`".to_owned()))
    }

    fn next_index(&mut self) -> usize {
        self.next += 1;
        self.begin + self.next - 1
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
