//! Run minds against a shared pool of messages and keep a journal that can be replayed.
//!
//! A few minds read messages from a pool, a few at a time, and may write new ones. They know neither each other nor the
//! time, and nothing tells them who wrote what. What survives is what somebody passes on.
//!
//! ```
//! use logosphere_core::config::parse_init;
//! use logosphere_core::journal::MemJournal;
//! use logosphere_core::verify::verify;
//! use logosphere_core::{
//!     EventClock, RunControl, Effective, ExperimentStart, Orchestrator, RequestTemplate, RunSummary, Settings, Transcript, local_mind,
//! };
//!
//! struct Noon;
//! impl EventClock for Noon {
//!     fn now(&self) -> jiff::Timestamp {
//!         jiff::Timestamp::UNIX_EPOCH
//!     }
//!     fn monotonic_ms(&self) -> u64 {
//!         0
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let settings = Settings::default().with(|settings| {
//!     (settings.provider, settings.model, settings.seed) = ("offline".into(), "copier".into(), 42);
//! });
//! let init = "notes for people\n---\nWho reads this?\n---\nSay it again.\n---\n\n---\n~init\n";
//! let init = parse_init(init.as_bytes(), settings.parse_mode, &settings.init_signature)?;
//!
//! // A program plays the minds. With a model it is `LlmMind::new(client, "openrouter")`.
//! let mind = local_mind("copier:mu=0.05", &settings.prompt())?;
//! let template = RequestTemplate::of(&mind, &settings, "local")?;
//! let seeds = init.stored(settings.stamp_seeds);
//! let start = ExperimentStart::new(Effective::new(settings, "example"), "run-1".into(), seeds, template);
//!
//! let journal = MemJournal::default(); // or `FileJournal`, which survives kill -9
//! let mut run = Orchestrator::start(start, mind, journal, Noon, RunControl::default())?;
//! let summary = run.run(&mut |_| {}).await?;
//! assert!(matches!(summary, RunSummary::Ended { errors: 0, .. }));
//!
//! // The journal alone makes the run again, byte for byte, and is what analyses read.
//! let journal = run.into_journal().bytes;
//! assert_eq!(verify(&journal[..])?.calls, 30);
//! let transcript = Transcript::read(&journal[..])?;
//! assert_eq!(transcript.messages.len(), 2 + 30);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! **The one decision.** A run is its events. [`state::RunState`] takes events in and says what must come next; whoever runs
//! writes an event and then takes it in, whoever resumes takes in what was written, and whoever replays holds each event
//! against the one that must be there. So there is one place where a sample is drawn, an answer read and a total
//! summed, and nothing that a run knows is anywhere but in its journal.
//!
//! The experimental boundary is a matter of types: a [`MindInput`] holds prompt text, model, token limit and options, and
//! has no place for a round, a name or a time. What goes out is compared with a template before it is sent.
//!
//! The crate reads no environment, clock or terminal: seed, [`EventClock`], paths and minds are passed in.
//!
//! Next: [`Settings`] and [`config`] for what can be set, [`Orchestrator`] for running, [`Mind`] for minds of one's own and
//! [`minds`] for those that need no model, [`experiment`] for directories, [`journal`] for events, [`parser`] for how
//! answers are read, [`replay`] and [`compare`] for proof, [`Transcript`] and [`Analysis`] for what
//! came of it, [`metrics`], [`lineage`] and [`nulls`] for its parts, [`export`] for other programs.

pub mod config;
pub mod experiment;
pub mod export;
pub mod format;
pub mod journal;
pub mod measures;
mod mind;
pub mod pool;
#[cfg(feature = "report")]
pub mod report;
mod run;
pub mod state;
pub mod verify;

pub use config::{Effective, Settings};
pub use journal::{ExperimentStart, MindReply, RequestTemplate, TokenUse};
#[cfg(feature = "llm")]
pub use mind::LlmMind;
pub use mind::{
    CallContext, LocalMind, LocalMindKind, LocalMindParameter, Mind, MindError, MindInput,
    MindSpecError, WireRequest, local_mind,
};
pub use pool::{MindId, Round};
pub use run::{EventClock, Orchestrator, Progress, RoundSummary, RunControl, RunError, RunSummary};
pub use verify::Transcript;
