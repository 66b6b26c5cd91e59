use std::fmt;
use std::time::Duration;

use crate::types::{Attempt, Charge, Reply, Usd};

/// Why a call failed. Every variant carries its [`Trail`]; no variant ever holds a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No connection, or it broke.
    #[error("{phase}: {what}")]
    Connect {
        /// Where.
        phase: ConnectPhase,
        /// What the system says.
        what: String,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The server was silent for too long.
    #[error("no {phase} within {} s", after.as_secs_f64())]
    Timeout {
        /// What was waited for.
        phase: TimeoutPhase,
        /// How long.
        after: Duration,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The server answered with an error that no other variant is for.
    #[error("HTTP {status}{}: {message}", named(*status, kind.as_ref(), code.as_ref()))]
    Api {
        /// The HTTP status, or the code of an error inside a 200.
        status: u16,
        /// The error's type in the provider's words.
        kind: Option<String>,
        /// Its code in the provider's words.
        code: Option<String>,
        /// The provider's message, or the start of the body (at most 2 KiB); redacted.
        message: String,
        /// The account has nothing left: waiting does not help.
        quota: bool,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The key is missing, wrong, or not allowed to do this.
    #[error("HTTP {status}, the key is not accepted: {message}")]
    Auth {
        /// 401 or 403.
        status: u16,
        /// The provider's message; redacted.
        message: String,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The provider does not serve this model.
    #[error("{model}")]
    ModelUnavailable {
        /// Which model, and which others there are.
        model: Box<UnavailableModel>,
        /// What led here.
        trail: Box<Trail>,
    },
    /// Too many requests or tokens.
    #[error("HTTP {status}, {}: {message}", if *quota { "the quota is used up" } else { "rate limited" })]
    RateLimited {
        /// 429, or the code of an error inside a 200.
        status: u16,
        /// The provider's message; redacted.
        message: String,
        /// The account has nothing left: waiting does not help.
        quota: bool,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The provider has no capacity now.
    #[error("HTTP {status}, overloaded: {message}")]
    Overloaded {
        /// Mostly 529.
        status: u16,
        /// The provider's message; redacted.
        message: String,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The provider asks for a longer wait than the policy allows.
    #[error("the server asks to wait {} s, longer than allowed", asked.as_secs_f64())]
    RetryAfterTooLong {
        /// What it asks for.
        asked: Duration,
        /// What led here.
        trail: Box<Trail>,
    },
    /// A reply with status 200 that cannot be read.
    #[error("the reply cannot be read: {what}")]
    BadResponse {
        /// What is wrong with it; holds at most 2 KiB of it, redacted.
        what: String,
        /// What led here.
        trail: Box<Trail>,
    },
    /// A stream ended before its last event.
    #[error("the stream broke off after {} blocks", partial.content.len())]
    StreamTruncated {
        /// What came. Its tool calls must not be run.
        partial: Box<Reply>,
        /// What led here.
        trail: Box<Trail>,
    },
    /// A server breaks the protocol.
    #[error("the server breaks the protocol: {what}")]
    Protocol {
        /// How.
        what: String,
        /// What led here.
        trail: Box<Trail>,
    },
    /// A reply, or a line of a stream, is longer than allowed.
    #[error("the {what} is longer than {limit} bytes")]
    TooLarge {
        /// What is too long.
        what: &'static str,
        /// Bytes.
        limit: u64,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The request cannot be sent as it is. Nothing was sent.
    #[error("{field}: {why}")]
    Refused {
        /// The field of the request.
        field: String,
        /// What is wrong and what to do.
        why: String,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The call could pass a cap of the budget. Nothing was sent (by this attempt).
    #[error(
        "the budget of {cap} does not allow this call: {spent} spent or reserved, up to {wanted} wanted"
    )]
    BudgetExceeded {
        /// The cap.
        cap: Amount,
        /// What is spent, and reserved by calls under way.
        spent: Amount,
        /// The most this call can take.
        wanted: Amount,
        /// What led here.
        trail: Box<Trail>,
    },
    /// A cap in dollars is set and this model has no known price.
    #[error(
        "the price of {model} is not known, so the cap cannot be kept: add it to the models table or set what to assume"
    )]
    PriceUnknown {
        /// The model.
        model: String,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The cassette does not hold this request.
    #[error("not in the cassette: {diff}")]
    ReplayMiss {
        /// How the nearest entry differs, field by field.
        diff: String,
        /// What led here.
        trail: Box<Trail>,
    },
    /// A cassette cannot be read or written.
    #[error("cassette{}: {what}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Cassette {
        /// The line, from 1.
        line: Option<usize>,
        /// What is wrong.
        what: String,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The time for the whole call is over, or would be before the next attempt.
    #[error("out of time{}", last.as_ref().map(|last| format!("; last error: {last}")).unwrap_or_default())]
    Deadline {
        /// The last error before.
        last: Option<Box<Error>>,
        /// What led here.
        trail: Box<Trail>,
    },
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled {
        /// What led here.
        trail: Box<Trail>,
    },
}

/// What led to an error.
#[derive(Debug, Clone, Default)]
pub struct Trail {
    /// Every attempt, the failed one last. Empty when nothing was sent.
    pub attempts: Vec<Attempt>,
    /// The provider's id of the last HTTP exchange.
    pub request_id: Option<String>,
    /// What the server's headers ask for.
    pub wish: Wish,
    /// Why no further attempt was made, where the policy allows one: the budget.
    pub note: Option<String>,
}

/// What the headers of an error reply say about trying again, as they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// `x-should-retry`.
    pub should_retry: Option<bool>,
    /// `retry-after-ms`.
    pub retry_after_ms: Option<String>,
    /// `retry-after`: seconds or an HTTP date.
    pub retry_after: Option<String>,
}

/// A model that a provider does not serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnavailableModel {
    /// The provider's name.
    pub provider: String,
    /// The id that was asked for.
    pub model: String,
    /// The HTTP status.
    pub status: u16,
    /// When the model was retired, by the models table, `YYYY-MM-DD`.
    pub retired_at: Option<String>,
    /// The day the models table was read, `YYYY-MM-DD`.
    pub read_on: String,
    /// Up to five ids of that provider that the table calls active; none when the table knows this one as served.
    pub active: Vec<String>,
    /// The server's own words: redacted, one line, at most 300 characters; empty without any.
    pub message: String,
}

impl fmt::Display for UnavailableModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            provider,
            model,
            status,
            ..
        } = self;
        write!(
            f,
            "model {model} is not available at {provider} (HTTP {status})"
        )?;
        if let Some(retired_at) = &self.retired_at {
            write!(
                f,
                "; retired {retired_at} per models file of {}",
                self.read_on
            )?;
        }
        if !self.active.is_empty() {
            write!(f, "; active: {}", self.active.join(", "))?;
        }
        if !self.message.is_empty() {
            write!(f, "; the server says: {}", self.message)?;
        }
        Ok(())
    }
}

