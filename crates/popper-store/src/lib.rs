//! The database of popper's discovery loop: a `SQLite` file or a `PostgreSQL` server, safe against kill -9.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::SystemTime;
//!
//! use llm_types::FixedClock;
//! use popper_discovery::{Discovery, EnumerativeProposer, LoopConfig, RunSelector, Unobserved};
//! use popper_discovery::store::{Query, Store as _};
//! use popper_harness::decide::{Config, Harness};
//! use popper_harness::universe::KineticGrid;
//! use popper_store::{Access, Database};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("popper.db");
//! let harness = Harness::new(KineticGrid, Config::default())?;
//! let clock = Arc::new(FixedClock(SystemTime::UNIX_EPOCH));
//! let mut config = LoopConfig::default();
//! (config.propose, config.test) = (8, 4);
//!
//! let database = Database::open(&path, Access::Write).await?;
//! let proposer = EnumerativeProposer::default();
//! let mut discovery =
//!     Discovery::open(database, harness, config, EnumerativeProposer::ID, clock, RunSelector::Latest).await?;
//! discovery.run_to(2, &proposer, &mut Unobserved).await?;
//! let run = discovery.run().clone();
//!
//! // Others may read meanwhile; they see what is committed.
//! let mut reader = Database::open(&path, Access::Read).await?;
//! let findings = reader.findings(Query::all(&run)).await?;
//! assert_eq!(findings.len(), 8);
//! discovery.into_store().close().await?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `Server::open(&Address::parse(url)?, "name", Access::Write)` opens a database on a server instead, with the same rows and answers.
//!
//! **One writer.** A file has one process that writes: a lock on the file `NAME.lock` next to the database keeps others out, and ends
//! with the process. A server has one for each universe and configuration: [`Server::lock`] ends with the session that writes, so a
//! process that lost the lock cannot write.
//!
//! **Durability.** When a method returns, its rows are on the disk (`fsync`): write-ahead log, `synchronous = FULL`, or the log of the
//! server. A killed process loses only the open transaction; so does a power cut, if the disk obeys `fsync`.
//!
//! **Lost connections.** [`Disconnected`](popper_discovery::store::StoreError::Disconnected) leaves open whether a change was
//! committed. The next call opens a session, waits for the end of the former one and takes the lock again. A `commit` may be repeated.
//!
//! Next: [`Database::open`] and [`Server::open`] for the errors, [`popper_discovery::store::Store`] for the methods, `migrations` for
//! the tables.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod answers;
mod counts;
mod driver;
mod group;
mod sql;
mod statement;
mod store;
mod table;

pub use driver::sqlite::{Access, Tuning};
pub use store::{AnyDatabase, Database, Server, SqlStore};
pub use work_queue::Address;
