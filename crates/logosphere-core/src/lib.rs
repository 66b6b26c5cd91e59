//! Run minds against a shared pool of messages and keep a journal that can be replayed.

mod clock;
mod compare;
pub mod config;
mod event;
mod hash;
mod init;
pub mod journal;
pub mod lineage;
#[cfg(feature = "llm")]
mod llm;
pub mod metrics;
mod mind;
mod minds;
mod orchestrator;
mod parser;
mod pool;
mod prompt;
mod replay;
mod resume;
mod sampler;
mod settings;
mod stamp;
mod state;
mod template;
mod transcript;

pub use clock::Clock;
pub use compare::{Comparison, Difference, compare};
pub use config::{ConfigError, Layer, read_config};
pub use event::{
    AttemptFacts, CallError, Event, ExperimentEnd, ExperimentStart, Line, MindInvocation,
    Parameters, ParseFacts, Protocol, RequestTemplate, RngFacts, RoundEnd, RoundStart,
    RunInterrupted, RunResumed, SeedText, TokenTotals,
};
pub use init::{Init, InitError, InitWarning, parse_init};
pub use journal::{FileJournal, JournalError, JournalSink, MemJournal, ReadError, Reader, Spooled};
#[cfg(feature = "llm")]
pub use llm::LlmMind;
pub use mind::{Mind, MindError, MindInput, MindReply, Side, TokenUse, WireRequest};
pub use minds::{LocalMind, MindSpecError, local_mind};
pub use orchestrator::{Control, Orchestrator, Progress, RoundSummary, RunError, RunSummary};
pub use parser::{End, Note, ParseMode, Parsed, Reason, Spans, is_signature, parse, parse_signed};
pub use pool::{ActiveView, Keep, MsgId, Origin, Pool, PoolError};
pub use prompt::{Prompt, PromptRole, SystemPrompt, format_prompt};
pub use replay::{ReplayError, ReplayReport, replay, replay_to};
pub use resume::{ResumeError, Resumption};
pub use sampler::{ALGORITHM as SAMPLE_ALGORITHM, SampleRng, sample_rng};
pub use settings::{
    Caps, Durability, Effective, Impersonation, KeepSetting, ModelSettings, OnError, Options,
    Scheduling, Settings, StopRules,
};
pub use state::{Outcome, Planned, State, StateError, Step};
pub use transcript::{Call, Message, Round, Transcript};
