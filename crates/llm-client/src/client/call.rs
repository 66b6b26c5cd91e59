//! A call from the caller to the wire and back, through the layers in their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use llm_types::{Attempt, Request, Target};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use tracing::{Instrument as _, Span};

use super::answer::OpenAnswer;
use super::checked_transport::{CheckedTransport, NoTransport};
use super::core::ClientCore;
use super::finisher::{ReplyFinisher, ReportedUsage};
use super::prepare::CallTerms;
use super::replay::{replay, terms_for};
use super::trace;
use crate::error::TimeoutPhase;
use crate::layers::budget::Reservation;
use crate::layers::limiter::Permit;
use crate::layers::retry::{self, Decision};
use crate::layers::timeout::{Alarm, Elapsed, IdleTimer, headers_limit};
use crate::provider::{Answer, HttpRequest, ProviderCall, Route, Transport};
use crate::recording::recorder::{AttemptRecorder, CassetteKey};
use crate::recording::root::root_of;
use crate::{Error, ErrorKind};

/// Runs `request` by the route `wanted`; `wire` is the encoded request, if it exists already.
pub(crate) async fn run(
    inner: &Arc<ClientCore>,
    request: &Request,
    wanted: Route,
    wire: Option<HttpRequest>,
) -> Result<Answer, Error> {
    let target = inner.target(request);
    let operation = match wanted {
        Route::Count => "count_tokens",
        Route::Embed => "embeddings",
        _ => "chat",
    };
    let span = trace::span(operation, &target, request.max_tokens);
    let result = CallRun::new(inner, wanted, span.clone())
        .run(request, target, wire)
        .instrument(span.clone())
        .await;
    match &result {
        Ok(Answer::Count(count)) => trace::counted(&span, count),
        // The end of a reply tells.
        Ok(_) => {}
        Err(error) => trace::failed(&span, error),
    }
    result
}

tokio::task_local! {
    /// The number of the current attempt, from 1, for a caller that observes it.
    pub(crate) static ATTEMPT: Arc<AtomicU32>;
}

/// A call under way.
pub(crate) struct CallRun {
    inner: Arc<ClientCore>,
    wanted: Route,
    span: Span,
    /// The deadline of the call, as an instant of the clock.
    deadline: Duration,
    call: u64,
    /// The source of random waits, once there is one.
    random: Option<ChaCha20Rng>,
    alarm: Alarm,
    attempts: Vec<Attempt>,
    reservation: Option<Reservation>,
    key: Option<CassetteKey>,
    /// The maximum number of attempts, by the policy and the last failure.
    allowed: u32,
    /// The last failure, during another attempt.
    last: Option<Error>,
}

/// The parts of an attempt that outlive it, in addition to its result.
struct Traces {
    recorder: Option<AttemptRecorder>,
    permit: Option<Permit>,
    /// The usage that the server reported.
    reported: ReportedUsage,
}

impl CallRun {
    fn new(inner: &Arc<ClientCore>, wanted: Route, span: Span) -> Self {
        let call = inner.calls.fetch_add(1, Ordering::Relaxed);
        Self {
            deadline: inner
                .clock
                .elapsed()
                .saturating_add(inner.settings.timeouts.total),
            inner: inner.clone(),
            wanted,
            span,
            call,
            random: None,
            alarm: Alarm::new(&inner.clock),
            attempts: Vec::new(),
            reservation: None,
            key: None,
            allowed: 1,
            last: None,
        }
    }

