use std::collections::BTreeMap;
use std::future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use llm_types::Clock;
use tokio::time::Sleep;

use super::call::{CompletedCall, OpenCall, ask};
use super::control::{Progress, RunError};
use super::orchestrator::{Orchestrator, PATIENCE, TICK};
use super::recorder::{Recorder, Stop};
use super::waiting::WaitingCalls;
use crate::config::{OnError, Scheduling, Settings};
use crate::journal::{
    CallError, Event, FailureClass, InterruptCause, JournalSink, PendingReply, RequestTemplate,
    may_pass,
};
use crate::mind::{CallContext, Mind, MindError};
use crate::pool::{MindId, Round};
use crate::verify::state::{CallPlan, Outcome, Step};

/// The calls of a round that have returned, and their effects on the rest of the round.
#[derive(Default)]
struct ReturnedCalls {
    /// Calls that returned and are neither in the journal nor in the spool.
    arrived: Vec<CompletedCall>,
    /// Calls that returned before an earlier mind's call, by mind.
    returned: BTreeMap<MindId, CompletedCall>,
    /// Whether some written data is not yet on the disk.
    unsafe_now: bool,
    /// The answer whose event could not be written.
    unwritten: Option<PendingReply>,
    stop: Option<Stop>,
    /// Whether a call has stopped the run. A resumed run makes that call again, and later answers stay in the spool.
    closed: bool,
    /// The cause if a call has returned that will stop the run when its event is written.
    halted: Option<Stop>,
}

impl<M: Mind, J: JournalSink, C: Clock> Orchestrator<M, J, C> {
    /// Calls the remaining minds of the open round, as many at once as the scheduling allows. Their events are written
    /// in the order of the minds.
    pub(super) async fn call_minds(
        &mut self,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<Option<Stop>, RunError> {
        let mut calls = ReturnedCalls::default();
        let done = self.rest_of_round(&mut calls, show).await;
        if done.is_err() {
            self.recorder.keep_all(&mut calls);
        }
        done
    }

    async fn rest_of_round(
        &mut self,
        calls: &mut ReturnedCalls,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<Option<Stop>, RunError> {
        let Self {
            mind,
            clock,
            recorder,
            spooled,
        } = self;
        let settings = recorder.state.settings();
        let (minds, seed) = (MindId(settings.n_minds), settings.seed);
        let waits = settings.on_error == OnError::Wait;
        let width = width(settings);
        let Step::Call { mind: mut launch } = recorder.state.next() else {
            return Ok(None);
        };
        let cancel = recorder.control.cancel.clone();
        let mut pending = FuturesUnordered::new();
        let mut waiting = WaitingCalls::new(recorder.control.first_wait);
        // When each call began that was not seen to come back.
        let mut begun = Begun::new();
        let mut patience = None;
        loop {
            for call in &calls.arrived {
                begun.remove(&call.mind());
            }
            if waits {
                recorder.hold_back(calls, &mut waiting, clock.elapsed(), show);
            }
            let events = recorder.write_down(calls)?;
            if calls.unsafe_now {
                recorder.wait_for_the_disk(calls, &mut pending).await?;
            }
            for event in &events {
                recorder.show(event, show);
            }
            if !calls.arrived.is_empty() {
                continue;
            }
            let stop = calls.stop.take();
            calls.stop = stop.or_else(|| recorder.stop_cause());
            if !waiting.is_empty() && calls.stop.is_none() && calls.halted.is_none() {
                for call in waiting.take_due(clock.elapsed()) {
                    let context = begin(&mut begun, &**clock, seed, &call);
                    pending.push(ask(&*mind, &**clock, context, call));
                }
            }
            // With a width of 1 a call begins when the one before it is written, so a mind reads what that one sent.
            while calls.stop.is_none()
                && calls.halted.is_none()
                && launch < minds
                && pending.len() + waiting.len() < width
                && (width > 1 || calls.returned.is_empty())
            {
                let planned = recorder.state.plan(launch);
                recorder.check(&planned, mind)?;
                match spooled.remove(&(planned.round, launch)) {
                    Some(answer) if answer.request_sha256 == planned.request_sha256 => {
                        let call = CompletedCall::from_spool(planned, answer);
                        calls.returned.insert(launch, call);
                    }
                    _ => {
                        let call = OpenCall::new(planned);
                        let context = begin(&mut begun, &**clock, seed, &call);
                        pending.push(ask(&*mind, &**clock, context, call));
                    }
                }
                launch = launch.next();
            }
            if pending.is_empty() {
                match recorder.state.next() {
                    _ if calls.stop.is_some() => return Ok(calls.stop.take()),
                    // The stop need not wait for a call whose event comes before it.
                    _ if !waiting.is_empty() && calls.halted.is_some() => {
                        return Ok(calls.halted.take());
                    }
                    Step::Call { mind } if calls.returned.contains_key(&mind) => continue,
                    _ if !waiting.is_empty() => {}
                    Step::Call { .. } if launch < minds => continue,
                    _ => return Ok(None),
                }
            }
            // A call that failed is waited behind for as long as the others take: they are paid.
            let ends_soon = (calls.stop.as_ref()).is_some_and(|stop| stop.cause.hurries());
            if (ends_soon || cancel.is_cancelled()) && patience.is_none() {
                patience = Some(Box::pin(tokio::time::sleep(PATIENCE)));
            }
            let time_is_up = after(recorder.time_left().filter(|_| calls.stop.is_none()));
            tokio::select! {
                Some(call) = pending.next() => {
                    calls.arrived.push(call);
                    while let Some(Some(call)) = pending.next().now_or_never() {
                        calls.arrived.push(call);
                    }
                }
                () = cancel.cancelled(), if !cancel.is_cancelled() => {}
                () = time_is_up => {}
                () = tokio::time::sleep(TICK) => {
                    let waiting = oldest(&begun, &**clock, recorder.state.next_call().0);
                    waiting.into_iter().for_each(&mut *show);
                }
                () = out_of(&mut patience) => return Ok(calls.stop.take()),
            }
        }
    }
}

/// The start time of each call in flight, and the number of its attempt, by mind.
type Begun = BTreeMap<MindId, (Duration, Arc<AtomicU32>)>;

/// Records that a call is made now, and returns its context.
fn begin(begun: &mut Begun, clock: &impl Clock, seed: u64, call: &OpenCall) -> CallContext {
    let CallPlan { round, mind, .. } = call.planned;
    let context = CallContext::new(seed, round, mind);
    begun.insert(mind, (clock.elapsed(), context.attempt().clone()));
    context
}

/// Returns how many calls are open at the same time, with those that wait.
fn width(settings: &Settings) -> usize {
    match settings.scheduling {
        Scheduling::Sequential => 1,
        Scheduling::Snapshot => settings.concurrency.max(1),
    }
}

/// Returns the notice about the call of this round that has been in flight for longest.
fn oldest(begun: &Begun, clock: &impl Clock, round: Round) -> Option<Progress<'static>> {
    let (mind, (begun, attempt)) = begun.iter().min_by_key(|(_, (begun, _))| *begun)?;
    Some(Progress::Waiting {
        round,
        mind: *mind,
        since: clock.elapsed().saturating_sub(*begun),
        attempt: attempt.load(Ordering::Relaxed),
    })
}

/// Waits for the end of the patience; without one, forever.
async fn out_of(patience: &mut Option<Pin<Box<Sleep>>>) {
    match patience {
        Some(patience) => patience.await,
        None => future::pending().await,
    }
}

/// Waits for this duration; without one, forever.
async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => future::pending().await,
    }
}

