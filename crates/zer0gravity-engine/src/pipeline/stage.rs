use jiff::Timestamp;
use llm_types::Usd;

use crate::model::{CallFacts, ModelError, ModelReply, Stop};
use crate::store::StoredAnswer;
use crate::{FailureKind, StageName, StageRecord, StageStatus, TokenUse};

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

/// The requests, the time and the cost of calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CallTally {
    /// Calls, also those answered from a store; failed ones too unless nothing was sent.
    pub calls: u32,
    /// Requests that were sent.
    pub attempts: u32,
    /// Requests that repeat a call after a failure.
    pub retries: u32,
    /// Milliseconds of waiting.
    pub elapsed_ms: u64,
    /// Tokens the replies report.
    pub usage: Option<TokenUse>,
    /// The time at which the first call began.
    pub started_at: Option<Timestamp>,
    /// The cost, as far as it is known.
    pub cost: Option<Usd>,
    /// Whether the cost of a reply is not known.
    pub unpriced: bool,
    /// The reason that the last reply ends.
    pub stop: Option<Stop>,
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
            status: if error.stops_unsent() {
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

impl ModelError {
    /// Whether the call was not made because the run had ended.
    pub(crate) fn stops_unsent(&self) -> bool {
        self.stopped
    }
}

impl CallTally {
    fn add_facts(&mut self, facts: &CallFacts) {
        self.attempts += facts.attempts;
        self.retries += facts.attempts.saturating_sub(1);
        self.elapsed_ms += facts.elapsed_ms;
        self.started_at = earlier(self.started_at, facts.started_at);
    }

    /// A call that was answered, or one that failed.
    pub(crate) fn add_call(&mut self, facts: &CallFacts, answered: bool) {
        self.calls += u32::from(answered || facts.attempts > 0);
        self.add_facts(facts);
    }

    pub(crate) fn add_reply(&mut self, reply: &ModelReply) {
        self.add_call(&reply.call, true);
        self.stop = Some(reply.stop.clone());
        if let Some(usage) = reply.usage {
            *self.usage.get_or_insert_default() += usage;
        }
        self.add_cost(reply.cost);
        self.unpriced |= reply.cost.is_none();
    }

    /// A call as a store holds it.
    pub(crate) fn add_answer(&mut self, answer: &StoredAnswer) {
        match answer {
            StoredAnswer::Reply(reply) => self.add_reply(reply),
            StoredAnswer::Count(count) => self.add_call(&count.call, true),
            StoredAnswer::Error(error) => self.add_call(&error.call, false),
        }
    }

    /// Adds calls that ran at the same time: the longer wait counts.
    pub(crate) fn merge_parallel(&mut self, other: &Self) {
        self.calls += other.calls;
        self.attempts += other.attempts;
        self.retries += other.retries;
        self.elapsed_ms = self.elapsed_ms.max(other.elapsed_ms);
        self.started_at = earlier(self.started_at, other.started_at);
        self.stop = self.stop.take().or_else(|| other.stop.clone());
        if let Some(usage) = other.usage {
            *self.usage.get_or_insert_default() += usage;
        }
        self.add_cost(other.cost);
        self.unpriced |= other.unpriced;
    }

    /// The cost of all calls; `None` if that of one is not known.
    pub fn usd(&self) -> Option<Usd> {
        self.cost.filter(|_| !self.unpriced)
    }

    fn add_cost(&mut self, cost: Option<Usd>) {
        if let Some(cost) = cost {
            self.cost = Some(self.cost.unwrap_or_default().saturating_add(cost));
        }
    }
}

fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}

impl<T> Stage<T> {
    /// As a result holds it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TokenCount;

    #[test]
    fn z50_totals_add_each_kind_of_answer() {
        let call = |attempts, elapsed_ms| CallFacts {
            elapsed_ms,
            attempts,
            ..CallFacts::default()
        };
        let reply = |cost: Option<i64>| {
            StoredAnswer::Reply(ModelReply {
                text: String::new(),
                stop: Stop::EndTurn,
                usage: Some(TokenUse {
                    input: 2,
                    output: 1,
                }),
                cost: cost.map(Usd),
                call: call(2, 10),
            })
        };
        let count = StoredAnswer::Count(TokenCount {
            tokens: 7,
            call: call(1, 5),
        });
        let failed = |attempts| {
            StoredAnswer::Error(ModelError {
                call: call(attempts, 1),
                ..ModelError::unsent(llm_types::ErrorClass::Network, "")
            })
        };
        let mut totals = CallTally::default();
        for answer in [reply(Some(3)), count, failed(3), failed(0)] {
            totals.add_answer(&answer);
        }
        // A call that was never sent is not a call.
        assert_eq!((totals.calls, totals.attempts, totals.retries), (3, 6, 3));
        assert_eq!((totals.elapsed_ms, totals.usd()), (17, Some(Usd(3))));
        totals.add_answer(&reply(None));
        assert_eq!((totals.cost, totals.usd()), (Some(Usd(3)), None));
    }
}
