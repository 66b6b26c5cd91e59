//! A call of a mind, from its start to its return.

use std::mem;
use std::time::Duration;

use llm_types::Clock;

use crate::journal::{AttemptFacts, MindReply, PendingReply};
use crate::mind::{CallContext, Mind, MindError};
use crate::pool::MindId;
use crate::verify::state::CallPlan;

/// A call that is made once, or again after failures.
pub(super) struct OpenCall {
    pub(super) planned: CallPlan,
    /// The time of the clock when it was made first; `None` before.
    begun: Option<Duration>,
    /// The attempts of its failures, in order.
    failed: Vec<AttemptFacts>,
    /// The number of its failures.
    failures: u32,
    /// The wait after the last failure.
    wait: Duration,
}

impl OpenCall {
    pub(super) fn new(planned: CallPlan) -> Self {
        Self {
            planned,
            begun: None,
            failed: Vec::new(),
            failures: 0,
            wait: Duration::ZERO,
        }
    }

    /// Returns the number of its failures.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// Records a failure, whose error has all attempts of the call, and the wait after it.
    pub(super) fn fail(&mut self, error: &MindError, wait: Duration) {
        self.failures = self.failures.saturating_add(1);
        self.failed.clone_from(&error.attempts);
        self.wait = wait;
    }

    /// Returns the attempts of its failures and `last`, those since then, numbered through.
    fn all_attempts(&mut self, mut last: Vec<AttemptFacts>) -> Vec<AttemptFacts> {
        if let Some(first) = last.first_mut() {
            let waited = u64::try_from(self.wait.as_millis()).unwrap_or(u64::MAX);
            first.wait_ms = first.wait_ms.saturating_add(waited);
        }
        let before = self.failed.last().map_or(0, |attempt| attempt.n);
        for attempt in &mut last {
            attempt.n = attempt.n.saturating_add(before);
        }
        let mut all = mem::take(&mut self.failed);
        all.append(&mut last);
        all
    }
}

/// A call that has returned.
pub(super) struct CompletedCall {
    pub(super) call: OpenCall,
    /// The answer, with all attempts of the call.
    pub(super) answer: Result<MindReply, MindError>,
    pub(super) latency_ms: u64,
    /// Whether the answer is in the spool.
    pub(super) spooled: bool,
}

impl CompletedCall {
    /// Returns a call whose answer an earlier process has put into the spool.
    pub(super) fn from_spool(planned: CallPlan, answer: PendingReply) -> Self {
        Self {
            call: OpenCall::new(planned),
            latency_ms: answer.latency_ms,
            answer: Ok(answer.into_reply()),
            spooled: true,
        }
    }

    /// Returns the mind that was called.
    pub(super) fn mind(&self) -> MindId {
        self.call.planned.mind
    }

    /// Returns the answer in the form of the spool; `None` for a failed call.
    pub(super) fn paid(&self) -> Option<PendingReply> {
        let reply = self.answer.as_ref().ok()?;
        let planned = &self.call.planned;
        Some(PendingReply {
            round: planned.round,
            mind_id: planned.mind,
            request_sha256: planned.request_sha256.clone(),
            latency_ms: self.latency_ms,
            attempts: reply.attempts.clone(),
            reply: reply.clone(),
        })
    }
}

/// Calls a mind.
pub(super) async fn ask<M: Mind, C: Clock>(
    mind: &M,
    clock: &C,
    context: CallContext,
    mut call: OpenCall,
) -> CompletedCall {
    let begun = *call.begun.get_or_insert_with(|| clock.elapsed());
    let mut answer = mind.respond(&call.planned.input, &context).await;
    let latency = clock.elapsed().saturating_sub(begun);
    let attempts = match &mut answer {
        Ok(reply) => &mut reply.attempts,
        Err(error) => &mut error.attempts,
    };
    *attempts = call.all_attempts(mem::take(attempts));
    CompletedCall {
        call,
        answer,
        latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
        spooled: false,
    }
}
