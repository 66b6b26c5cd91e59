use crate::model::{CallTally, ModelError};
use crate::{FailureKind, StageName, StageRecord, StageStatus};

/// The result of a stage, and its calls.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stage<T> {
    /// The result, or the failure.
    pub value: Result<T, StageFailure>,
    /// The calls of the stage.
    pub tally: CallTally,
}

/// The end of a stage without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageFailure {
    /// The status, which is never `ok`.
    pub status: StageStatus,
    /// The kind of the failure, as in [`crate::Outcome::kind`].
    pub kind: Option<FailureKind>,
    /// The cause, for people.
    pub detail: String,
}

impl StageFailure {
    pub(crate) fn new(status: StageStatus, detail: impl Into<String>) -> Self {
        Self {
            status,
            kind: None,
            detail: detail.into(),
        }
    }
}

impl StageFailure {
    /// Whether the model replied, and the reply is of no use.
    pub(super) fn is_of_a_reply(&self) -> bool {
        match self.status {
            StageStatus::Refused
            | StageStatus::Truncated
            | StageStatus::Empty
            | StageStatus::Unparseable => true,
            StageStatus::Ok
            | StageStatus::ApiError
            | StageStatus::UnsupportedOffline
            | StageStatus::NotRun => false,
        }
    }
}

impl From<ModelError> for StageFailure {
    fn from(error: ModelError) -> Self {
        Self {
            status: if error.stopped {
                StageStatus::NotRun
            } else if error.kind == FailureKind::UnsupportedOffline {
                StageStatus::UnsupportedOffline
            } else {
                StageStatus::ApiError
            },
            kind: Some(error.kind),
            detail: error.message,
        }
    }
}

impl<T> Stage<T> {
    /// Returns the stage as a result has it.
    pub fn record(&self, stage: StageName) -> StageRecord {
        StageRecord {
            stage,
            status: self
                .value
                .as_ref()
                .map_or_else(|failure| failure.status, |_| StageStatus::Ok),
            stop_reason: self
                .tally
                .stop
                .as_ref()
                .map(|stop| stop.as_str().to_owned()),
            attempts: self.tally.attempts,
            elapsed_ms: self.tally.elapsed_ms,
            usage: self.tally.usage,
        }
    }
}
