//! The rate limiter: the number of calls under way and the time of the next request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use llm_types::{Clock, Target};
use tokio::sync::{Mutex as Turnstile, OwnedSemaphorePermit, Semaphore};

use crate::provider::Headers;
use crate::{Limits, Timer};

/// The longest pause that a server's rate limit headers cause. They give the time of a full reset, which is long after the
/// next request would be accepted.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Admits calls, in order of arrival for each model at each host.
pub(crate) struct RateLimiter {
    clock: Arc<dyn Timer>,
    slots: Arc<Semaphore>,
    queues: Mutex<HashMap<Target, Arc<ModelQueue>>>,
}

/// The queue of calls to one model; a provider has one host.
pub(crate) struct ModelQueue {
    /// The lock of the next call; the others wait for it in order.
    turnstile: Turnstile<()>,
    not_before: Mutex<Duration>,
}

/// The permit for one request under way; a drop releases its slot.
pub(crate) struct Permit {
    queue: Arc<ModelQueue>,
    _slot: OwnedSemaphorePermit,
}

impl Permit {
    /// The queue that it belongs to.
    pub fn queue(&self) -> Arc<ModelQueue> {
        self.queue.clone()
    }
}

impl ModelQueue {
    /// Blocks all calls to this model for `wait`.
    pub fn pause(&self, clock: &dyn Clock, wait: Duration) {
        let until = clock.elapsed().saturating_add(wait);
        let mut not_before = self.not_before();
        *not_before = not_before.max(until);
    }

    /// Pauses until the reset that the headers of a reply give, if no allowance remains.
    pub fn learn(&self, clock: &dyn Clock, headers: &Headers) {
        if let Some(wait) = wait_until_reset(clock.now(), headers) {
            self.pause(clock, wait.min(LONGEST_PAUSE));
        }
    }

    fn not_before(&self) -> MutexGuard<'_, Duration> {
        self.not_before
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The remaining pause.
    fn pause_left(&self, now: Duration) -> Duration {
        self.not_before().saturating_sub(now)
    }
}

impl RateLimiter {
    pub fn new(clock: Arc<dyn Timer>, limits: Limits) -> Self {
        Self {
            clock,
            slots: Arc::new(Semaphore::new(limits.concurrency)),
            queues: Mutex::default(),
        }
    }

    fn queue(&self, key: &Target) -> Arc<ModelQueue> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(key) {
            return queue.clone();
        }
        let queue = Arc::new(ModelQueue {
            turnstile: Turnstile::new(()),
            not_before: Mutex::default(),
        });
        queues.insert(key.clone(), queue.clone());
        queue
    }

    /// Waits for the call's turn, for the end of a pause, and for a slot. A drop leaves the queue.
    ///
    /// The slot comes last, under the lock of the queue: a paused queue takes no slot from the others.
    pub async fn enter(&self, key: &Target) -> Option<Permit> {
        let queue = self.queue(key);
        let slot = {
            let _turn = queue.turnstile.lock().await;
            loop {
                let wait = queue.pause_left(self.clock.elapsed());
                if wait.is_zero() {
                    // Only a closed semaphore gives none, and nothing closes it.
                    let slot = self.slots.clone().acquire_owned().await.ok()?;
                    if queue.pause_left(self.clock.elapsed()).is_zero() {
                        break slot;
                    }
                } else {
                    self.clock.sleep(wait).await;
                }
            }
        };
        Some(Permit { queue, _slot: slot })
    }
}

/// The longest wait that the rate limit headers of a reply ask for, if an allowance is used up.
fn wait_until_reset(now: SystemTime, headers: &Headers) -> Option<Duration> {
    headers
        .iter()
        .filter(|(_, value)| value.expose_secret().trim() == "0")
        .filter_map(|(name, _)| {
            let reset = if name.starts_with("anthropic-ratelimit-") {
                name.strip_suffix("-remaining")
                    .map(|kind| format!("{kind}-reset"))
            } else {
                let kind = name.strip_prefix("x-ratelimit-remaining-");
                kind.map(|kind| format!("x-ratelimit-reset-{kind}"))
            }?;
            let reset = headers.get(&reset)?;
            time_from(now, reset.trim())
        })
        .max()
}

/// A moment in RFC 3339, or a duration such as `6m0s`, `1.5s`, `20ms`.
fn time_from(now: SystemTime, text: &str) -> Option<Duration> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return SystemTime::from(moment).duration_since(now).ok();
    }
    let duration = text.parse::<jiff::SignedDuration>().ok()?;
    Duration::try_from(duration).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn the_reset_of_what_is_used_up_is_read_in_both_forms() {
        let now: jiff::Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
        let now = now.into();
        let anthropic = Headers::from_iter([
            header("anthropic-ratelimit-requests-remaining", "0"),
            header("anthropic-ratelimit-requests-reset", "2026-11-21T12:00:07Z"),
        ]);
        assert_eq!(
            wait_until_reset(now, &anthropic),
            Some(Duration::from_secs(7))
        );
        let openai = Headers::from_iter([
            header("x-ratelimit-remaining-requests", "0"),
            header("x-ratelimit-reset-requests", "1s"),
            header("x-ratelimit-remaining-tokens", "0"),
            header("x-ratelimit-reset-tokens", "6m0s"),
        ]);
        assert_eq!(wait_until_reset(now, &openai), Some(Duration::from_mins(6)));
        let plenty = Headers::from_iter([
            header("x-ratelimit-remaining-requests", "10"),
            header("x-ratelimit-reset-requests", "1s"),
        ]);
        assert_eq!(wait_until_reset(now, &plenty), None);
    }
}
