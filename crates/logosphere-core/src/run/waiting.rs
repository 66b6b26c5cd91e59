//! Calls that are made again later, because they failed and time may help (`on_error` wait).

use std::time::Duration;

use super::call::OpenCall;
use crate::mind::MindError;

/// The longest wait before a call is made again.
const LONGEST: Duration = Duration::from_mins(10);

/// The calls that wait to be made again.
pub(super) struct WaitingCalls {
    /// The calls, and the time of the clock when their waits are over.
    calls: Vec<(Duration, OpenCall)>,
    /// The wait after the first failure of a call; each later one is twice as long.
    first: Duration,
}

impl WaitingCalls {
    pub(super) fn new(first: Duration) -> Self {
        let calls = Vec::new();
        Self { calls, first }
    }

    /// Adds a call that failed at the time `now` with `error`, which has all its attempts. Returns the wait.
    pub(super) fn add(&mut self, mut call: OpenCall, error: &MindError, now: Duration) -> Duration {
        let factor = 2_u32.checked_pow(call.failures()).unwrap_or(u32::MAX);
        let wait = self.first.saturating_mul(factor).min(LONGEST);
        call.fail(error, wait);
        self.calls.push((now.saturating_add(wait), call));
        wait
    }

    /// Removes the calls whose waits are over at the time `now`.
    pub(super) fn take_due(&mut self, now: Duration) -> Vec<OpenCall> {
        let due = self.calls.extract_if(.., |(due, _)| *due <= now);
        due.map(|(_, call)| call).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}
