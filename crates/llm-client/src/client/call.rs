//! A call from the caller to the wire and back, through the layers in their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use llm_types::{Attempt, Charge, Count, Event, Reply, ReplySource, Request, Target};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use tracing::{Instrument as _, Span};

use super::checked_transport::{CheckedTransport, NoTransport};
use super::core::ClientCore;
use super::open_stream::{OpenStream, ReportedUsage};
use super::prepare::PreparedRequest;
use super::trace;
use crate::codec::reply_as_events;
use crate::layers::budget::Reservation;
use crate::layers::limiter::Permit;
use crate::layers::retry::{self, Decision};
use crate::layers::timeout::{Elapsed, IdleTimer, headers_limit, with_progress_limit};
use crate::provider::{Answer, ProviderCall, Route};
use crate::recording::cassette::{Line, RecordedKind, root_of};
use crate::recording::recorder::{AttemptRecorder, CassetteKey};
use crate::recording::replay::ReplayTransport;
use crate::transport::{HeaderText, HttpRequest, Transport};
use crate::{Error, ErrorKind, EventStream};

/// Runs `request` by the route `wanted`; `wire` is the encoded request, if it exists already.
pub(crate) async fn run(
    inner: &Arc<ClientCore>,
    request: &Request,
    wanted: Route,
    wire: Option<HttpRequest>,
) -> Result<Answer, Error> {
    let target = inner.target(request);
    let operation = if wanted == Route::Count {
        "count_tokens"
    } else {
        "chat"
    };
    let span = trace::span(operation, &target, request.max_tokens);
    let result = CallRun::new(inner, wanted, span.clone())
        .run(request, target, wire)
        .instrument(span.clone())
        .await;
    match &result {
        Ok(Answer::Reply(reply)) => trace::answered(&span, reply),
        Ok(Answer::Count(count)) => trace::counted(&span, count),
        // The last event of a stream tells.
        Ok(_) => {}
        Err(error) => trace::failed(&span, error),
    }
    result
}

tokio::task_local! {
    /// The number of the current attempt, from 1, for a caller that observes it.
    pub(crate) static ATTEMPT: Arc<AtomicU32>;
}

/// The error of a provider whose answer does not fit the route.
pub(crate) fn other_form() -> Error {
    Error::protocol("a provider answered in another form than asked")
}

