//! A read transaction that several methods of a store share.

use popper_discovery::store::StoreError;

use super::row::Row;
use super::{Driver, Mode};
use crate::statement::Statement;

/// A connection that may have a shared read transaction. Within it, the transactions for reading begin and end nothing.
///
/// A transaction for writing, a rollback, and an error give the shared transaction up.
#[derive(Debug)]
pub struct TransactionScope<D> {
    db: D,
    is_shared: bool,
}

impl<D> TransactionScope<D> {
    pub(crate) fn new(db: D) -> Self {
        let is_shared = false;
        Self { db, is_shared }
    }

    /// The connection, for what is done outside of transactions.
    pub(crate) fn connection(&mut self) -> &mut D {
        self.is_shared = false;
        &mut self.db
    }

    pub(crate) fn into_connection(self) -> D {
        self.db
    }
}

impl<D: Driver> TransactionScope<D> {
    /// Begins the shared read transaction.
    pub(crate) async fn begin_shared(&mut self) -> Result<(), StoreError> {
        self.connection().begin(Mode::LongRead).await?;
        self.is_shared = true;
        Ok(())
    }

    /// Ends the shared read transaction, if it was not given up.
    pub(crate) async fn end_shared(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.is_shared) {
            self.db.commit().await
        } else {
            Ok(())
        }
    }
}

impl<D: Driver> Driver for TransactionScope<D> {
    async fn begin(&mut self, mode: Mode) -> Result<(), StoreError> {
        if self.is_shared && mode == Mode::Read {
            return Ok(());
        }
        // The driver ends what is open by closing the connection.
        self.connection().begin(mode).await
    }

    async fn commit(&mut self) -> Result<(), StoreError> {
        if self.is_shared {
            return Ok(());
        }
        self.db.commit().await
    }

    async fn rollback(&mut self) -> Result<(), StoreError> {
        self.connection().rollback().await
    }

    async fn fetch(&mut self, statement: Statement<'_>) -> Result<Vec<Row>, StoreError> {
        let rows = self.db.fetch(statement).await;
        self.is_shared &= rows.is_ok();
        rows
    }

    async fn execute(&mut self, statement: Statement<'_>) -> Result<u64, StoreError> {
        self.db.execute(statement).await
    }

    async fn next_ids(
        &mut self,
        table: &'static str,
        count: usize,
    ) -> Result<Vec<i64>, StoreError> {
        self.db.next_ids(table, count).await
    }

    fn schema(&self) -> i64 {
        self.db.schema()
    }

    async fn close(self) -> Result<(), StoreError> {
        self.db.close().await
    }
}
