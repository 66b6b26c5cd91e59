//! A worker: it claims jobs, works on them, and survives the loss of its connection.

mod delivery;
mod options;
mod service;
mod statements;
#[cfg(feature = "steps")]
mod steps;
mod watchdog;

use std::fmt;
use std::sync::Arc;

pub use options::{OpenJobs, ServeEnd, Served, Stopper, WorkerOptions};
#[cfg(feature = "steps")]
pub use steps::{DeliveredJob, Steps};

use crate::QueueError;
use crate::address::Address;
use crate::connection::{Connection, Durability};
use crate::engine;
use crate::job::{Group, Work};

use service::Service;

/// The sessions of a worker next to those of the engine, for all threads.
const SESSIONS: u32 = 2;

/// A process that computes the outputs of jobs.
pub struct Worker {
    work: Arc<dyn Work>,
    connection: Connection,
    options: WorkerOptions,
    stopper: Stopper,
}

impl Worker {
    /// Opens a queue for work. Changes nothing.
    ///
    /// # Errors
    /// [`QueueError::Missing`] and [`QueueError::Newer`] for tables of another version, [`QueueError::Server`] and
    /// [`QueueError::Encoding`] for a server that does not work, [`QueueError::Name`], and those of the connection.
    pub async fn open(
        address: &Address,
        work: Arc<dyn Work>,
        options: WorkerOptions,
    ) -> Result<Self, QueueError> {
        Group::of(&*work, "checked")?;
        let is_name = |text: &str| !text.contains('\0');
        if options.name.is_empty() || !is_name(&options.name) || !is_name(&options.host) {
            return Err(QueueError::Name {
                field: "the name of the worker",
            });
        }
        let connection = Connection::new(
            address,
            &options.application,
            SESSIONS,
            Durability::Relaxed,
            options.timing,
        );
        engine::check(&connection).await?;
        Ok(Self {
            work,
            connection,
            options,
            stopper: Stopper::new(),
        })
    }

    /// The switch that stops this worker.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// The open jobs of this worker's kind.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn open_jobs(&self) -> Result<OpenJobs, QueueError> {
        statements::open_jobs(&self.connection, self.work.kind(), self.work.semantics()).await
    }

    /// Works until it is stopped or, if the options say so, until no job is open.
    ///
    /// After a stop the process must end by [`std::process::exit`]: a job that ignores its stop holds a thread.
    ///
    /// # Errors
    /// [`QueueError::Lost`] when the server could not be reached for the patience; [`QueueError::Refused`] after a job for another
    /// program, when the others have ended; [`QueueError::Stuck`] for a job that does not stop: the caller must end the process at
    /// once, for the job holds a thread and its worker's sign of life keeps others from it.
    pub async fn serve(self) -> Result<Served, QueueError> {
        let Self {
            work,
            connection,
            options,
            stopper,
        } = self;
        Service::new(work, connection, options, stopper)
            .serve()
            .await
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
