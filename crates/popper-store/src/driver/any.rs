use popper_discovery::store::StoreError;

use super::postgres::Postgres;
use super::row::Row;
use super::sqlite::Sqlite;
use super::{Driver, Mode};
use crate::statement::Statement;

/// A database file, or a database on a server: for programs whose users choose.
#[derive(Debug)]
pub enum FileOrServer {
    File(Box<Sqlite>),
    Server(Box<Postgres>),
}

impl Driver for FileOrServer {
    async fn begin(&mut self, mode: Mode) -> Result<(), StoreError> {
        match self {
            Self::File(db) => db.begin(mode).await,
            Self::Server(db) => db.begin(mode).await,
        }
    }

    async fn commit(&mut self) -> Result<(), StoreError> {
        match self {
            Self::File(db) => db.commit().await,
            Self::Server(db) => db.commit().await,
        }
    }

    async fn rollback(&mut self) -> Result<(), StoreError> {
        match self {
            Self::File(db) => db.rollback().await,
            Self::Server(db) => db.rollback().await,
        }
    }

    async fn fetch(&mut self, statement: Statement<'_>) -> Result<Vec<Row>, StoreError> {
        match self {
            Self::File(db) => db.fetch(statement).await,
            Self::Server(db) => db.fetch(statement).await,
        }
    }

    async fn execute(&mut self, statement: Statement<'_>) -> Result<u64, StoreError> {
        match self {
            Self::File(db) => db.execute(statement).await,
            Self::Server(db) => db.execute(statement).await,
        }
    }

    async fn next_ids(
        &mut self,
        table: &'static str,
        count: usize,
    ) -> Result<Vec<i64>, StoreError> {
        match self {
            Self::File(db) => db.next_ids(table, count).await,
            Self::Server(db) => db.next_ids(table, count).await,
        }
    }

    fn schema(&self) -> i64 {
        match self {
            Self::File(db) => db.schema(),
            Self::Server(db) => db.schema(),
        }
    }

    async fn close(self) -> Result<(), StoreError> {
        match self {
            Self::File(db) => db.close().await,
            Self::Server(db) => db.close().await,
        }
    }
}