/// A call under way.
pub(crate) struct CallRun {
    inner: Arc<ClientCore>,
    wanted: Route,
    span: Span,
    /// The deadline of the call, as an instant of the clock.
    deadline: Duration,
    call: u64,
    random: ChaCha20Rng,
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
        let mut random = ChaCha20Rng::seed_from_u64(inner.settings.seed);
        random.set_stream(call);
        Self {
            deadline: inner
                .clock
                .elapsed()
                .saturating_add(inner.settings.timeouts.total),
            inner: inner.clone(),
            wanted,
            span,
            call,
            random,
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
        let asks_a_model = first.caps.offline.is_none();
        if asks_a_model && (inner.player.is_some() || inner.recorder.is_some()) {
            // A cassette knows a call by what is asked without the limit that a budget adds.
            let known = wire.take();
            let known = known.map_or_else(|| inner.encode(&first, self.wanted), Ok)?;
            let provider = &first.target.provider;
            let (root, key) = root_of(provider, &known, request.replay_key.as_deref())?;
            if let Some(player) = &inner.player {
                let line = player.next(&root, &key, &known.path)?;
                let served = Target::new(&line.provider, &line.model);
                let prepared = if served == first.target {
                    first
                } else if served.provider == first.target.provider {
                    // An earlier version recorded chains of models.
                    inner.prepare(request, served)?
                } else {
                    return Err(Error::cassette(
                        None,
                        format!(
                            "the recorded reply is from {}; replay it with a client of that provider",
                            served.provider
                        ),
                    ));
                };
                return self.replay(prepared, known, line).await;
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
        if is_charged && inner.limit_reply(&mut first) {
            wire = None;
        }
        let most = if is_charged {
            Some(inner.most(&first, request).await?)
        } else {
            None
        };
        let wire = wire.map_or_else(|| inner.encode(&first, self.wanted), Ok)?;
        self.reservation = most.map(|most| inner.ledger.reserve(most)).transpose()?;
        let result = self.ask(&Arc::new(first), &wire).await;
        result.map_err(|mut error| {
            error.context_mut().attempts = std::mem::take(&mut self.attempts);
            error
        })
    }

    /// Attempts the call until there is an answer or the policy stops it.
    async fn ask(
        &mut self,
        prepared: &Arc<PreparedRequest>,
        wire: &HttpRequest,
    ) -> Result<Answer, Error> {
        let inner = self.inner.clone();
        prepared.warnings.iter().for_each(trace::warning);
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
            let result = self.attempt(prepared, wire, n, &mut traces).await;
            let mut attempt = Attempt {
                n: self.attempts.len() as u32 + 1,
                target: prepared.target.clone(),
                status: Some(200),
                class: None,
                wait,
                latency: inner.clock.elapsed().saturating_sub(began),
                charge: Charge::NONE,
            };
            let mut error = match result {
                Ok(open) => {
                    self.attempts.push(attempt);
                    return self.arrive(open, prepared, traces);
                }
                Err(error) => error,
            };
            inner.explain(&mut error);
            attempt.status = error.status();
            attempt.class = Some(error.class());
            if let Some(reservation) = &mut self.reservation {
                reservation.learn(traces.reported.charge_of(&error, &inner, prepared));
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
            // The slot is free while this call waits.
            drop(traces);
            trace::retry(&prepared.target, &error, next, n + 2, self.allowed);
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
            Decision::TooLong(asked) => return (too_long(asked, error), None),
            Decision::Retry { wait, max_attempts } => (wait, max_attempts),
        };
        self.allowed = policy
            .retries
            .saturating_add(1)
            .min(most.unwrap_or(u32::MAX));
        if n + 1 >= self.allowed {
            return (error, None);
        }
        let wait = retry::delay(wait, n, policy, &mut self.random);
        if inner.clock.elapsed().saturating_add(wait) >= self.deadline {
            return (Error::deadline(Some(error)), None);
        }
        (error, Some(wait))
    }

    /// Runs one attempt, up to the reply or the first event.
    async fn attempt(
        &mut self,
        prepared: &Arc<PreparedRequest>,
        wire: &HttpRequest,
        n: u32,
        traces: &mut Traces,
    ) -> Result<OpenAnswer, Error> {
        let inner = self.inner.clone();
        let mut deadline = self.timer();
        let key = self.key.clone();
        let number = self.attempts.len() as u32 + 1;
        let send_state = self
            .reservation
            .as_ref()
            .map(|reservation| reservation.send_state.clone());
        let wanted = self.wanted;
        let result = deadline
            .guard(async {
                let permit = inner.limiter.enter(prepared.target.clone()).await;
                let queue = permit.as_ref().map(Permit::queue);
                traces.permit = permit;
                let mut transport: Arc<dyn Transport> = if prepared.caps.offline.is_some() {
                    Arc::new(NoTransport)
                } else {
                    inner.transport()?
                };
                if let (Some(recorder), Some(key)) = (&inner.recorder, key) {
                    let recorder = AttemptRecorder::new(
                        recorder.clone(),
                        key,
                        prepared.target.clone(),
                        number,
                    );
                    transport = recorder.listen(transport);
                    traces.recorder = Some(recorder);
                }
                let timeouts = &inner.settings.timeouts;
                let headers = match wanted {
                    Route::Count => timeouts.headers,
                    _ => headers_limit(timeouts, &prepared.request, &prepared.caps),
                };
                let transport = Arc::new(CheckedTransport {
                    inner: inner.timed(transport, headers),
                    clock: inner.clock.clone(),
                    send_state,
                    queue,
                    max_body: prepared.caps.max_body,
                });
                let mut wire = wire.clone();
                if n > 0 && inner.settings.retry.send_count {
                    let count = HeaderText::Open(n.to_string());
                    wire.headers.push(("x-retry-count", count));
                }
                let call = ProviderCall {
                    wire,
                    route: prepared.route(wanted, timeouts.total),
                    target: prepared.target.clone(),
                    attempt: n,
                    transport,
                };
                let progress = Some(timeouts.progress);
                open(&inner, call, wanted, progress, &mut traces.reported).await
            })
            .await;
        result.unwrap_or_else(|Elapsed| Err(Error::deadline(self.last.take())))
    }

    /// Ends a successful attempt: completes the reply, or returns the open stream.
    fn arrive(
        &mut self,
        open: OpenAnswer,
        prepared: &Arc<PreparedRequest>,
        mut traces: Traces,
    ) -> Result<Answer, Error> {
        let inner = self.inner.clone();
        match open {
            OpenAnswer::Whole(mut reply) => {
                inner.complete_reply(&mut reply, prepared, None);
                // The reply is paid for, whether it can be written down or not.
                if let Some(reservation) = self.reservation.take()
                    && let Some(attempt) = self.attempts.last_mut()
                {
                    attempt.charge = reservation.settle(inner.charge(&reply, prepared));
                }
                reply.attempts.clone_from(&self.attempts);
                if let Some(mut recorder) = traces.recorder.take() {
                    recorder.finish(None, true)?;
                }
                Ok(Answer::Reply(reply))
            }
            OpenAnswer::Count(count) => {
                if let Some(mut recorder) = traces.recorder.take() {
                    recorder.finish(None, true)?;
                }
                Ok(Answer::Count(count))
            }
            OpenAnswer::Stream(first, events) => Ok(Answer::Stream(
                OpenStream {
                    deadline: Some(self.timer()),
                    inner,
                    first: Some(*first),
                    events,
                    prepared: prepared.clone(),
                    attempts: std::mem::take(&mut self.attempts),
                    reservation: self.reservation.take(),
                    permit: traces.permit.take(),
                    recorder: traces.recorder.take(),
                    source: None,
                    span: self.span.clone(),
                    reported: traces.reported,
                    if_dropped: Arc::default(),
                }
                .into_events(),
            )),
        }
    }

    fn timer(&self) -> IdleTimer {
        let clock = &self.inner.clock;
        IdleTimer::new(clock, self.deadline.saturating_sub(clock.elapsed()))
    }

    /// Answers from a recorded attempt, decoded by the codec that reads the server's bytes.
    async fn replay(
        self,
        prepared: PreparedRequest,
        wire: HttpRequest,
        line: Arc<Line>,
    ) -> Result<Answer, Error> {
        let inner = self.inner;
        prepared.warnings.iter().for_each(trace::warning);
        let prepared = Arc::new(prepared);
        let out_of_time = line
            .error
            .as_ref()
            .is_some_and(|error| error.kind == RecordedKind::Deadline);
        let mut attempt = Attempt {
            n: line.attempt,
            target: prepared.target.clone(),
            status: line.response.as_ref().map(|response| response.status),
            class: None,
            wait: Duration::ZERO,
            latency: Duration::ZERO,
            charge: Charge::NONE,
        };
        let call = ProviderCall {
            wire,
            route: prepared.route(self.wanted, inner.settings.timeouts.total),
            target: prepared.target.clone(),
            attempt: 0,
            transport: Arc::new(ReplayTransport {
                line,
                timeouts: inner.settings.timeouts,
            }),
        };
        match open(
            &inner,
            call,
            self.wanted,
            None,
            &mut ReportedUsage::default(),
        )
        .await
        {
            Ok(OpenAnswer::Whole(mut reply)) => {
                inner.complete_reply(&mut reply, &prepared, Some(ReplySource::Replay));
                reply.attempts = vec![attempt];
                Ok(Answer::Reply(reply))
            }
            Ok(OpenAnswer::Count(count)) => Ok(Answer::Count(count)),
            Ok(OpenAnswer::Stream(first, events)) => Ok(Answer::Stream(
                OpenStream {
                    inner,
                    first: Some(*first),
                    events,
                    prepared,
                    attempts: vec![attempt],
                    deadline: None,
                    reservation: None,
                    permit: None,
                    recorder: None,
                    source: Some(ReplySource::Replay),
                    span: self.span,
                    reported: ReportedUsage::default(),
                    if_dropped: Arc::default(),
                }
                .into_events(),
            )),
            Err(mut error) => {
                inner.explain(&mut error);
                let policy = &inner.settings.retry;
                let mut error = match retry::decide(&error, policy, inner.clock.now()) {
                    Decision::TooLong(asked) => too_long(asked, error),
                    _ => error,
                };
                if out_of_time && !matches!(error.kind(), ErrorKind::Deadline) {
                    // The time was over before the wait that this failure asked for.
                    error = Error::deadline(Some(error));
                }
                attempt.class = Some(error.class());
                error.context_mut().attempts = vec![attempt];
                Err(error)
            }
        }
    }
}

/// An answer that has begun.
enum OpenAnswer {
    Whole(Box<Reply>),
    Stream(Box<Event>, EventStream),
    Count(Count),
}

/// Asks the provider and converts the answer to the form `wanted`; `reported` collects the usage of a stream that is read
/// here.
async fn open(
    inner: &ClientCore,
    call: ProviderCall,
    wanted: Route,
    progress: Option<Duration>,
    reported: &mut ReportedUsage,
) -> Result<OpenAnswer, Error> {
    let answer = match (inner.settings.provider.answer(call).await?, progress) {
        (Answer::Stream(events), Some(limit)) => {
            Answer::Stream(with_progress_limit(events, &inner.clock, limit))
        }
        (answer, _) => answer,
    };
    match (wanted, answer) {
        (Route::Count, Answer::Count(count)) => Ok(OpenAnswer::Count(count)),
        (Route::Whole, Answer::Reply(reply)) => Ok(OpenAnswer::Whole(reply)),
        (Route::Whole, Answer::Stream(events)) => {
            let reply = events
                .collect_telling(|event| reported.event(event))
                .await?;
            Ok(OpenAnswer::Whole(Box::new(reply)))
        }
        (Route::Stream, answer) => {
            let mut events = match answer {
                Answer::Stream(events) => events,
                Answer::Reply(reply) => reply_as_events(*reply),
                _ => return Err(other_form()),
            };
            match events.next().await {
                Some(first) => Ok(OpenAnswer::Stream(Box::new(first?), events)),
                None => Err(Error::protocol("the stream of events is empty")),
            }
        }
        _ => Err(other_form()),
    }
}

/// The error of a server that asks for a longer wait than the policy allows.
fn too_long(asked: Duration, mut error: Error) -> Error {
    *error.kind_mut() = ErrorKind::RetryAfterTooLong { asked };
    error
}
