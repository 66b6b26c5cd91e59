//! Jobs for processes on many machines, handed out through a `PostgreSQL` database; each result is taken once.
//!
//! ```
//! use std::collections::HashSet;
//! use std::sync::Arc;
//!
//! use work_queue::{Address, Group, Outcome, Output, Queue, QueueOptions, Work, WorkError, Worker, WorkerOptions};
//!
//! /// Counts the primes below a number.
//! struct Primes;
//!
//! impl Work for Primes {
//!     fn kind(&self) -> &str {
//!         "primes"
//!     }
//!
//!     fn semantics(&self) -> &str {
//!         "primes/1"
//!     }
//!
//!     fn run(&self, input: &[u8], _stop: &(dyn Fn() -> bool + Sync)) -> Result<Output, WorkError> {
//!         let text = String::from_utf8_lossy(input);
//!         let limit: u32 = text.parse().map_err(|_| WorkError::Input(format!("{text:?} is not a number")))?;
//!         let is_prime = |n: &u32| (2..*n).all(|divisor| n % divisor != 0);
//!         Ok(Output::new((2..limit).filter(is_prime).count().to_string()))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let Some(database) = test_support::postgres::database() else { return Ok(()) };
//! # let url = database.url();
//! let address = Address::parse(url)?;
//! let options = QueueOptions::new("example");
//! Queue::migrate(&address, &options).await?;
//!
//! // A worker, here in the same process. Others may join and leave at any time.
//! let work: Arc<dyn Work> = Arc::new(Primes);
//! let worker = Worker::open(&address, Arc::clone(&work), WorkerOptions::new("worker 1")).await?;
//! let stopper = worker.stopper();
//! let worker = tokio::spawn(worker.serve());
//!
//! let queue = Queue::open(&address, &options).await?;
//! let group = Group::of(&*work, "run 1")?;
//! queue.submit(&group, &[b"10".to_vec(), b"100".to_vec()]).await?;
//!
//! let mut notices = queue.listen(&group).await?;
//! let mut taken = HashSet::new();
//! let mut counts = Vec::new();
//! while counts.len() < 2 {
//!     for job in queue.collect(&group, &mut taken).await? {
//!         let Outcome::Done(answer) = job.outcome else { panic!("{job:?}") };
//!         counts.push(String::from_utf8(answer.bytes)?);
//!     }
//!     notices.wait().await;
//! }
//! counts.sort();
//! assert_eq!(counts, ["25", "4"]);
//! queue.complete(&group).await?;
//!
//! stopper.stop();
//! worker.await??;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **The one decision.** An existing engine stores, orders and claims jobs, and gives those of dead workers out again; its rows hold
//! a key and nothing else. The tables of this crate decide what a result is: the first one counts, an equal one is late, and another
//! one is a conflict that no program resolves by itself. So a worker may be killed, paused or cut off at any instant.
//!
//! **What a job may do to its worker.** A job that panics, ends its process or never returns is split into its pieces, and a piece is
//! quarantined after a few tries, so that the other jobs are done.
//!
//! Next: [`Work`] for a kind of jobs, [`Queue`] for the coordinator, [`Worker`] for the others, [`Address`] for passwords and TLS,
//! `migrations/postgres` for the tables.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod address;
mod connection;
mod engine;
mod error;
mod job;
mod queue;
mod result;
mod schema;
mod thread;
mod worker;

pub use address::Address;
pub use connection::{Patience, Timing};
pub use error::{Cause, QueueError};
pub use job::{Group, Output, Work, WorkError, is_audited};
pub use queue::{
    Answer, Audit, Collected, Conflict, GroupStatus, JobRow, JobState, Notices, Outcome, Queue,
    QueueOptions, Status, WorkerStatus,
};
#[cfg(feature = "steps")]
pub use result::Stored;
pub use schema::MIGRATION_LOCK;
#[cfg(feature = "steps")]
pub use worker::{DeliveredJob, Steps};
pub use worker::{OpenJobs, ServeEnd, Served, Stopper, Worker, WorkerOptions};