/// Where a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectPhase {
    /// Name, address or connection.
    Connect,
    /// The server's certificate is not trusted.
    Trust,
    /// The connection broke before the reply's headers.
    Send,
    /// The connection broke inside the reply's body.
    Body,
}

impl fmt::Display for ConnectPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "cannot connect",
            Self::Trust => "the server's certificate is not trusted",
            Self::Send => "the connection broke before an answer came",
            Self::Body => "the connection broke inside the reply",
        })
    }
}

/// What was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutPhase {
    /// The connection.
    Connect,
    /// The first byte of a stream.
    FirstByte,
    /// Any further byte.
    Idle,
    /// Any further event that is more than a sign of life.
    Progress,
}

impl fmt::Display for TimeoutPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connection",
            Self::FirstByte => "first byte",
            Self::Idle => "further byte",
            Self::Progress => "progress",
        })
    }
}

/// An amount of what a budget caps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Money.
    Usd(Usd),
    /// Calls.
    Calls(u64),
    /// Tokens of prompts and replies.
    Tokens(u64),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usd(usd) => usd.fmt(f),
            Self::Calls(n) => write!(f, "{n} calls"),
            Self::Tokens(n) => write!(f, "{n} tokens"),
        }
    }
}

/// The provider's word for an error, unless it is the status once more.
fn named(status: u16, kind: Option<&String>, code: Option<&String>) -> String {
    let status = status.to_string();
    kind.or(code)
        .filter(|name| **name != status)
        .map(|name| format!(" {name}"))
        .unwrap_or_default()
}

impl Error {
    /// One word for results and journals, from a closed vocabulary: `auth`, `quota`, `model_unavailable`,
    /// `rate_limit`, `overloaded`, `server`, `bad_request`, `network`, `timeout`, `bad_response`, `budget`,
    /// `replay_miss`, `cassette`, `cancelled`.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Api { quota: true, .. } | Self::RateLimited { quota: true, .. } => "quota",
            Self::Auth { .. } => "auth",
            Self::ModelUnavailable { .. } => "model_unavailable",
            Self::RateLimited { .. } | Self::RetryAfterTooLong { .. } => "rate_limit",
            Self::Overloaded { .. } => "overloaded",
            Self::Api { status, .. } if *status >= 500 => "server",
            Self::Api { .. } | Self::Refused { .. } => "bad_request",
            Self::Connect { .. } => "network",
            Self::Timeout { .. } | Self::Deadline { .. } => "timeout",
            Self::BadResponse { .. }
            | Self::StreamTruncated { .. }
            | Self::Protocol { .. }
            | Self::TooLarge { .. } => "bad_response",
            Self::BudgetExceeded { .. } | Self::PriceUnknown { .. } => "budget",
            Self::ReplayMiss { .. } => "replay_miss",
            Self::Cassette { .. } => "cassette",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// The error with what is behind it, in one line.
    pub fn sentence(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        if let Some(note) = &self.trail().note {
            text.push_str("; no further attempt: ");
            text.push_str(note);
        }
        text
    }

    /// Every attempt, the failed one last.
    pub fn attempts(&self) -> &[Attempt] {
        &self.trail().attempts
    }

