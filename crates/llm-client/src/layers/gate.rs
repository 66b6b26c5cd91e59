//! How much may be under way, and when the next request may go out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as Turnstile, OwnedSemaphorePermit, Semaphore};

use crate::types::Target;
use crate::{Clock, Limits};

/// The longest wait that the gate takes from a server's rate limit headers. They tell when everything is there again,
/// which is long after the next request would be let through.
const LONGEST_HOLD: Duration = Duration::from_secs(10);

/// The most that a reply can be over its estimate, in seconds of what may be taken: an hour.
const LONGEST_DEBT: f64 = 3600.0;

/// Lets calls through, first come, first served for each model at each host.
pub(crate) struct Gate {
    clock: Arc<dyn Clock>,
    limits: Limits,
    slots: Arc<Semaphore>,
    lanes: Mutex<HashMap<Target, Arc<Lane>>>,
}

/// The way to one model; a provider is bound to one host.
pub(crate) struct Lane {
    /// Who holds it is the next to go; the others queue behind in order.
    turnstile: Turnstile<()>,
    state: Mutex<LaneState>,
}

struct LaneState {
    not_before: Duration,
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

/// Fills evenly with time. It holds a tenth of a second's amount, at least one: hardly any bursts, for servers count in
/// seconds too. What is taken beyond that is a debt that the next ones wait for.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    level: f64,
    most: f64,
    per_second: f64,
    filled: Duration,
}

impl Bucket {
    fn new(per_minute: f64, now: Duration) -> Self {
        let most = (per_minute / 600.0).max(1.0);
        Self {
            level: most,
            most,
            per_second: per_minute / 60.0,
            filled: now,
        }
    }

    /// How long until `amount` can be taken. More than the bucket holds is taken when it is full.
    fn wait(&mut self, amount: f64, now: Duration) -> Duration {
        let passed = now.saturating_sub(self.filled).as_secs_f64();
        self.level = (self.level + passed * self.per_second).min(self.most);
        self.filled = now;
        let missing = amount.min(self.most) - self.level;
        if missing <= 1e-9 {
            return Duration::ZERO;
        }
        // A zero rate, or a wait beyond what can be said, is for ever: the deadline ends it.
        Duration::try_from_secs_f64(missing / self.per_second).unwrap_or(Duration::MAX)
    }
}

/// The right to have one request under way; dropping it gives the slot back.
pub(crate) struct Pass {
    lane: Arc<Lane>,
    estimate: u64,
    _slot: OwnedSemaphorePermit,
}

impl Pass {
    /// The reply came: gives back the tokens that were reckoned too many, or takes those that were too few.
    pub fn settle(&self, tokens: u64) {
        self.lane.with(|state| {
            if let Some(bucket) = &mut state.tokens {
                let level = bucket.level + self.estimate as f64 - tokens as f64;
                // A number that no server means must not close the lane for good.
                bucket.level = level.clamp(-bucket.per_second * LONGEST_DEBT, bucket.most);
            }
        });
    }

    /// The lane it was given for.
    pub fn lane(&self) -> Arc<Lane> {
        self.lane.clone()
    }
}

impl Lane {
    /// Nobody goes through for `wait`.
    pub fn hold(&self, clock: &dyn Clock, wait: Duration) {
        let until = clock.instant().saturating_add(wait);
        self.with(|state| state.not_before = state.not_before.max(until));
    }

    /// Learns from the headers of a reply that nothing is left until a reset.
    pub fn learn(&self, clock: &dyn Clock, headers: &[(String, String)]) {
        if let Some(wait) = wait_until_reset(clock.now(), headers) {
            self.hold(clock, wait.min(LONGEST_HOLD));
        }
    }

    fn with<R>(&self, change: impl FnOnce(&mut LaneState) -> R) -> R {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes one request and `tokens`, or says how long to wait first.
    fn take(&self, tokens: f64, now: Duration) -> Duration {
        self.with(|state| {
            let held = state.not_before.saturating_sub(now);
            let wait = |bucket: &mut Option<Bucket>, amount| {
                bucket
                    .as_mut()
                    .map_or(Duration::ZERO, |b| b.wait(amount, now))
            };
            let wait = held
                .max(wait(&mut state.requests, 1.0))
                .max(wait(&mut state.tokens, tokens));
            if wait.is_zero() {
                if let Some(bucket) = &mut state.requests {
                    bucket.level -= 1.0;
                }
                if let Some(bucket) = &mut state.tokens {
                    bucket.level -= tokens;
                }
            }
            wait
        })
    }
}

impl Gate {
    pub fn new(clock: Arc<dyn Clock>, limits: Limits) -> Self {
        Self {
            clock,
            limits,
            slots: Arc::new(Semaphore::new(limits.concurrency)),
            lanes: Mutex::default(),
        }
    }

