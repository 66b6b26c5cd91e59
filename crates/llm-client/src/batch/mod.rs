//! Batches of calls at a lower price, in a file that survives a crash.
//!
//! A [`Spool`] keeps requests and their results. It submits the requests in batches, which the provider answers within a day,
//! asks for their state and collects the results. The process may end at any instant: the next one opens the file, submits
//! the same requests and gets the same keys, and no batch is paid for twice.
//!
//! ```
//! use std::sync::Arc;
//!
//! use llm_client::batch::{BatchOptions, Spool};
//! use llm_client::{Client, Echo, Request, SystemClock};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("spool.jsonl");
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! // A provider without batches, such as this one, answers plain calls.
//! let client = Client::builder(Arc::new(Echo::new(7)), Arc::new(SystemClock::new())).build()?;
//! let mut spool = Spool::open(&path, BatchOptions::new(client))?;
//!
//! let keys = spool.submit(&[Request::new("m", "One?"), Request::new("m", "Two?")]).await?;
//! // Each call waits until the server may be asked again: from 5 s to 5 minutes.
//! while !spool.poll().await?.is_done() {}
//!
//! for (key, reply) in spool.collect()? {
//!     assert!(keys.contains(&key) && reply?.text().starts_with("echo:"));
//! }
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! A program that is written for single calls makes them through [`BatchCalls`].
//!
//! A program in several phases submits the requests of each phase when it knows them; [`Spool::collect`] returns the results
//! of those that this process submitted, each once. Equal requests of one submission differ by their order,
//! those of several need a different [`Request::replay_key`](crate::Request::replay_key).
//!
//! # The file
//!
//! Each line is a JSON object with `schema_version`, `t` and one of `spool`, `planned`, `submitting`, `submitted`, `result` and
//! `closed`. A batch that was begun and not submitted, by the file, may be at the server: it is looked for there by the label
//! `orrery_spool`, or where batches have no labels by its time, its size and the keys of its results. Its requests are submitted
//! again once a process has found none for 10 minutes. The process that opens a file again uses the same server and account.
//!
//! A process submits the requests that it was asked for. Those of an earlier one wait until they are submitted again, and the
//! batches of an earlier one are looked at in any case. Results that are not complete are waited for 10 minutes; then the
//! requests without one go into another batch, at most three times in a process. A request whose batches ended without an
//! answer, or whose error is of the account or the model, is submitted again by the next process that asks for it.
//!
//! A batch that the server refuses as a whole is halved, down to single requests. The error of a single one is its result once
//! the server answers a later batch, or if there are at most two such requests. Otherwise the fault may be the account's:
//! [`Spool::poll`] returns the error, and its next call asks again.
//!
//! # Plain calls
//!
//! At a provider without batches each request is a call, which only its result brings into the file: a call under way when the
//! process ends, or the future of [`Spool::poll`] is dropped, is paid for and made again.
//! A call whose failure may pass, or whose reply cannot be read, is made again by the next process that asks for it.
//!
//! # Money
//!
//! The row of the model in the models table needs the factor of batches, `"multipliers": {"batch": "0.5"}`. The maximum cost
//! of a batch is reserved before it is submitted, and replaced by the cost of its results when it is over. With
//! [`Client::keep_ledger`](crate::Client::keep_ledger), called before [`Spool::open`], the reservation is in the run's ledger
//! until then, whichever process ends it.

mod calls;
mod courier;
mod fan_out;
mod file;
mod files;
mod form;
mod key;
mod line;
mod messages;
mod options;
mod outcome;
mod progress;
mod results;
mod search;
mod spool;
mod state;
mod submission;
mod visit;

pub use calls::BatchCalls;
pub use key::Key;
pub use options::BatchOptions;
pub use progress::Progress;
pub use spool::Spool;