    async fn run(
        mut self,
        request: &Request,
        target: Target,
        mut wire: Option<HttpRequest>,
    ) -> Result<Answer, Error> {
        let inner = self.inner.clone();
        let mut first = inner.prepare(request, target)?;
        if self.wanted == Route::Embed {
            // Vectors have no tokens: the prompt is all that is paid for.
            first.terms.max_tokens = Some(0);
        }
        let asks_a_model = first.terms.caps.offline.is_none();
        if asks_a_model && (inner.player.is_some() || inner.recorder.is_some()) {
            // A cassette knows a call by what is asked without the limit that a budget adds.
            let known = wire.take();
            let known = known.map_or_else(|| inner.encode(&first, self.wanted), Ok)?;
            let provider = &first.terms.target.provider;
            let root = root_of(provider, &known, request.replay_key.as_deref())?;
            if let Some(player) = &inner.player {
                let line = player.next(&root, &known)?;
                let terms = terms_for(&line, &inner, request, first.terms)?;
                return replay(inner, self.wanted, terms, known, line, self.span).await;
            }
            if let Some(recorder) = &inner.recorder {
                recorder.check()?;
                self.key = Some(CassetteKey {
                    n: recorder.next_repeat_index(&root),
                    root,
                    call: self.call,
                });
            }
            wire = Some(known);
        }
        let is_charged = asks_a_model && self.wanted != Route::Count;
        if is_charged && self.wanted != Route::Embed && inner.limit_reply(&mut first) {
            wire = None;
        }
        let most = if is_charged {
            Some(inner.most(&first, request).await?)
        } else {
            None
        };
        let wire = wire.map_or_else(|| inner.encode(&first, self.wanted), Ok)?;
        self.reservation = most.map(|most| inner.ledger.reserve(most)).transpose()?;
        // Behind the encoding nothing holds the request.
        let terms = Arc::new(first.terms);
        match self.ask(&terms, wire).await {
            Ok((open, traces)) => {
                let deadline = Some(self.timer());
                let end = ReplyFinisher {
                    inner,
                    terms,
                    span: self.span,
                    attempts: self.attempts,
                    reservation: self.reservation,
                    recorder: traces.recorder,
                    source: None,
                    reported: traces.reported,
                };
                open.arrive(end, deadline, traces.permit)
            }
            Err(mut error) => {
                error.context_mut().attempts = self.attempts;
                Err(error)
            }
        }
    }

    /// Attempts the call until there is an answer or the policy stops it.
    async fn ask(
        &mut self,
        terms: &CallTerms,
        wire: HttpRequest,
    ) -> Result<(OpenAnswer, Traces), Error> {
        let inner = self.inner.clone();
        terms.warnings.iter().for_each(trace::warning);
        let mut wait = Duration::ZERO;
        let mut n = 0;
        loop {
            let began = inner.clock.elapsed();
            // Only some callers count.
            let _ = ATTEMPT.try_with(|attempt| attempt.store(n + 1, Ordering::Relaxed));
            let mut traces = Traces {
                recorder: None,
                permit: None,
                reported: ReportedUsage::default(),
            };
            let result = self.attempt(terms, &wire, n, &mut traces).await;
            let number = self.attempts.len() as u32 + 1;
            let mut attempt = Attempt::new(number, terms.target.clone());
            attempt.status = Some(200);
            attempt.wait = wait;
            attempt.latency = inner.clock.elapsed().saturating_sub(began);
            let mut error = match result {
                Ok(open) => {
                    self.attempts.push(attempt);
                    return Ok((open, traces));
                }
                Err(error) => error,
            };
            inner.explain(&mut error);
            attempt.status = error.status();
            attempt.class = Some(error.class());
            if let Some(reservation) = &mut self.reservation {
                reservation.learn(traces.reported.charge_of(&error, &inner, terms));
                attempt.charge = reservation.fail();
            }
            if !matches!(error.kind(), ErrorKind::Refused { .. }) {
                self.attempts.push(attempt);
            }
            let policy = &inner.settings.retry;
            let asked = retry::asked_of_all(&error, policy, inner.clock.now());
            let (error, next) = self.decide(error, n);
            // The budget is asked before the line is written: without its consent this attempt was the last one.
            let consent = match &mut self.reservation {
                Some(reservation) if next.is_some() => reservation.renew(),
                _ => Ok(()),
            };
            let (mut error, mut next) = (error, next);
            if let Err(refused) = consent {
                next = None;
                error.context_mut().note = Some(refused.to_string());
            }
            if let Some(mut recorder) = traces.recorder.take() {
                recorder.finish(Some(&error), next.is_none())?;
            }
            let busy = matches!(
                error.kind(),
                ErrorKind::RateLimited { .. } | ErrorKind::Overloaded { .. }
            );
            if let (Some(permit), Some(wait)) = (&traces.permit, next.filter(|_| busy).or(asked)) {
                permit.queue().pause(inner.clock.as_ref(), wait);
            }
            let Some(next) = next else {
                return Err(error);
            };
            // The slot is free while this call waits, and no limit runs.
            drop(traces);
            self.alarm.stop();
            trace::retry(&terms.target, &error, next, n + 2, self.allowed);
            self.last = Some(error);
            inner.clock.sleep(next).await;
            wait = next;
            n += 1;
        }
    }

