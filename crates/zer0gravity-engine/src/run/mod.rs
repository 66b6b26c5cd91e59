//! Runs in a directory: estimate, begin, resume and rescore them.
//!
//! A directory holds the frozen plan, every call, the report and a lock. A resumed run does not pay for a stored call again.
//! [`Estimate`] has the number and the cost of a plan's calls before the first one.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use llm_types::FixedClock;
//! use tokio_util::sync::CancellationToken;
//! use zer0gravity_engine::dataset::Level;
//! use zer0gravity_engine::plan::{Config, Plan, PlannedCase, EncodingSystem};
//! use zer0gravity_engine::run::{ChangedCalls, RescoreOptions, RunDirectory, RunNotes};
//! use zer0gravity_engine::{Context, DEFAULT_RULES, ModelClient, OfflineModel, Runner, Tokenizers};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("run");
//! let rules = EncodingSystem::new("default", None, DEFAULT_RULES);
//! let cases = Level::find(1).unwrap().cases();
//! let cases = cases.into_iter().map(|case| PlannedCase::new(case).level(Some(1))).collect();
//! let plan = Plan::new(vec![rules], cases, Config::new(OfflineModel.label(), OfflineModel::NAME));
//! let counter = Tokenizers::default();
//! let clock = FixedClock(SystemTime::UNIX_EPOCH);
//! let runner = || Runner::new(Context::new(&OfflineModel, &clock, &counter));
//!
//! // Stopped before its first experiment: the report says what was not run.
//! let directory = RunDirectory::create(&path, &plan, RunNotes::default(), &clock)?;
//! let stop = CancellationToken::new();
//! stop.cancel();
//! let stopped = directory.resume(runner().cancel(stop), ChangedCalls::Refuse, &mut |_| {}).await?;
//! assert!(!stopped.results[0].outcome.is_ok());
//! drop(directory); // and with it the lock
//!
//! // Later, or in another process: answered calls are not made again.
//! let mut directory = RunDirectory::open(&path)?;
//! assert_eq!(directory.plan(), &plan);
//! let report = directory.resume(runner(), ChangedCalls::Refuse, &mut |_| {}).await?;
//! assert!(report.results[0].outcome.is_ok());
//!
//! let rescore = directory.plan_rescore(&RescoreOptions::default())?;
//! let rescored = directory.rescore(rescore, runner(), &mut |_| {}).await?;
//! assert_eq!(rescored.unjudged, 0);
//! assert_eq!(rescored.report.results[0].total, report.results[0].total);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod calls;
pub(crate) mod context;
mod directory;
mod error;
mod estimate;
mod label_file;
pub mod pipeline;
mod record;
mod rescore;
mod resume;
pub(crate) mod runner;
mod view;

pub use calls::{CallTokens, JUDGE_REPLY_TOKENS, PlannedCall};
pub use directory::{RunDirectory, RunNotes};
pub use error::DirectoryError;
pub use estimate::{CallCounts, Estimate};
pub use label_file::LabelFile;
pub use rescore::{Rescore, RescoreOptions, Rescored};
pub use resume::ChangedCalls;
pub use view::RunView;
