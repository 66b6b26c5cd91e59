use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::CallKey;
use crate::FailureKind;
use crate::model::{CallFacts, CallTally, Endpoint, ModelError, ModelReply, Repeat, TokenCount};
use crate::prompts::Role;
use crate::text::setters::setters;

/// The version of a line.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// A call and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord {
    /// The version of this form.
    pub schema_version: u32,
    /// The key of the request.
    pub key: CallKey,
    /// The endpoint of the call.
    pub endpoint: Endpoint,
    /// The role that was asked; `None` for a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The model's id.
    pub model: String,
    /// The repeat numbers, for people: they are part of the key.
    #[serde(default)]
    pub repeat: Repeat,
    /// The answer.
    #[serde(flatten)]
    pub answer: StoredAnswer,
}

impl CallRecord {
    /// The record of a call to `model`, without a role and repeat numbers.
    pub fn new(
        key: CallKey,
        endpoint: Endpoint,
        model: impl Into<String>,
        answer: StoredAnswer,
    ) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            key,
            endpoint,
            role: None,
            model: model.into(),
            repeat: Repeat::default(),
            answer,
        }
    }

    setters! {
        role: Option<Role>,
        repeat: Repeat,
    }
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoredAnswer {
    /// A reply; refusals and cut ones too.
    Reply(ModelReply),
    /// A number of tokens.
    Count(TokenCount),
    /// A failure: kept for people, and asked again.
    Error(ModelError),
}

impl CallRecord {
    /// Whether the record answers an equal call when the run is resumed.
    pub(crate) fn is_reusable(&self) -> bool {
        match &self.answer {
            StoredAnswer::Reply(_) | StoredAnswer::Count(_) => true,
            // An experiment continues without a count, and its numbers must stay what they are. A server that was never
            // asked, as in a rescore, may still be.
            StoredAnswer::Error(error) => {
                let told = error.counts_nothing() || error.call.attempts > 0;
                self.endpoint == Endpoint::CountTokens && error.is_optional_count() && told
            }
        }
    }
}

impl StoredAnswer {
    /// Adds the call to `totals`.
    pub(super) fn add_to(&self, totals: &mut CallTally) {
        match self {
            Self::Reply(reply) => totals.add_reply(reply),
            Self::Count(count) => totals.add_call(&count.call, true),
            Self::Error(error) => totals.add_call(&error.call, false),
        }
    }

    /// Whether it was not sent because it could have cost more than is left.
    pub(super) fn is_beyond_the_cap(&self) -> bool {
        matches!(self, Self::Error(error) if error.kind.is_cap() && error.call.attempts == 0)
    }

    /// The time at which the call began, if it was sent.
    pub(crate) fn started_at(&self) -> Option<Timestamp> {
        match self {
            Self::Reply(reply) => reply.call.started_at,
            Self::Count(count) => count.call.started_at,
            Self::Error(error) => error.call.started_at,
        }
    }

    /// The requests and the time of the call.
    pub(super) fn facts_mut(&mut self) -> &mut CallFacts {
        match self {
            Self::Reply(reply) => &mut reply.call,
            Self::Count(count) => &mut count.call,
            Self::Error(error) => &mut error.call,
        }
    }
}

impl ModelError {
    /// Whether an experiment continues without this count.
    pub(crate) fn is_optional_count(&self) -> bool {
        !self.stopped && !self.kind.ends_run(Endpoint::CountTokens)
    }

    /// The server has no such route, or only guesses: it will not count the next text either.
    pub(crate) fn counts_nothing(&self) -> bool {
        self.kind == FailureKind::NoExactCount || matches!(self.status, Some(404 | 405 | 501))
    }
}

/// The record of a count of 7 tokens.
#[cfg(test)]
pub(super) fn sample_count(text: &str) -> std::sync::Arc<CallRecord> {
    let label = crate::model::ModelLabel {
        provider: "p".to_owned(),
        host: String::new(),
        offline: false,
    };
    let request = crate::model::CountRequest {
        model: "m".to_owned(),
        text: text.to_owned(),
    };
    std::sync::Arc::new(CallRecord {
        schema_version: SCHEMA_VERSION,
        key: CallKey::of_count(&request, &label),
        endpoint: Endpoint::CountTokens,
        role: None,
        model: request.model,
        repeat: Repeat::default(),
        answer: StoredAnswer::Count(TokenCount {
            tokens: 7,
            call: CallFacts::default(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use llm_types::{StopReason, Usd};

    use super::*;
    use crate::TokenUse;

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
                stop: StopReason::EndTurn,
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
            answer.add_to(&mut totals);
        }
        // A call that was never sent is not a call.
        assert_eq!((totals.calls, totals.attempts, totals.retries), (3, 6, 3));
        assert_eq!((totals.elapsed_ms, totals.usd()), (17, Some(Usd(3))));
        reply(None).add_to(&mut totals);
        assert_eq!((totals.cost, totals.usd()), (Some(Usd(3)), None));
    }
}
