//! Run minds against a shared pool of messages and keep a journal that can be replayed.

mod clock;
mod event;
mod hash;
mod init;
mod mind;
mod minds;
pub mod nulls;
mod parser;
mod pool;
mod prompt;
mod sampler;
mod settings;
mod stamp;
mod transcript;

pub use clock::Clock;
pub use event::{
    AttemptFacts, CallError, Event, ExperimentEnd, ExperimentStart, Line, MindInvocation,
    Parameters, ParseFacts, Protocol, RequestTemplate, RngFacts, RoundEnd, RoundStart,
    RunInterrupted, RunResumed, SeedText, TokenTotals,
};
pub use init::{Init, InitError, InitWarning, parse_init};
pub use mind::{Mind, MindError, MindInput, MindReply, Side, TokenUse, WireRequest};
pub use minds::{LocalMind, MindSpecError, local_mind};
pub use parser::{End, Note, ParseMode, Parsed, Reason, Spans, parse, parse_signed};
pub use pool::{ActiveView, Keep, MsgId, Origin, Pool, PoolError};
pub use prompt::{Prompt, PromptRole, SystemPrompt, format_prompt};
pub use sampler::{SampleRng, sample_rng};
pub use settings::{
    Caps, Durability, Effective, Impersonation, KeepSetting, ModelSettings, OnError, Options,
    Scheduling, Settings, StopRules,
};
pub use transcript::{Call, Message, Round, Transcript};
