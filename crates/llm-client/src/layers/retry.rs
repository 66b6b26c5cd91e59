use std::time::{Duration, SystemTime};

use llm_types::ErrorClass;
use rand_chacha::rand_core::Rng;

use crate::error::ConnectPhase;
use crate::error::call::RetryHeaders;
use crate::settings::RetryPolicy;
use crate::{Error, ErrorKind};

/// The decision after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// No retry: it would not help.
    Stop,
    /// No retry, since the server asks for a longer wait than allowed.
    TooLong(Duration),
    Retry {
        wait: Wait,
        /// The maximum number of attempts, if the error allows fewer than the policy.
        max_attempts: Option<u32>,
    },
}

/// The wait before a retry, without its random part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The wait that the server asks for.
    Server(Duration),
    /// The wait of the policy.
    Backoff,
}

/// Decides about `error`. The caller counts the attempts.
pub(crate) fn decide(error: &Error, policy: &RetryPolicy, now: SystemTime) -> Decision {
    if error.class() == ErrorClass::Quota {
        return Decision::Stop;
    }
    let wish = &error.context().retry_headers;
    // Only a reply has headers that count; other errors may carry those of an earlier attempt.
    let asked = if is_reply(error) {
        wish.should_retry
    } else {
        None
    };
    if !asked.unwrap_or_else(|| is_passing(error)) {
        return Decision::Stop;
    }
    let wait = match is_reply(error).then(|| requested_wait(wish, now)).flatten() {
        Some(asked) if asked > policy.longest_wish => return Decision::TooLong(asked),
        Some(asked) => Wait::Server(asked),
        None => Wait::Backoff,
    };
    let once = match error.kind() {
        ErrorKind::RateLimited { .. } => wait == Wait::Backoff,
        ErrorKind::BadResponse { .. } | ErrorKind::StreamTruncated { .. } => true,
        _ => false,
    };
    Decision::Retry {
        wait,
        max_attempts: (once && !policy.insist).then_some(2),
    }
}

/// The error of a server that asks for a longer wait than the policy allows.
pub(crate) fn too_long(asked: Duration, mut error: Error) -> Error {
    *error.kind_mut() = ErrorKind::RetryAfterTooLong { asked };
    error
}

/// The pause that a 429 or a 529 asks of all calls, whether this call is retried or not.
pub(crate) fn asked_of_all(
    error: &Error,
    policy: &RetryPolicy,
    now: SystemTime,
) -> Option<Duration> {
    let busy = matches!(
        error.kind(),
        ErrorKind::RateLimited { quota: false, .. } | ErrorKind::Overloaded { .. }
    );
    let asked = busy
        .then(|| requested_wait(&error.context().retry_headers, now))
        .flatten();
    // What is longer than any wait is nobody's to wait for: each call learns it at once.
    asked.filter(|asked| *asked <= policy.longest_wish)
}

/// The wait after the failure of attempt `attempt`, from 0.
pub(crate) fn delay(
    wait: Wait,
    attempt: u32,
    policy: &RetryPolicy,
    rng: &mut impl Rng,
) -> Duration {
    match wait {
        // Spread, or all who were sent away together come back together.
        Wait::Server(asked) => {
            let most = (asked / 10)
                .max(Duration::from_millis(100))
                .min(Duration::from_secs(2));
            asked.saturating_add(uniform(most, rng))
        }
        Wait::Backoff => {
            let factor = 2_u32.checked_pow(attempt).unwrap_or(u32::MAX);
            let most = policy.base.saturating_mul(factor).min(policy.ceiling);
            uniform(most, rng).max(policy.floor)
        }
    }
}

/// Whether the error is a whole response, whose retry headers count.
fn is_reply(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Api { .. }
            | ErrorKind::Auth { .. }
            | ErrorKind::ModelUnavailable(_)
            | ErrorKind::RateLimited { .. }
            | ErrorKind::Overloaded { .. }
            | ErrorKind::BadResponse { .. }
    )
}

/// Whether the same request may succeed a little later.
fn is_passing(error: &Error) -> bool {
    match error.kind() {
        // A 402 comes here only with a wait: without one it is a used-up quota.
        ErrorKind::Api { status, .. } => matches!(status, 402 | 408 | 409 | 500..),
        ErrorKind::RateLimited { .. }
        | ErrorKind::Overloaded { .. }
        | ErrorKind::BadResponse { .. }
        | ErrorKind::StreamTruncated { .. }
        | ErrorKind::Timeout { .. } => true,
        ErrorKind::Connect { phase, .. } => *phase != ConnectPhase::Trust,
        _ => false,
    }
}

/// The wait that the headers ask for, if it is valid.
pub(crate) fn requested_wait(wish: &RetryHeaders, now: SystemTime) -> Option<Duration> {
    let date = || {
        let date = httpdate::parse_http_date(wish.retry_after.as_deref()?.trim()).ok()?;
        date.duration_since(now).ok()
    };
    in_numbers(wish)
        .or_else(date)
        .filter(|wait| !wait.is_zero())
}

/// The wait that the headers give as a number; a date would need a clock.
pub(crate) fn in_numbers(wish: &RetryHeaders) -> Option<Duration> {
    let number = |text: &Option<String>, unit: f64| {
        let number: f64 = text.as_deref()?.trim().parse().ok()?;
        let seconds = number * unit;
        (seconds.is_finite() && seconds > 0.0)
            // What no duration can hold is longer than any that is allowed.
            .then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    };
    number(&wish.retry_after_ms, 0.001).or_else(|| number(&wish.retry_after, 1.0))
}

/// A uniform random duration from zero to `most`.
fn uniform(most: Duration, rng: &mut impl Rng) -> Duration {
    // 53 bits: every fraction is a float exactly, and the same on every machine.
    let fraction = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    Duration::try_from_secs_f64(most.as_secs_f64() * fraction).map_or(most, |wait| wait.min(most))
}

#[cfg(test)]
mod tests;
