//! The controls, the notices and the results of a run.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::config::ConfigError;
use crate::format::Reason;
use crate::journal::{CallError, JournalError, MindInvocation, RoundEnd, RunInterrupted};
use crate::mind::MindError;
use crate::pool::{MindId, Round};
use crate::verify::state::{RunState, StateError};

/// The controls of a run in this process, in addition to its settings.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct RunControl {
    /// Stops the run: no call is begun, and calls in flight get ten seconds to end.
    pub cancel: CancellationToken,
    /// Whether each request is compared with the expected one before it is sent.
    pub check_leaks: bool,
    /// Whether the run stops at the last call of a round in which every call failed; it can be resumed with that call.
    pub stop_unanswered: bool,
    /// The signal that cancelled the run, such as `SIGTERM`, for the journal.
    pub signal: Arc<OnceLock<&'static str>>,
    /// The milliseconds that the run took in earlier processes, for the wall-clock limit.
    pub spent_ms: u64,
    /// The wait before a failed call is made again with [`OnError::Wait`](crate::config::OnError::Wait), doubled after each
    /// further failure up to ten minutes. Zero for a replay, in which no time helps.
    pub first_wait: Duration,
}

impl Default for RunControl {
    fn default() -> Self {
        Self {
            cancel: CancellationToken::new(),
            check_leaks: true,
            stop_unanswered: false,
            signal: Arc::default(),
            spent_ms: 0,
            first_wait: Duration::from_mins(1),
        }
    }
}

/// The result of a run in this process.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a run ends or is interrupted")]
pub enum RunSummary {
    /// The run has ended.
    Ended {
        /// The rule that ended the run.
        stop_reason: String,
        /// The number of calls that failed after all their attempts.
        errors: u64,
    },
    /// The run was interrupted and can be resumed.
    Interrupted(RunInterrupted),
}

/// The result of a round.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RoundSummary {
    /// The round ended.
    Ended(RoundEnd),
    /// The run was interrupted in the round.
    Interrupted(RunInterrupted),
}

/// A progress notice of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A call failed after all its attempts, and its event was written.
    Failed(&'a CallError),
    /// The event of a call was written; the second field is its key in the protocol meter.
    Called(&'a MindInvocation, Reason),
    /// No call has returned for a second or more.
    Waiting {
        /// The round of the oldest call in flight.
        round: Round,
        /// The mind of the call.
        mind: MindId,
        /// The time since it began.
        since: Duration,
        /// The number of its attempt, from 1.
        attempt: u32,
    },
    /// A call failed, and is made again after a wait. No event is written.
    Delayed {
        /// The round of the call.
        round: Round,
        /// The mind of the call.
        mind: MindId,
        /// The failure, with all attempts of the call.
        error: &'a MindError,
        /// The wait.
        wait: Duration,
    },
    /// The event of a round's end was written.
    Round(&'a RoundEnd, &'a RunState),
}

/// The error that ends a run in this process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An event cannot be written. No call was begun after it.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An event does not follow from those before it, which is a defect of this program.
    #[error("the run contradicts itself")]
    State(#[from] StateError),
    /// A request differs from the expected one and was not sent.
    #[error(
        "a request to mind {mind} in round {round} differs from the expected one and was not sent: {what}"
    )]
    Leak {
        /// The round, from 1.
        round: Round,
        /// The mind, from 0.
        mind: MindId,
        /// The difference.
        what: String,
    },
    /// The settings are not allowed for a run. Nothing was written.
    #[error(transparent)]
    Settings(#[from] ConfigError),
    /// The mind cannot build a request.
    #[error("no request can be made")]
    Request(#[from] MindError),
}