    /// The provider's id of the last HTTP exchange.
    pub fn request_id(&self) -> Option<&str> {
        self.trail().request_id.as_deref()
    }

    /// The HTTP status, if an answer came.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Api { status, .. }
            | Self::Auth { status, .. }
            | Self::RateLimited { status, .. }
            | Self::Overloaded { status, .. } => Some(*status),
            Self::ModelUnavailable { model, .. } => Some(model.status),
            Self::RetryAfterTooLong { trail, .. } => {
                trail.attempts.last().and_then(|attempt| attempt.status)
            }
            // These are found in replies with a success status only.
            Self::BadResponse { .. }
            | Self::StreamTruncated { .. }
            | Self::Protocol { .. }
            | Self::TooLarge { .. } => Some(200),
            _ => None,
        }
    }

    /// What the budget was charged for the call, all its attempts together.
    pub fn charged(&self) -> Charge {
        let attempts = self.attempts().iter();
        attempts.fold(Charge::NONE, |sum, attempt| sum.plus(attempt.charge))
    }

    /// What led here.
    pub fn trail(&self) -> &Trail {
        match self {
            Self::Connect { trail, .. }
            | Self::Timeout { trail, .. }
            | Self::Api { trail, .. }
            | Self::Auth { trail, .. }
            | Self::ModelUnavailable { trail, .. }
            | Self::RateLimited { trail, .. }
            | Self::Overloaded { trail, .. }
            | Self::RetryAfterTooLong { trail, .. }
            | Self::BadResponse { trail, .. }
            | Self::StreamTruncated { trail, .. }
            | Self::Protocol { trail, .. }
            | Self::TooLarge { trail, .. }
            | Self::Refused { trail, .. }
            | Self::BudgetExceeded { trail, .. }
            | Self::PriceUnknown { trail, .. }
            | Self::ReplayMiss { trail, .. }
            | Self::Cassette { trail, .. }
            | Self::Deadline { trail, .. }
            | Self::Cancelled { trail } => trail,
        }
    }

    /// What led here, to be completed by a provider or a layer.
    pub fn trail_mut(&mut self) -> &mut Trail {
        match self {
            Self::Connect { trail, .. }
            | Self::Timeout { trail, .. }
            | Self::Api { trail, .. }
            | Self::Auth { trail, .. }
            | Self::ModelUnavailable { trail, .. }
            | Self::RateLimited { trail, .. }
            | Self::Overloaded { trail, .. }
            | Self::RetryAfterTooLong { trail, .. }
            | Self::BadResponse { trail, .. }
            | Self::StreamTruncated { trail, .. }
            | Self::Protocol { trail, .. }
            | Self::TooLarge { trail, .. }
            | Self::Refused { trail, .. }
            | Self::BudgetExceeded { trail, .. }
            | Self::PriceUnknown { trail, .. }
            | Self::ReplayMiss { trail, .. }
            | Self::Cassette { trail, .. }
            | Self::Deadline { trail, .. }
            | Self::Cancelled { trail } => trail,
        }
    }

    /// The request cannot be sent: `field` is wrong, and `why` says what to do.
    pub fn refused(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Refused {
            field: field.into(),
            why: why.into(),
            trail: Box::default(),
        }
    }

    /// The server breaks the protocol.
    pub fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol {
            what: what.into(),
            trail: Box::default(),
        }
    }

    /// A reply with status 200 that cannot be read.
    pub fn bad_response(what: impl Into<String>) -> Self {
        Self::BadResponse {
            what: what.into(),
            trail: Box::default(),
        }
    }

    /// No connection, or it broke.
    pub fn connect(phase: ConnectPhase, what: impl Into<String>) -> Self {
        Self::Connect {
            phase,
            what: what.into(),
            trail: Box::default(),
        }
    }

    /// The server was silent for `after`.
    pub fn timeout(phase: TimeoutPhase, after: Duration) -> Self {
        Self::Timeout {
            phase,
            after,
            trail: Box::default(),
        }
    }

    /// A reply, or a line of it, is longer than `limit` bytes.
    pub fn too_large(what: &'static str, limit: u64) -> Self {
        Self::TooLarge {
            what,
            limit,
            trail: Box::default(),
        }
    }

    pub(crate) fn cassette(line: Option<usize>, what: impl Into<String>) -> Self {
        Self::Cassette {
            line,
            what: what.into(),
            trail: Box::default(),
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A setting has a value it cannot have.
    #[error("{setting}: {why}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// What is wrong and what to do; never shows a key.
        why: String,
    },
    /// A table of models cannot be read.
    #[error("models table, line {line}: {why}")]
    Models {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// A cassette cannot be opened.
    #[error("cannot open the cassette")]
    Cassette(#[source] Box<Error>),
    /// The HTTP client cannot be made.
    #[error("cannot make the HTTP client: {why}")]
    Transport {
        /// What the library says.
        why: String,
    },
}

impl ConfigError {
    /// `setting` has a value it cannot have.
    pub fn setting(setting: &'static str, why: impl Into<String>) -> Self {
        Self::Setting {
            setting,
            why: why.into(),
        }
    }
}
