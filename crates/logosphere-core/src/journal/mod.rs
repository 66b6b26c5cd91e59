//! The journal: one event per line, with a hash over all lines up to it, and a spool of answers without an event.

mod call;
pub(crate) mod event;
mod failure;
mod file;
mod fork;
mod line;
mod open;
mod pending;
mod read;
pub(crate) mod reply;
mod sink;
mod whole_lines;

pub use file::FileJournal;
pub(crate) use line::encode;
pub use open::open_journal;
pub use pending::{PendingReply, read_spool};
pub use read::{CorruptionKind, Entry, ReadError, Reader, is_legacy};
pub(crate) use reply::{MindReply, TokenUse, dollars, usd};
pub use sink::{JournalError, JournalSink, MemJournal};
pub(crate) use whole_lines::WholeLines;

pub use call::{AttemptFacts, MindInvocation, ParseFacts};
pub use event::{
    CallError, Event, ExperimentEnd, InterruptCause, Line, OwnTotals, Parameters, Protocol,
    RngFacts, RoundEnd, RoundStart, RunInterrupted, RunResumed, SCHEMA_VERSION, SeedText,
    TokenTotals,
};
pub(crate) use event::{ExperimentStart, RequestTemplate};
pub use failure::FailureClass;
pub(crate) use failure::{may_cost, may_pass};
pub use fork::{ForkArm, Forked, Intervention, InterventionChange, fork_seed};
