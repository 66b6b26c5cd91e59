//! What a caller passes to a run and gets back from it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::config::ConfigError;
use crate::format::Reason;
use crate::journal::{CallError, JournalError, MindInvocation, RoundEnd, RunInterrupted};
use crate::mind::MindError;
use crate::pool::{MindId, Round};
use crate::state::{RunState, StateError};

/// The time, as whoever runs the experiment has it. It is written beside what happened and decides nothing but the
/// cap on it.
pub trait EventClock: Send + Sync {
    /// The time of day.
    fn now(&self) -> Timestamp;

    /// Milliseconds since a moment of the clock's own choice; they never go back.
    fn monotonic_ms(&self) -> u64;
}

/// What decides when a run stops, beside its settings.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct RunControl {
    /// Stops the run: nothing new is begun, and what is under way is waited for, ten seconds at most.
    pub cancel: CancellationToken,
    /// Hold each request against what it should be before it is sent.
    pub check_leaks: bool,
    /// The signal that cancelled the run, such as `SIGTERM`, for the journal.
    pub signal: Arc<OnceLock<&'static str>>,
    /// Milliseconds that the run took in earlier processes; for the cap on time.
    pub spent_ms: u64,
}

impl Default for RunControl {
    fn default() -> Self {
        Self {
            cancel: CancellationToken::new(),
            check_leaks: true,
            signal: Arc::default(),
            spent_ms: 0,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum RunSummary {
    /// It is over.
    Ended {
        /// Why.
        stop_reason: String,
        /// Calls that failed for good.
        errors: u64,
    },
    /// It can go on.
    Interrupted(RunInterrupted),
}

/// What a round came to.
#[derive(Debug, Clone, PartialEq)]
pub enum RoundSummary {
    /// It ended.
    Ended(RoundEnd),
    /// The run stopped in it.
    Interrupted(RunInterrupted),
}

/// What is shown while a run goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A call failed for good, and that was written down.
    Failed(&'a CallError),
    /// A call was written down; with it its key in the protocol meter.
    Called(&'a MindInvocation, Reason),
    /// No call has come back for a second or more.
    Waiting {
        /// The round of the oldest call in flight.
        round: Round,
        /// Its mind.
        mind: MindId,
        /// The time since it began.
        since: Duration,
        /// The number of its attempt, from 1.
        attempt: u32,
    },
    /// A round was.
    Round(&'a RoundEnd, &'a RunState),
}

/// A run that cannot go on in this process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An event cannot be written. No call was begun after that.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An event does not follow from those before it: a fault of this program.
    #[error("the run contradicts itself")]
    State(#[from] StateError),
    /// A request is not what it should be, and was not sent.
    #[error("a request to mind {mind} in round {round} would tell more than it may: {what}")]
    Leak {
        /// In which round.
        round: Round,
        /// Of which mind.
        mind: MindId,
        /// What is different.
        what: String,
    },
    /// A run cannot have these settings. Nothing was written.
    #[error(transparent)]
    Settings(#[from] ConfigError),
    /// No request can be made.
    #[error("no request can be made")]
    Request(#[from] MindError),
}