impl<J: JournalSink, C: Clock> Recorder<J, C> {
    /// Compares the request that a mind is about to send with the expected one.
    fn check(&mut self, planned: &CallPlan, mind: &impl Mind) -> Result<(), RunError> {
        if !self.control.check_leaks {
            return Ok(());
        }
        let request = mind.request(&planned.input)?;
        let leak = |what| RunError::Leak {
            round: planned.round,
            mind: planned.mind,
            what,
        };
        if request.body != planned.body {
            let template = self.state.template_of(planned.mind);
            let what = difference(template, &planned.body, &request.body);
            return Err(leak(what));
        }
        let entry = self.state.settings().entry_of(planned.mind.0);
        let first = self.headers.entry(entry);
        let first = first.or_insert_with(|| request.headers.clone());
        if *first != request.headers {
            let what = "its headers are not those of the mind's first request".to_owned();
            return Err(leak(what));
        }
        Ok(())
    }

    /// Writes the events of the calls that are next in order, and keeps the other answers in the spool. Returns the
    /// events.
    fn write_down(&mut self, calls: &mut ReturnedCalls) -> Result<Vec<Event>, RunError> {
        for call in calls.arrived.drain(..) {
            if let Err(error) = &call.answer {
                calls.halted = calls.halted.take().or_else(|| halt_cause(error));
            }
            calls.returned.insert(call.mind(), call);
        }
        let mut events = Vec::new();
        while !calls.closed
            && let Step::Call { mind } = self.state.next()
            && let Some(call) = calls.returned.remove(&mind)
        {
            let paid = call.paid().filter(|_| !call.spooled);
            match self.settle_call(call, &mut events) {
                Ok(None) => {}
                Ok(Some(cause)) => {
                    calls.closed = true;
                    calls.stop = Some(cause);
                }
                Err(error) => {
                    calls.unwritten = paid;
                    return Err(error);
                }
            }
        }
        calls.unsafe_now |= !events.is_empty();
        for call in calls.returned.values_mut() {
            calls.unsafe_now |= self.keep(call)?;
        }
        Ok(events)
    }