    /// Decides after the failure of attempt `n`: the wait before the next one, or the final error.
    fn decide(&mut self, error: Error, n: u32) -> (Error, Option<Duration>) {
        if self.wanted == Route::Count && error.status() == Some(501) {
            // The server says that it never counts: an estimate will do at once.
            return (error, None);
        }
        let inner = &self.inner;
        let policy = &inner.settings.retry;
        let (wait, most) = match retry::decide(&error, policy, inner.clock.now()) {
            Decision::Stop => return (error, None),
            Decision::TooLong(asked) => return (retry::too_long(asked, error), None),
            Decision::Retry { wait, max_attempts } => (wait, max_attempts),
        };
        self.allowed = policy
            .retries
            .saturating_add(1)
            .min(most.unwrap_or(u32::MAX));
        if n + 1 >= self.allowed {
            return (error, None);
        }
        let random = self.random.get_or_insert_with(|| {
            let mut random = ChaCha20Rng::seed_from_u64(inner.settings.seed);
            random.set_stream(self.call);
            random
        });
        let wait = retry::delay(wait, n, policy, random);
        if inner.clock.elapsed().saturating_add(wait) >= self.deadline {
            return (Error::deadline(Some(error)), None);
        }
        (error, Some(wait))
    }

    /// Runs one attempt, up to the reply or the first event.
    async fn attempt(
        &mut self,
        terms: &CallTerms,
        wire: &HttpRequest,
        n: u32,
        traces: &mut Traces,
    ) -> Result<OpenAnswer, Error> {
        let inner = self.inner.clone();
        let mut deadline = self.timer();
        let alarm = self.alarm.clone();
        let key = self.key.clone();
        let number = self.attempts.len() as u32 + 1;
        let send_state = self
            .reservation
            .as_ref()
            .map(|reservation| reservation.send_state.clone());
        let wanted = self.wanted;
        let result = deadline
            .guard(async {
                let permit = inner.limiter.enter(&terms.target).await;
                let queue = permit.as_ref().map(Permit::queue);
                traces.permit = permit;
                let mut transport: Arc<dyn Transport> = if terms.caps.offline.is_some() {
                    Arc::new(NoTransport)
                } else {
                    inner.transport()?
                };
                if let (Some(recorder), Some(key)) = (&inner.recorder, key) {
                    let recorder =
                        AttemptRecorder::new(recorder.clone(), key, terms.target.clone(), number);
                    transport = recorder.listen(transport);
                    traces.recorder = Some(recorder);
                }
                let timeouts = &inner.settings.timeouts;
                let headers = match wanted {
                    Route::Count => timeouts.headers,
                    _ => headers_limit(timeouts, &terms.caps, terms.max_tokens, &terms.extra),
                };
                let transport = Arc::new(CheckedTransport {
                    inner: transport,
                    timer: inner.request_timer(&alarm, headers),
                    clock: inner.clock.clone(),
                    send_state,
                    queue,
                    max_body: terms.caps.max_body,
                });
                let mut wire = wire.clone();
                if n > 0 && inner.settings.retry.send_count {
                    wire.headers.set("x-retry-count", &n.to_string());
                }
                let route = terms.route(wanted, timeouts.total);
                let target = terms.target.clone();
                let mut call = ProviderCall::new(wire, route, target, transport);
                call.attempt = n;
                let progress = Some((&alarm, timeouts.progress));
                let answer = OpenAnswer::of(&inner, call, wanted, progress, &mut traces.reported);
                let Some(limit) = timeouts.attempt else {
                    return answer.await;
                };
                // The wait for a permit is not time of the attempt.
                IdleTimer::new(&alarm, limit)
                    .guard(answer)
                    .await
                    .unwrap_or_else(|Elapsed| Err(Error::timeout(TimeoutPhase::Reply, limit)))
            })
            .await;
        result.unwrap_or_else(|Elapsed| Err(Error::deadline(self.last.take())))
    }

    fn timer(&self) -> IdleTimer {
        let clock = &self.inner.clock;
        IdleTimer::new(&self.alarm, self.deadline.saturating_sub(clock.elapsed()))
    }
}
