use std::time::Duration;

use crate::types::Usd;

/// When and how often a failed attempt is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub retries: u32,
    /// The upper bound of the first random wait; it doubles with each attempt.
    pub base: Duration,
    /// The highest upper bound.
    pub ceiling: Duration,
    /// The shortest wait.
    pub floor: Duration,
    /// The longest wait that a server may ask for.
    pub longest_wish: Duration,
    /// Sends `x-retry-count: n` with each repetition.
    pub send_count: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 2,
            base: Duration::from_millis(500),
            ceiling: Duration::from_secs(8),
            floor: Duration::from_millis(50),
            longest_wish: Duration::from_mins(1),
            send_count: true,
        }
    }
}

/// How long to wait for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection. A transport of the caller's own has its own wait.
    pub connect: Duration,
    /// For the headers of a plain reply, which a server sends when the reply is written. `None`: 60 s and 28.125 ms for
    /// each token of `max_tokens` (4,096 tokens: 175 s), and only [`Self::total`] for a server on this machine, for the
    /// dialects `llamacpp`, `ollama` and `vllm`, and when `max_tokens` is not sent.
    pub headers: Option<Duration>,
    /// For the first byte of a stream.
    pub first_byte: Duration,
    /// Between two bytes.
    pub idle: Duration,
    /// Between two events of a stream that are more than signs of life: neither pings nor events of unknown types.
    pub progress: Duration,
    /// For the whole call: all attempts and all waits.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            headers: None,
            first_byte: Duration::from_mins(1),
            idle: Duration::from_mins(1),
            progress: Duration::from_mins(3),
            total: Duration::from_mins(10),
        }
    }
}

/// How much may be under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Calls at the same time, over all models. An open stream is one: with 1, a call inside of the loop that reads a
    /// stream waits for it until the deadline.
    pub concurrency: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 16 }
    }
}

/// What a client may spend over its life. Replayed and offline calls spend nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Money.
    pub usd: Option<Usd>,
    /// Calls, however many attempts they take.
    pub calls: Option<u64>,
    /// Tokens of prompts and replies.
    pub tokens: Option<u64>,
    /// What to do about a model without a known price when `usd` is set.
    pub unpriced: Unpriced,
}

/// What to do about a model without a known price when there is a cap in dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unpriced {
    /// [`crate::Error::PriceUnknown`].
    #[default]
    Refuse,
    /// Reckon with these dollars for a million tokens.
    Assume {
        /// Of the prompt.
        input: Usd,
        /// Of the reply.
        output: Usd,
    },
    /// Reserve nothing, and count what the provider reports.
    Ignore,
}

/// What the client has spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spend {
    /// Settled: by replies, and by attempts that may have been charged for.
    pub usd: Usd,
    /// Held by calls under way.
    pub reserved: Usd,
    /// Calls settled or under way.
    pub calls: u64,
    /// Tokens settled.
    pub tokens: u64,
    /// Calls whose cost nobody knows.
    pub unknown: u64,
}

/// What to do about fields that a model or a protocol does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Drop or change them, with a warning in the reply.
    #[default]
    Adapt,
    /// Refuse the request.
    Strict,
}

/// Whether an estimated token count will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CountPolicy {
    /// It will, marked as one.
    #[default]
    Any,
    /// It is an error.
    ExactOnly,
}

/// The longest replies to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeCaps {
    /// A whole reply in bytes, streams too.
    pub reply: u64,
    /// One line of an event stream in bytes.
    pub line: u64,
}

impl Default for SizeCaps {
    fn default() -> Self {
        Self {
            reply: 64 << 20,
            line: 16 << 20,
        }
    }
}
