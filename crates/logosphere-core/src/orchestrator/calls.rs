use std::collections::BTreeMap;
use std::future::pending;

use futures_util::stream::{FuturesUnordered, StreamExt as _};

use super::{Book, Orchestrator, PATIENCE, Progress, RunError, Stop};
use crate::journal::{JournalSink, Spooled};
use crate::state::{Outcome, Planned, Step};
use crate::{
    CallError, Clock, Event, Mind, MindError, MindReply, OnError, RequestTemplate, Scheduling, Side,
};

/// A call that has come back.
struct Returned {
    planned: Planned,
    answer: Result<MindReply, MindError>,
    latency_ms: u64,
}

impl<M: Mind, J: JournalSink, C: Clock> Orchestrator<M, J, C> {
    /// Asks the minds that are left in the open round: as many at the same time as the scheduling allows, written down
    /// in their order.
    pub(super) async fn call_minds(
        &mut self,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<Option<Stop>, RunError> {
        let Self {
            mind,
            clock,
            book,
            spooled,
        } = self;
        let settings = book.state.settings();
        let (minds, seed) = (settings.n_minds, settings.seed);
        let width = match settings.scheduling {
            Scheduling::Sequential => 1,
            Scheduling::Snapshot => settings.concurrency.max(1),
        };
        let Step::Call { mind: mut launch } = book.state.next() else {
            return Ok(None);
        };
        let cancel = book.control.cancel.clone();
        let mut flying = FuturesUnordered::new();
        let mut returned = BTreeMap::new();
        let mut stop = None;
        // A call has stopped the run: it is asked again by whoever resumes, and what came back behind it waits in the spool.
        let mut closed = false;
        // A call has come back that will stop the run when its turn comes.
        let mut halted = false;
        let mut patience = None;
        loop {
            while !closed
                && let Step::Call { mind } = book.state.next()
                && let Some(call) = returned.remove(&mind)
            {
                if let Some(cause) = book.settle_call(call, show)? {
                    closed = true;
                    stop = Some(cause);
                }
            }
            stop = stop.or_else(|| book.stop_cause());
            // With a width of 1 a call begins when the one before it is written, so a mind reads what that one sent.
            while stop.is_none()
                && !halted
                && launch < minds
                && flying.len() < width
                && (width > 1 || returned.is_empty())
            {
                let planned = book.state.plan(launch);
                book.check(&planned, mind)?;
                match spooled.remove(&(planned.round, launch)) {
                    Some(answer) if answer.request_sha256 == planned.request_sha256 => {
                        let call = Returned {
                            planned,
                            latency_ms: answer.latency_ms,
                            answer: Ok(answer.into_reply()),
                        };
                        returned.insert(launch, call);
                    }
                    _ => flying.push(ask(&*mind, &**clock, seed, planned)),
                }
                launch += 1;
            }
            if flying.is_empty() {
                match book.state.next() {
                    _ if stop.is_some() => return Ok(stop),
                    Step::Call { mind } if launch < minds || returned.contains_key(&mind) => {
                        continue;
                    }
                    _ => return Ok(None),
                }
            }
            // A call that failed is waited behind for as long as the others take: they are paid.
            let hurried = stop
                .as_ref()
                .is_some_and(|stop: &Stop| stop.cause != "error" && stop.cause != "cap");
            if (hurried || cancel.is_cancelled()) && patience.is_none() {
                patience = Some(Box::pin(tokio::time::sleep(PATIENCE)));
            }
            let out_of_patience = async {
                match &mut patience {
                    Some(patience) => patience.await,
                    None => pending().await,
                }
            };
            let time_left = book.time_left().filter(|_| stop.is_none());
            let time_is_up = async {
                match time_left {
                    Some(left) => tokio::time::sleep(left).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                Some(call) = flying.next() => {
                    let call: Returned = call;
                    book.keep(&call)?;
                    halted |= call.answer.as_ref().is_err_and(|error| error.fatal || error.class == MindError::CAP);
                    returned.insert(call.planned.mind, call);
                }
                () = cancel.cancelled(), if !cancel.is_cancelled() => {}
                () = time_is_up => {}
                () = out_of_patience => return Ok(stop),
            }
        }
    }
}

async fn ask<M: Mind, C: Clock>(mind: &M, clock: &C, seed: u64, planned: Planned) -> Returned {
    let begun = clock.monotonic_ms();
    let side = Side::new(seed, planned.round, planned.mind);
    let answer = mind.respond(&planned.input, &side).await;
    Returned {
        planned,
        answer,
        latency_ms: clock.monotonic_ms().saturating_sub(begun),
    }
}

impl<J: JournalSink, C: Clock> Book<J, C> {
    /// Holds the request that a mind is about to send against the one that should be sent.
    fn check(&mut self, planned: &Planned, mind: &impl Mind) -> Result<(), RunError> {
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
            let what = difference(self.state.template(), &planned.body, &request.body);
            return Err(leak(what));
        }
        let first = self.headers.get_or_insert_with(|| request.headers.clone());
        if *first != request.headers {
            let what = "its headers are not those of the first request".to_owned();
            return Err(leak(what));
        }
        Ok(())
    }

    /// Keeps an answer safe: it is paid for.
    fn keep(&mut self, call: &Returned) -> Result<(), RunError> {
        let Ok(reply) = &call.answer else {
            return Ok(());
        };
        self.journal.spool(&Spooled {
            round: call.planned.round,
            mind_id: call.planned.mind,
            request_sha256: call.planned.request_sha256.clone(),
            latency_ms: call.latency_ms,
            attempts: reply.attempts.clone(),
            reply: reply.clone(),
        })?;
        Ok(())
    }

    /// Writes down the call that is next, or says why the run stops before it.
    fn settle_call(
        &mut self,
        call: Returned,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<Option<Stop>, RunError> {
        let outcome = match call.answer {
            Ok(reply) => Outcome::Reply(reply),
            Err(error) if error.class == MindError::CAP => {
                return Ok(Some(Stop::new("cap", error.message)));
            }
            Err(error) => {
                let stop = self.stop_after(&error);
                let told = Event::Error(CallError {
                    round: call.planned.round,
                    mind_id: call.planned.mind,
                    class: error.class,
                    message: error.message,
                    attempts: error.attempts.clone(),
                    fatal: error.fatal,
                });
                self.commit(&told)?;
                if let Event::Error(error) = &told {
                    show(Progress::Failed(error));
                }
                if stop.is_some() {
                    return Ok(stop);
                }
                Outcome::Failed(error.attempts)
            }
        };
        let event = self
            .state
            .invocation(call.planned, outcome, call.latency_ms);
        let event = Event::MindInvocation(Box::new(event));
        self.commit(&event)?;
        if let Event::MindInvocation(event) = &event {
            show(Progress::Called(event, self.state.meter_key(event)));
        }
        Ok(None)
    }

    /// Whether a failed call stops the run.
    fn stop_after(&self, error: &MindError) -> Option<Stop> {
        let settings = self.state.settings();
        if error.fatal || settings.on_error == OnError::Stop {
            Some(Stop::new("error", error.to_string()))
        } else if self.state.is_failing_too_often() {
            let many = 3 * u64::from(settings.n_minds);
            let detail = format!("{many} calls failed in a row, the last with {error}");
            Some(Stop::new("error", detail))
        } else {
            None
        }
    }
}

/// What is different about a request from what it should be.
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
        "in the prompt or behind it"
    };
    let (expected, found) = (part(expected), part(found));
    format!("{place}, byte {at}: expected {expected:?}, found {found:?}")
}