    fn lane(&self, key: Target) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.instant();
        lanes
            .entry(key)
            .or_insert_with(|| {
                let bucket = |per_minute| Bucket::new(per_minute, now);
                Arc::new(Lane {
                    turnstile: Turnstile::new(()),
                    state: Mutex::new(LaneState {
                        not_before: Duration::ZERO,
                        requests: self.limits.requests_per_minute.map(f64::from).map(bucket),
                        tokens: self.limits.tokens_per_minute.map(|n| n as f64).map(bucket),
                    }),
                })
            })
            .clone()
    }

    /// Waits for the lane's turn, its limits and a slot. Dropping the wait gives up the place in the queue.
    ///
    /// The slot is waited for last and inside the turnstile: a lane that is held up keeps no slot from the others.
    pub async fn enter(&self, key: Target, tokens: u64) -> Option<Pass> {
        let lane = self.lane(key);
        let slot = {
            let _turn = lane.turnstile.lock().await;
            loop {
                let held = lane.with(|state| state.not_before);
                let wait = held.saturating_sub(self.clock.instant());
                if wait.is_zero() {
                    // Only a closed semaphore gives none, and nobody closes it.
                    let slot = self.slots.clone().acquire_owned().await.ok()?;
                    let wait = lane.take(tokens as f64, self.clock.instant());
                    if wait.is_zero() {
                        break slot;
                    }
                    drop(slot);
                    self.clock.sleep(wait).await;
                } else {
                    self.clock.sleep(wait).await;
                }
            }
        };
        Some(Pass {
            lane,
            estimate: tokens,
            _slot: slot,
        })
    }
}

/// The longest wait that the rate limit headers of a reply ask for: only when something has nothing remaining.
fn wait_until_reset(now: jiff::Timestamp, headers: &[(String, String)]) -> Option<Duration> {
    headers
        .iter()
        .filter(|(_, value)| value.trim() == "0")
        .filter_map(|(name, _)| {
            let reset = if name.starts_with("anthropic-ratelimit-") {
                name.strip_suffix("-remaining")
                    .map(|kind| format!("{kind}-reset"))
            } else {
                let kind = name.strip_prefix("x-ratelimit-remaining-");
                kind.map(|kind| format!("x-ratelimit-reset-{kind}"))
            }?;
            let reset = crate::transport::header(headers, &reset)?;
            time_from(now, reset.trim())
        })
        .max()
}

/// A moment in RFC 3339, or a duration such as `6m0s`, `1.5s`, `20ms`.
fn time_from(now: jiff::Timestamp, text: &str) -> Option<Duration> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Duration::try_from(moment.duration_since(now)).ok();
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
    fn a_bucket_lets_one_through_at_a_time_and_remembers_a_debt() {
        let mut bucket = Bucket::new(60.0, Duration::ZERO);
        assert_eq!(bucket.wait(1.0, Duration::ZERO), Duration::ZERO);
        bucket.level -= 1.0;
        assert_eq!(bucket.wait(1.0, Duration::ZERO), Duration::from_secs(1));
        assert_eq!(bucket.wait(1000.0, Duration::from_secs(1)), Duration::ZERO);
        bucket.level -= 1000.0;
        assert_eq!(
            bucket.wait(1.0, Duration::from_secs(1)),
            Duration::from_secs(1000)
        );
    }

    #[test]
    fn the_reset_of_what_is_used_up_is_read_in_both_forms() {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        let anthropic = [
            header("anthropic-ratelimit-requests-remaining", "0"),
            header("anthropic-ratelimit-requests-reset", "2026-11-21T12:00:07Z"),
        ];
        assert_eq!(
            wait_until_reset(now, &anthropic),
            Some(Duration::from_secs(7))
        );
        let openai = [
            header("x-ratelimit-remaining-requests", "0"),
            header("x-ratelimit-reset-requests", "1s"),
            header("x-ratelimit-remaining-tokens", "0"),
            header("x-ratelimit-reset-tokens", "6m0s"),
        ];
        assert_eq!(wait_until_reset(now, &openai), Some(Duration::from_mins(6)));
        let plenty = [
            header("x-ratelimit-remaining-requests", "10"),
            header("x-ratelimit-reset-requests", "1s"),
        ];
        assert_eq!(wait_until_reset(now, &plenty), None);
    }
}
