//! The database of popper's discovery loop: one `SQLite` file, embedded, safe against kill -9.
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
//! **The one decision.** One process writes, and it knows that it is alone: it assigns the keys itself, so that a group of
//! decisions is a few statements of many rows and one transaction. A lock on the file `NAME.lock` next to the database keeps other
//! processes out, and ends with the process.
//!
//! **Durability.** Write-ahead log, `synchronous = FULL`: when a method returns, its rows are on the disk (`fsync`).
//! A killed process loses only the open transaction; so does a power cut, if the disk obeys `fsync`.
//!
//! Next: [`Database::open`] for the errors, [`popper_discovery::store::Store`] for the methods, `migrations/sqlite` for the tables.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod database;
mod group;
mod location;
mod sql;
mod store;
mod table;

pub use database::{Access, Database, Tuning};
