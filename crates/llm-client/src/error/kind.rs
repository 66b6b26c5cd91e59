use std::time::Duration;

use llm_types::{ErrorClass, Reply};

use super::parts::{Amount, ConnectPhase, TimeoutPhase, UnavailableModel};

/// The kind of a failure, shown in one line without its cause. No variant contains a key.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The connection failed or was interrupted.
    #[error("{phase}")]
    Connect {
        /// The phase of the connection.
        phase: ConnectPhase,
    },
    /// The server was silent for too long.
    #[error("no {phase} within {} s", after.as_secs_f64())]
    Timeout {
        /// The phase that timed out.
        phase: TimeoutPhase,
        /// The limit.
        after: Duration,
    },
    /// The server answered with an error without a more specific variant.
    #[error("HTTP {status}{}: {message}", named(*status, kind.as_ref(), code.as_ref()))]
    Api {
        /// The HTTP status, or the code of an error inside a 200.
        status: u16,
        /// The error's type in the provider's words.
        kind: Option<String>,
        /// The error's code in the provider's words.
        code: Option<String>,
        /// The provider's message, or the start of the body (at most 2 KiB); redacted.
        message: String,
        /// Whether the account's quota is used up, so that waiting does not help.
        quota: bool,
    },
    /// The key is missing, wrong, or not allowed to do this.
    #[error("HTTP {status}, the key is missing or not accepted: {message}")]
    Auth {
        /// The HTTP status, 401 or 403.
        status: u16,
        /// The provider's message; redacted.
        message: String,
    },
    /// The provider does not serve this model.
    #[error("{0}")]
    ModelUnavailable(Box<UnavailableModel>),
    /// Too many requests or tokens.
    #[error("HTTP {status}, {}: {message}", if *quota { "the quota is used up" } else { "rate limited" })]
    RateLimited {
        /// The HTTP status 429, or the code of an error inside a 200.
        status: u16,
        /// The provider's message; redacted.
        message: String,
        /// Whether the account's quota is used up, so that waiting does not help.
        quota: bool,
    },
    /// The provider has no capacity now.
    #[error("HTTP {status}, overloaded: {message}")]
    Overloaded {
        /// The HTTP status, usually 529.
        status: u16,
        /// The provider's message; redacted.
        message: String,
    },
    /// The provider asks for a longer wait than the policy allows.
    #[error("the server asks to wait {} s, longer than allowed", asked.as_secs_f64())]
    RetryAfterTooLong {
        /// The wait that the provider asks for.
        asked: Duration,
    },
    /// A reply with status 200 that cannot be read.
    #[error("the reply cannot be read: {what}")]
    BadResponse {
        /// The problem, with at most 2 KiB of the reply, redacted.
        what: String,
    },
    /// A stream ended before its last event.
    #[error("the stream was interrupted after {} blocks", partial.content.len())]
    StreamTruncated {
        /// The content so far. Its tool calls must not be run.
        partial: Box<Reply>,
    },
    /// A server breaks the protocol.
    #[error("the server breaks the protocol: {what}")]
    Protocol {
        /// The violation.
        what: String,
    },
    /// A reply, or a line of a stream, is longer than allowed.
    #[error("the {what} is longer than {limit} bytes")]
    TooLarge {
        /// The thing that is too long.
        what: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// The request cannot be sent as it is. Nothing was sent.
    #[error("{field}: {why}")]
    Refused {
        /// The field of the request.
        field: String,
        /// The problem and its remedy.
        why: String,
    },
    /// The call could pass a cap of the budget. Nothing was sent (by this attempt).
    #[error(
        "the budget of {cap} does not allow this call: {spent} spent or reserved, up to {wanted} wanted"
    )]
    BudgetExceeded {
        /// The cap.
        cap: Amount,
        /// The amount spent, including reservations of calls under way.
        spent: Amount,
        /// The maximum amount of this call.
        wanted: Amount,
    },
    /// A cap in dollars is set and this model has no known price.
    #[error(
        "the price of {model} is not known, so the cap cannot be kept: add it to the models table or set what to assume"
    )]
    PriceUnknown {
        /// The model.
        model: String,
    },
    /// The cassette does not hold this request.
    #[error("not in the cassette: {diff}")]
    ReplayMiss {
        /// The differences to the nearest entry, field by field.
        diff: String,
    },
    /// A cassette cannot be read or written.
    #[error("cassette{}: {what}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Cassette {
        /// The line, from 1.
        line: Option<usize>,
        /// The problem.
        what: String,
    },
    /// The time for the whole call is over, or would be before the next attempt. The source is the last error before.
    #[error("out of time")]
    Deadline,
    /// The caller cancelled the call.
    #[error("cancelled")]
    Cancelled,
}

/// The provider's error type, unless it only repeats the status.
fn named(status: u16, kind: Option<&String>, code: Option<&String>) -> String {
    let status = status.to_string();
    kind.or(code)
        .filter(|name| **name != status)
        .map(|name| format!(" {name}"))
        .unwrap_or_default()
}

impl ErrorKind {
    /// The class of every failure of this kind.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Api { quota: true, .. } | Self::RateLimited { quota: true, .. } => {
                ErrorClass::Quota
            }
            Self::Auth { .. } => ErrorClass::Auth,
            Self::ModelUnavailable(_) => ErrorClass::ModelUnavailable,
            Self::RateLimited { .. } | Self::RetryAfterTooLong { .. } => ErrorClass::RateLimit,
            Self::Overloaded { .. } => ErrorClass::Overloaded,
            Self::Api { status, .. } if *status >= 500 => ErrorClass::Server,
            // 408: the request was not whole or not answered in time, and nothing is wrong with it.
            Self::Api { status: 408, .. } | Self::Timeout { .. } | Self::Deadline => {
                ErrorClass::Timeout
            }
            Self::Api { .. } | Self::Refused { .. } => ErrorClass::BadRequest,
            Self::Connect { .. } => ErrorClass::Network,
            Self::BadResponse { .. }
            | Self::StreamTruncated { .. }
            | Self::Protocol { .. }
            | Self::TooLarge { .. } => ErrorClass::BadResponse,
            Self::BudgetExceeded { .. } => ErrorClass::Budget,
            Self::PriceUnknown { .. } => ErrorClass::PriceUnknown,
            Self::ReplayMiss { .. } => ErrorClass::ReplayMiss,
            Self::Cassette { .. } => ErrorClass::Cassette,
            Self::Cancelled => ErrorClass::Cancelled,
        }
    }
}