    /// Moves the calls that failed at the time `now` and may succeed later from the returned ones to those that wait, with
    /// a notice of each. A run that stops makes them again when it is resumed.
    fn hold_back(
        &self,
        calls: &mut ReturnedCalls,
        waiting: &mut WaitingCalls,
        now: Duration,
        show: &mut impl FnMut(Progress<'_>),
    ) {
        let stops = calls.stop.is_some() || calls.halted.is_some() || self.stop_cause().is_some();
        let passes = |error: &MindError| may_pass(error.class, error.fatal);
        let passing =
            (calls.arrived).extract_if(.., |call| call.answer.as_ref().is_err_and(passes));
        for CompletedCall { call, answer, .. } in passing {
            let Err(error) = answer else { continue };
            let CallPlan { round, mind, .. } = call.planned;
            let wait = waiting.add(call, &error, now);
            if !stops {
                show(Progress::Delayed {
                    round,
                    mind,
                    error: &error,
                    wait,
                });
            }
        }
    }

    /// Waits until all written data is on the disk; calls in flight continue.
    async fn wait_for_the_disk(
        &mut self,
        calls: &mut ReturnedCalls,
        pending: &mut FuturesUnordered<impl Future<Output = CompletedCall>>,
    ) -> Result<(), RunError> {
        let mut synced = self.journal.sync();
        loop {
            tokio::select! {
                biased;
                done = &mut synced => break done?,
                Some(call) = pending.next() => calls.arrived.push(call),
            }
        }
        calls.unsafe_now = false;
        Ok(())
    }

    fn show(&self, event: &Event, show: &mut impl FnMut(Progress<'_>)) {
        match event {
            Event::Error(error) => show(Progress::Failed(error)),
            Event::MindInvocation(call) => {
                show(Progress::Called(call, self.state.meter_key(call)));
            }
            _ => {}
        }
    }

    /// Keeps every paid answer without an event in the spool as far as the disk accepts it, because an error ends the
    /// run.
    fn keep_all(&mut self, calls: &mut ReturnedCalls) {
        for call in calls.arrived.iter_mut().chain(calls.returned.values_mut()) {
            let _ = self.keep(call);
        }
        if let Some(answer) = &calls.unwritten {
            let _ = self.journal.spool(answer);
        }
    }

    /// Keeps an answer that is not next in order, because it is paid for. Returns whether it was written.
    fn keep(&mut self, call: &mut CompletedCall) -> Result<bool, RunError> {
        let Some(answer) = call.paid().filter(|_| !call.spooled) else {
            return Ok(false);
        };
        self.journal.spool(&answer)?;
        (call.spooled, self.spooled) = (true, true);
        Ok(true)
    }

    /// Writes down the next call and adds its events to `events`, or returns why the run stops before it.
    fn settle_call(
        &mut self,
        call: CompletedCall,
        events: &mut Vec<Event>,
    ) -> Result<Option<Stop>, RunError> {
        let planned = call.call.planned;
        let outcome = match call.answer {
            Ok(reply) => Outcome::Reply(reply),
            Err(error) if error.class == FailureClass::CAP => return Ok(halt_cause(&error)),
            Err(error) => {
                let stop = self.stop_after(&error);
                let failed = Event::Error(CallError {
                    round: planned.round,
                    mind_id: planned.mind,
                    class: error.class,
                    message: error.message,
                    attempts: error.attempts.clone(),
                    fatal: error.fatal,
                });
                self.commit(&failed)?;
                events.push(failed);
                if stop.is_some() {
                    return Ok(stop);
                }
                Outcome::Failed(error.attempts)
            }
        };
        let event = self.state.invocation(planned, outcome, call.latency_ms);
        let event = Event::MindInvocation(Box::new(event));
        self.commit(&event)?;
        events.push(event);
        Ok(None)
    }

    /// Returns the cause if a failed call stops the run.
    fn stop_after(&self, error: &MindError) -> Option<Stop> {
        let settings = self.state.settings();
        if error.fatal {
            halt_cause(error)
        } else if settings.on_error == OnError::Stop {
            Some(Stop::new(InterruptCause::Error, error.to_string()))
        } else if self.state.is_failing_too_often() {
            let many = 3 * u64::from(settings.n_minds);
            let detail = format!("{many} calls failed in a row, the last with {error}");
            Some(Stop::new(InterruptCause::Error, detail))
        } else if self.control.stop_unanswered && self.state.is_last_without_answer() {
            let round = self.state.round();
            let detail =
                format!("no call of round {round} was answered, the last failed with {error}");
            Some(Stop::new(InterruptCause::Error, detail))
        } else {
            None
        }
    }
}

/// Returns the cause if a failed call stops every run.
fn halt_cause(error: &MindError) -> Option<Stop> {
    if error.class == FailureClass::CAP {
        Some(Stop::new(InterruptCause::Cap, error.message.clone()))
    } else if error.fatal {
        Some(Stop::new(InterruptCause::Error, error.to_string()))
    } else {
        None
    }
}

/// Returns the first difference of a request from the expected one.
fn difference(template: &RequestTemplate, expected: &[u8], found: &[u8]) -> String {
    let at = (expected.iter().zip(found))
        .position(|(expected, found)| expected != found)
        .unwrap_or(expected.len().min(found.len()));
    let part = |body: &[u8]| {
        let end = body.len().min(at + 40);
        String::from_utf8_lossy(&body[at.min(end)..end]).into_owned()
    };
    let place = if at < template.body[0].len() {
        "before the prompt"
    } else {
        "in the prompt or after it"
    };
    let (expected, found) = (part(expected), part(found));
    format!("{place}, byte {at}: expected {expected:?}, found {found:?}")
}
