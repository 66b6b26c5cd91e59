use jiff::Timestamp;
use llm_types::{StopReason, Usd};

use super::messages::{CallFacts, ModelReply};
use super::outcome::TokenUse;

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
    pub stop: Option<StopReason>,
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
