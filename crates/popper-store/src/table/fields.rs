//! The columns of a row in a result, read one by one. An error names table, key and column.

use jiff::Timestamp;
use popper_discovery::store::StoreError;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row as _, Sqlite, Type};

use super::record::{Record, Table, Word};
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

    pub(crate) fn get<T: Decode<'r, Sqlite> + Type<Sqlite>>(&mut self) -> Result<T, StoreError> {
        let index = self.begin + self.next;
        self.next += 1;
        self.row
            .try_get::<T, _>(index)
            .map_err(|error| self.bad(column_message(&error)))
    }

    /// The unsigned number with the same bits.
    pub(crate) fn unsigned(&mut self) -> Result<u64, StoreError> {
        self.get::<i64>().map(i64::cast_unsigned)
    }

    pub(crate) fn small(&mut self) -> Result<u32, StoreError> {
        let number: i64 = self.get()?;
        u32::try_from(number).map_err(|_| self.bad(format!("is {number}, expected 0 to 2^32 - 1")))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, StoreError> {
        match self.get::<i64>()? {
            0 => Ok(false),
            1 => Ok(true),
            number => Err(self.bad(format!("is {number}, expected 0 or 1"))),
        }
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        let text: &str = self.get()?;
        self.parse_time(text)
    }

    pub(crate) fn optional_time(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let text: Option<&str> = self.get()?;
        text.map(|text| self.parse_time(text)).transpose()
    }

    fn parse_time(&self, text: &str) -> Result<Timestamp, StoreError> {
        text.parse()
            .map_err(|error: jiff::Error| self.bad(error.to_string()))
    }

    pub(crate) fn word<W: Word>(&mut self) -> Result<W, StoreError> {
        let text: &str = self.get()?;
        let known = W::ALL.iter().find(|(_, word)| *word == text);
        known.map(|(value, _)| *value).ok_or_else(|| {
            let words: Vec<&str> = W::ALL.iter().map(|(_, word)| *word).collect();
            self.bad(format!("is {text:?}, expected one of {}", words.join(", ")))
        })
    }

    /// The error for the column that was read last.
    fn bad(&self, message: String) -> StoreError {
        let column = self.next.saturating_sub(1);
        StoreError::Column {
            table: self.table.name,
            id: self.id,
            column: self.table.columns.get(column).copied().unwrap_or("?"),
            message,
        }
    }
}
