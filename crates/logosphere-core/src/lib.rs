//! Run minds against a shared pool of messages and keep a journal that can be verified.
//!
//! A mind is one agent: a model call that reads a few messages of the pool and may write new ones. Minds are anonymous
//! and have no memory. A message survives only if minds pass it on.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use llm_types::FixedClock;
//! use logosphere_core::config::parse_init;
//! use logosphere_core::journal::MemJournal;
//! use logosphere_core::verify::verify;
//! use logosphere_core::{
//!     Effective, ExperimentStart, Orchestrator, RequestTemplate, RunControl, RunSummary, Settings, Transcript,
//!     local_mind,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let settings = Settings::default().with(|settings| {
//!     (settings.provider, settings.model, settings.seed) = ("offline".into(), "copier".into(), 42);
//! });
//! let init = "notes for people\n---\nWho reads this?\n---\nSay it again.\n---\n\n---\n~init\n";
//! let init = parse_init(init.as_bytes(), settings.parse_mode, &settings.init_signature)?;
//!
//! // A scripted mind. A mind that calls a model is `LlmMind::new(client, "openrouter")`.
//! let mind = local_mind("copier:mu=0.05", &settings.prompt())?;
//! let template = RequestTemplate::of(&mind, &settings, "local")?;
//! let seeds = init.stored(settings.stamp_seeds);
//! let start = ExperimentStart::new(Effective::new(settings, "example"), "run-1".into(), seeds, template);
//!
//! let journal = MemJournal::default(); // or `FileJournal`, which survives kill -9
//! let clock = FixedClock(SystemTime::UNIX_EPOCH); // or `SystemClock`
//! let mut run = Orchestrator::start(start, mind, journal, clock, RunControl::default())?;
//! let summary = run.run(&mut |_| {}).await?;
//! assert!(matches!(summary, RunSummary::Ended { errors: 0, .. }));
//!
//! // The run can be rebuilt from the journal alone, byte for byte. Analyses read the journal, too.
//! let journal = run.into_journal().bytes;
//! assert_eq!(verify(&journal[..])?.calls, 30);
//! let transcript = Transcript::read(&journal[..])?;
//! assert_eq!(transcript.messages.len(), 2 + 30);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! **The one decision.** The state of a run follows from its events alone. [`verify::state::RunState`] applies events and returns
//! the next step. A run writes an event and then applies it, a resumed run applies the events of its journal, and a
//! verification compares each event with the expected one. So samples are drawn, answers parsed and totals summed in one
//! place.
//!
//! The experimental boundary is enforced by types. A [`MindInput`] contains prompt text, model, token limit and options,
//! and has no field for a round, a name or a time. Each request is compared with a template before it is sent.
//!
//! The crate reads no environment, clock or terminal: seed, [`Clock`](llm_types::Clock), paths and minds are parameters.
//!
//! Read next:
//! - [`Settings`] and [`config`] for the settings and `init.md`,
//! - [`Orchestrator`] for running, [`Mind`] for custom minds, [`local_mind`] for scripted minds,
//! - [`experiment`] for directories, [`journal`] for events, [`verify`] for the checks of a journal,
//! - [`format`](mod@format) for prompts and the parser,
//! - [`Transcript`] and [`measures`] for the results, [`export`] for other programs,
//! - [`import`] for messages of other programs.
//!
//! `DESIGN.md` of the package has the design decisions with their reasons.

#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]

pub mod config;
pub mod experiment;
pub mod export;
pub mod format;
pub mod import;
pub mod journal;
pub mod measures;
mod mind;
pub mod pool;
#[cfg(feature = "report")]
pub mod report;
mod run;
pub mod study;
pub mod verify;

pub use config::settings::{Effective, Settings};
pub use journal::event::{ExperimentStart, RequestTemplate};
pub use journal::reply::{MindReply, TokenUse};
#[cfg(feature = "llm")]
pub use mind::LlmMind;
pub use mind::{
    CallContext, LocalMind, LocalMindKind, LocalMindParameter, Mind, MindError, MindInput,
    MindSpecError, MixedMinds, RecordedMind, RecordedReplies, WireRequest, local_mind,
};
pub use pool::number::{MindId, Round};
pub use run::{Orchestrator, Progress, RoundSummary, RunControl, RunError, RunSummary};
pub use verify::transcript::Transcript;
