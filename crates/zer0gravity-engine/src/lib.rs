//! Encode a text, decode it in a fresh context, score the round trip on 100 points.
//!
//! The input is a text and rules, an *encoding system*. One model call encodes the text, a second one decodes it without access to
//! the original, and a rubric scores the pair: 40 points for token efficiency, 40 for semantic preservation, 15 for learnability
//! and 5 for implementability.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use llm_types::FixedClock;
//! use zer0gravity_engine::dataset::Level;
//! use zer0gravity_engine::plan::{Config, EncodingSystem, Plan, PlannedCase};
//! use zer0gravity_engine::{Context, DEFAULT_RULES, ModelClient, OfflineModel, Runner, Tokenizers};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! // This client calls no model. For a model it is `LlmModelClient::new(client, label)`, with a client of `llm-client`.
//! let client = OfflineModel;
//! let level = Level::find(1).unwrap();
//! let rules = EncodingSystem::new("default", None, DEFAULT_RULES);
//! let cases = level.cases().into_iter().map(|case| PlannedCase::new(case).level(Some(1))).collect();
//! let config = Config::new(client.label(), OfflineModel::NAME);
//! let plan = Plan::new(vec![rules], cases, config);
//! let counter = Tokenizers::default();
//! // A clock that always shows the same time. A program passes a `SystemClock`.
//! let clock = FixedClock(SystemTime::UNIX_EPOCH);
//! // With `.store(..)` a `JsonlStore` keeps calls on the disk, so that a resumed run does not pay for them twice.
//! let runner = Runner::new(Context::new(&client, &clock, &counter));
//! let report = runner.run(&plan, &mut |_| {}).await.unwrap();
//!
//! let first = &report.results[0];
//! assert_eq!(first.encoded_text.as_deref(), Some("Hll wrld!"));
//! assert_eq!(first.decoded_text.as_deref(), Some("Hello world!"));
//! // The signs of the default rules have more tokens than the words that they replace.
//! assert_eq!(first.scores.unwrap().token_efficiency, 0);
//! assert!(first.offline);
//! # });
//! ```
//!
//! **The one decision.** A result never contains an invented number:
//!
//! - If a judge's reply has no score, the judge is asked once more. After a second such reply the result is `unparseable`.
//! - A failed stage ends its experiment. The result keeps the texts and numbers so far, and has no scores.
//! - Both token numbers come from the same source, which the result names.
//! - A suspicion is a flag and changes no score.
//!
//! The scoring core (arithmetic, parsers, metrics, statistics, flags) is plain functions without I/O. Models, clocks and stores are
//! traits.
//!
//! Read next: [`judge::score::score_all`] and [`judge::parse_judge_reply`] for the rubric alone, [`Runner`] for experiments and for
//! texts of other tools, [`run`] for runs in a directory, [`judge::flags::detect`] for flags, [`rules::lint::lint`] for checks of
//! rules, [`report::RunReport`] for the results of a run.
//!
//! `DESIGN.md` of the package has the design decisions with their reasons.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

pub mod calibration;
pub mod dataset;
pub mod judge;
pub mod metrics;
pub mod model;
pub mod plan;
pub mod prompts;
pub mod report;
pub mod result;
pub mod rules;
pub mod run;
pub mod store;
pub mod text;

pub use metrics::tokens::{LocalCounter, TokenCounter, TokenSource, Tokenizers};
pub use model::client::ModelClient;
pub use model::failure_kind::FailureKind;
#[cfg(feature = "llm")]
pub use model::llm::LlmModelClient;
pub use model::outcome::{Outcome, StageName, StageRecord, StageStatus, TokenUse};
pub use result::experiment::ExperimentResult;
pub use rules::offline::OfflineModel;
pub use run::context::Context;
pub use run::runner::{RunError, RunEvent, Runner};

/// The encoding system that is used when none is given.
pub const DEFAULT_RULES: &str = include_str!("data/default_rules.txt");
