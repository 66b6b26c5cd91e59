use std::borrow::Cow;
use std::error::Error as _;

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

use super::postgres::text;

/// A row of an answer.
#[derive(Debug)]
pub enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// Returns the number of a column. The error is the problem with the value.
    pub(crate) fn int(&self, index: usize) -> Result<Option<i64>, String> {
        match self {
            Self::Sqlite(row) => row.try_get(index),
            Self::Postgres(row) => row.try_get(index),
        }
        .map_err(|error| problem(&error))
    }

    /// Returns the text of a column. The error is the problem with the value.
    pub(crate) fn text(&self, index: usize) -> Result<Option<Cow<'_, str>>, String> {
        match self {
            Self::Sqlite(row) => row
                .try_get(index)
                .map(|text: Option<&str>| text.map(Cow::from)),
            Self::Postgres(row) => row
                .try_get(index)
                .map(|text: Option<&str>| text.map(text::read)),
        }
        .map_err(|error| problem(&error))
    }
}

/// The error of a column without the context that sqlx adds.
fn problem(error: &sqlx::Error) -> String {
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}
