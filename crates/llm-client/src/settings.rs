use std::time::Duration;

use llm_types::{Charge, Usd};

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
#[non_exhaustive]
pub enum Unpriced {
    /// [`crate::ErrorKind::PriceUnknown`].
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

/// What the client has spent; with a [`crate::LedgerFile`], what its run has spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spend {
    /// Charged: by replies, and by attempts of unknown outcome.
    pub usd: Usd,
    /// Of `usd`, what was charged without a usage of the provider: an upper bound.
    pub uncertain: Usd,
    /// Held by calls under way.
    pub reserved: Usd,
    /// Calls settled or under way.
    pub calls: u64,
    /// Attempts of unknown outcome, charged by what was reserved for them.
    pub unsettled: u64,
    /// Tokens charged.
    pub tokens: u64,
    /// Attempts that no price is known for.
    pub unknown: u64,
}

impl Spend {
    /// What was spent after `before`, a state of the same client: every sum less that of then. What is reserved is that
    /// of now.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let less = |a: Usd, b: Usd| a.checked_sub(b).unwrap_or_default();
        Self {
            usd: less(self.usd, before.usd),
            uncertain: less(self.uncertain, before.uncertain),
            reserved: self.reserved,
            calls: self.calls.saturating_sub(before.calls),
            unsettled: self.unsettled.saturating_sub(before.unsettled),
            tokens: self.tokens.saturating_sub(before.tokens),
            unknown: self.unknown.saturating_sub(before.unknown),
        }
    }

    /// Both together.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let sum = |a: Usd, b: Usd| a.checked_add(b).unwrap_or(Usd(i64::MAX));
        Self {
            usd: sum(self.usd, other.usd),
            uncertain: sum(self.uncertain, other.uncertain),
            reserved: sum(self.reserved, other.reserved),
            calls: self.calls.saturating_add(other.calls),
            unsettled: self.unsettled.saturating_add(other.unsettled),
            tokens: self.tokens.saturating_add(other.tokens),
            unknown: self.unknown.saturating_add(other.unknown),
        }
    }

    /// Counts a charge.
    pub(crate) fn add(&mut self, charge: Charge) {
        let sum = |a: &mut Usd, b: Usd| *a = a.checked_add(b).unwrap_or(Usd(i64::MAX));
        let usd = charge.usd.unwrap_or_default();
        sum(&mut self.usd, usd);
        if !charge.certain {
            sum(&mut self.uncertain, usd);
            self.unsettled = self.unsettled.saturating_add(1);
        }
        if charge.usd.is_none() {
            self.unknown = self.unknown.saturating_add(1);
        }
        self.tokens = self.tokens.saturating_add(charge.tokens);
    }
}

/// Whether an estimated token count will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CountPolicy {
    /// It will, marked as one.
    #[default]
    Any,
    /// It is an error.
    ExactOnly,
}
