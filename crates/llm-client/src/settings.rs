pub(crate) mod setters;

use std::time::Duration;

use llm_types::{Charge, Usd};

use setters::setters;

/// The policy for retries: when and how often a failed attempt is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The maximum number of attempts after the first.
    pub retries: u32,
    /// The upper bound of the first random wait, doubled with each attempt.
    pub base: Duration,
    /// The maximum of that upper bound.
    pub ceiling: Duration,
    /// The shortest wait.
    pub floor: Duration,
    /// The longest wait that a server may ask for; a longer one ends the call.
    pub longest_wish: Duration,
    /// Whether retries send the header `x-retry-count: n`.
    pub send_count: bool,
    /// Whether every failure that may pass gets all retries. Otherwise a rate limit without a wait, a reply that cannot
    /// be read and an interrupted stream get one.
    pub insist: bool,
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
            insist: false,
        }
    }
}

impl RetryPolicy {
    setters! {
        retries: u32,
        base: Duration,
        ceiling: Duration,
        floor: Duration,
        longest_wish: Duration,
        send_count: bool,
        insist: bool,
    }
}

/// The timeouts of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// The timeout of a connection. A custom transport has its own.
    pub connect: Duration,
    /// The timeout of the headers of a plain reply, which a server sends after the reply is written.
    ///
    /// `None`: 60 s and 28.125 ms for each token of `max_tokens` (4,096 tokens: 175 s). Only [`Self::total`] applies to a server
    /// on this machine, to the dialects `llamacpp`, `ollama` and `vllm`, and if `max_tokens` is not sent.
    pub headers: Option<Duration>,
    /// The timeout of the first byte of a stream.
    pub first_byte: Duration,
    /// The timeout between two bytes.
    pub idle: Duration,
    /// The timeout between two events of a stream, without pings and events of unknown types.
    pub progress: Duration,
    /// The time for one attempt, to the end of its reply or to the first event of a stream. `None`: only the other limits
    /// apply.
    pub attempt: Option<Duration>,
    /// The time for the whole call: all attempts and all waits.
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
            attempt: None,
            total: Duration::from_mins(10),
        }
    }
}

impl Timeouts {
    setters! {
        headers: Option<Duration>,
        first_byte: Duration,
        idle: Duration,
        progress: Duration,
        attempt: Option<Duration>,
        total: Duration,
    }
}

/// The limits for calls under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum number of simultaneous calls, over all models. An open stream counts: with 1, a call inside the loop that
    /// reads a stream waits for it until the deadline.
    pub concurrency: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 16 }
    }
}

impl Limits {
    setters! {
        concurrency: usize,
    }
}

/// The budget of a client over its life. Replayed and offline calls spend nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Budget {
    /// The cap in money.
    pub usd: Option<Usd>,
    /// The cap on calls; attempts of one call count once.
    pub calls: Option<u64>,
    /// The cap on tokens of prompts and replies.
    pub tokens: Option<u64>,
    /// The rule for a model without a known price if `usd` is set.
    pub unpriced: Unpriced,
}

impl Budget {
    setters! {
        usd: Option<Usd>,
        calls: Option<u64>,
        tokens: Option<u64>,
        unpriced: Unpriced,
    }
}

/// The rule for a model without a known price under a cap in dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Unpriced {
    /// Refuses the call with [`crate::ErrorKind::PriceUnknown`].
    #[default]
    Refuse,
    /// Assumes these prices, in US dollars per million tokens.
    Assume {
        /// The price of prompt tokens.
        input: Usd,
        /// The price of reply tokens.
        output: Usd,
    },
    /// Reserves nothing, and counts the cost that the provider reports.
    Ignore,
}

/// The expenses of a client, or of its run with a [`crate::LedgerFile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Spend {
    /// The money charged for replies and for attempts of unknown outcome.
    pub usd: Usd,
    /// The part of `usd` charged without a usage of the provider, which is an upper bound.
    pub uncertain: Usd,
    /// The money reserved by calls under way.
    pub reserved: Usd,
    /// The number of calls, settled or under way.
    pub calls: u64,
    /// The number of attempts of unknown outcome, charged with their reservation.
    pub unsettled: u64,
    /// The number of tokens charged.
    pub tokens: u64,
    /// The number of attempts without a known price.
    pub unknown: u64,
}

impl Spend {
    /// The expenses since `before`, an earlier state of the same client: every sum minus the earlier one. `reserved` is the
    /// current value.
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

    /// The sum of both.
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

    /// Adds a charge.
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

/// Whether an estimated token count is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CountPolicy {
    /// An estimate is accepted, marked as one.
    #[default]
    Any,
    /// An estimate is an error.
    ExactOnly,
}
