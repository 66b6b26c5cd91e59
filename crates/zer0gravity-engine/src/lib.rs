//! Encode a text, let a fresh agent decode it, score the round trip on 100 points.
//!
//! The input is a text and rules, an *encoding system*. One model call encodes the text, a second one decodes it without access to
//! the original, and a rubric scores the pair: 40 points for token efficiency, 40 for semantic preservation, 15 for learnability
//! and 5 for implementability. The crate is the judge, not a contestant.
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
//! // Asks no model. With one it would be `LlmClient::new(client, label)`, with a client of `llm-client`.
//! let client = OfflineModel;
//! let level = Level::find(1).unwrap();
//! let rules = EncodingSystem::new("default", None, DEFAULT_RULES);
//! let cases = level.cases().into_iter().map(|case| PlannedCase::new(case).level(Some(1))).collect();
//! let config = Config::new(client.label(), OfflineModel::NAME);
//! let plan = Plan::new(vec![rules], cases, config);
//! let counter = Tokenizers::default();
//! // Time comes from outside: a `SystemClock` in a program, one that stands still here.
//! let clock = FixedClock(SystemTime::UNIX_EPOCH);
//! // With `.store(..)` a `JsonlStore` keeps calls on the disk: a run that stops is then resumed without paying twice.
//! let runner = Runner::new(Context::new(&client, &clock, &counter));
//! let report = runner.run(&plan, &mut |_| {}).await.unwrap();
//!
//! let first = &report.results[0];
//! assert_eq!(first.encoded_text.as_deref(), Some("Hll wrld!"));
//! assert_eq!(first.decoded_text.as_deref(), Some("Hello world!"));
//! // The signs of the default rules cost more tokens than the words they stand for.
//! assert_eq!(first.scores.unwrap().token_efficiency, 0);
//! assert!(first.offline);
//! # });
//! ```
//!
//! **The one decision.** A result never holds an invented number. A judge's reply that cannot be read is asked for once
//! more and is then `unparseable`; a failed stage ends its experiment with what it has, without scores; token numbers come from
//! one source, which is named; a suspicion is a flag and changes no score. The scoring core (arithmetic,
//! parsers, metrics, statistics, flags) is plain functions without I/O; models, time and stores come in as traits.
//!
//! Next: [`judge::score::score_all`] and [`judge::parse_judge_reply`] for the rubric alone, [`Runner`] for the calls, for texts of
//! other tools too, [`run`] for runs in a directory, [`judge::flags::detect`] for flags, [`rules::lint::lint`] for rules before they are
//! used, [`report::RunReport`] for the results of a run.

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
pub use model::llm::LlmClient;
pub use model::outcome::{Outcome, StageName, StageRecord, StageStatus, TokenUse};
pub use result::experiment::ExperimentResult;
pub use rules::offline::OfflineModel;
pub use run::context::Context;
pub use run::runner::{RunError, RunEvent, Runner};

/// The encoding system that is used when none is given.
pub const DEFAULT_RULES: &str = include_str!("data/default_rules.txt");
