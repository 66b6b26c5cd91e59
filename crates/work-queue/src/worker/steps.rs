use std::fmt;
use std::time::Duration;

use super::statements;
use crate::QueueError;
use crate::address::Address;
use crate::connection::{Connection, Durability, Timing};
use crate::engine;
use crate::job::{Group, Output};
use crate::result::{self, Stored};

/// The steps of a worker without the engine, which a test does in any order.
pub struct Steps {
    connection: Connection,
    name: String,
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A job that was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveredJob {
    /// The number of the delivery, from 1.
    pub number: i32,
    /// The input.
    pub input: Vec<u8>,
}

impl Steps {
    /// Opens a queue for a worker with this name.
    ///
    /// # Errors
    /// Those of [`crate::Worker::open`].
    pub async fn open(address: &Address, name: &str) -> Result<Self, QueueError> {
        let timing = Timing {
            stall: Duration::from_secs(20),
            ..Timing::default()
        };
        let connection = Connection::new(address, name, 1, Durability::Relaxed, timing);
        engine::check(&connection).await?;
        Ok(Self {
            connection,
            name: name.to_owned(),
        })
    }

    /// Counts a delivery and reads the job; `None` for a job that has an end.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn deliver(&self, key: &str) -> Result<Option<DeliveredJob>, QueueError> {
        let delivery = statements::deliver(&self.connection, key).await?;
        Ok(delivery.map(|it| DeliveredJob {
            number: it.number,
            input: it.input,
        }))
    }

    /// Stores a result once, and compares any other with it.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn finish(
        &self,
        key: &str,
        number: i32,
        output: &Output,
    ) -> Result<Stored, QueueError> {
        result::finish(&self.connection, &self.name, key, number, output).await
    }

    /// Replaces an open job by one for each piece.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn split(
        &self,
        group: &Group,
        key: &str,
        pieces: &[Vec<u8>],
    ) -> Result<(), QueueError> {
        statements::split(&self.connection, group, key, pieces).await
    }

    /// Gives an open job an end without a result.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn quarantine(&self, key: &str, problem: &str) -> Result<(), QueueError> {
        statements::quarantine(&self.connection, key, problem).await
    }

    /// Gives deliveries back.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn take_back(&self, keys: &[String]) -> Result<(), QueueError> {
        statements::take_back(&self.connection, keys).await
    }
}
