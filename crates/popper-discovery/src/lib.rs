//! Proposes laws about a universe, tries to refute them, stores every step, and continues after a kill as if uninterrupted.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::SystemTime;
//!
//! use llm_types::FixedClock;
//! use popper_discovery::{
//!     Discovery, EnumerativeProposer, LoopConfig, MemoryStore, RunEnd, RunSelector, Unobserved,
//! };
//! use popper_discovery::store::{Query, Store as _};
//! use popper_harness::decide::{Config, Harness, Status};
//! use popper_harness::universe::KineticGrid;
//!
//! # futures_util::FutureExt::now_or_never(async {
//! let harness = Harness::new(KineticGrid, Config::default())?;
//! let proposer = EnumerativeProposer::default();
//! let clock = Arc::new(FixedClock(SystemTime::UNIX_EPOCH));
//! let mut config = LoopConfig::default();
//! (config.propose, config.test) = (8, 4);
//! let mut discovery =
//!     Discovery::open(MemoryStore::default(), harness, config, EnumerativeProposer::ID, clock, RunSelector::Latest).await?;
//! assert_eq!(discovery.run_to(2, &proposer, &mut Unobserved).await?, RunEnd::Completed);
//!
//! let run = discovery.run().clone();
//! for finding in discovery.store().findings(Query::all(&run)).await? {
//!     println!("{:?} {}", finding.evaluation.status, finding.law.claim_text);
//!     // Every refutation can be replayed from its rows alone.
//!     if let Some(package) = finding.package()? {
//!         assert_eq!(finding.evaluation.status, Status::Fail);
//!         popper_harness::counterexample::rederive(&package)?;
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).expect("nothing here waits")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **The one decision.** A run has no state outside the store. A snapshot is built from the store alone, a model's reply is stored
//! before it is parsed, the plan of an iteration before its tests, and decisions in small groups. So the stored state is always a
//! prefix of the same history, and a resumed run equals an uninterrupted one.
//!
//! The crate reads no clock, no file and no environment: [`Clock`](llm_types::Clock), [`Store`](store::Store) and [`Proposer`] are parameters.
//!
//! Read next: [`Discovery`] for the loop, [`Proposer`] for proposers, [`Store`](store::Store) for the stored rows, [`Snapshot`] for the input of a
//! proposer, [`rank`] for the order of the tests, [`lab`] for players that explain a sealed universe.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod discovery;
mod enumerative;
mod error;
pub mod evaluator;
pub mod lab;
#[cfg(feature = "llm")]
pub mod llm;
mod memory;
#[cfg(feature = "queue")]
pub mod queue;
pub mod rank;
pub mod recall;
#[cfg(feature = "report")]
pub mod report;
mod snapshot;
pub mod status;
pub mod store;

pub use discovery::{Discovery, Event, Observer, RunEnd, RunSelector, Unobserved, status_text};
pub use enumerative::EnumerativeProposer;
pub use error::{Error, EvaluatorError, ProposeError};
pub use memory::MemoryStore;
pub use snapshot::{
    Accepted, Capabilities, FailureExample, Falsified, LoopConfig, Proposal, Proposer, RunConfig,
    Selected, ShownLaws, Snapshot, Step, StoredLaws, Summary, Totals, Undecided, UniverseContract,
    Verdicts,
};
