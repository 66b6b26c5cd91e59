use jiff::Timestamp;
use llm_types::Usd;

use crate::model::{CallFacts, ModelError, ModelReply, Stop};
use crate::store::StoredAnswer;
use crate::{FailureKind, StageName, StageRecord, StageStatus, TokenUse};

/// What a stage gave, and what it took.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stage<T> {
    /// What it gave, or how it ended.
    pub value: Result<T, StageFailure>,
    /// What it took.
    pub tally: CallTally,
}

/// How a stage ended that gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageFailure {
    /// Never `ok`.
    pub status: StageStatus,
    /// See [`crate::Outcome::kind`].
    pub kind: Option<FailureKind>,
    /// What happened, for people.
    pub detail: String,
}

/// What calls took.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CallTally {
    /// Calls, whoever answered them; failed ones too unless nothing was sent.
    pub calls: u32,
    /// Requests that were sent.
    pub attempts: u32,
    /// Those of them that repeat a call after a failure.
    pub retries: u32,
    /// Milliseconds of waiting.
    pub elapsed_ms: u64,
    /// Tokens the replies report.
    pub usage: Option<TokenUse>,
    /// When the first began.
    pub started_at: Option<Timestamp>,
    /// The cost, as far as it is known.
    pub cost: Option<Usd>,
    /// A reply did not tell what it cost.
    pub unpriced: bool,
    /// Why the last reply ends.
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
    /// The model replied, and the reply is of no use.
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
    /// The call was not made because the run had come to its end.
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

    /// Takes in what ran beside this: the longer wait counts.
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
