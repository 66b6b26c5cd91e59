//! Timeouts of silent servers.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use llm_types::Event;
use serde_json::{Map, Value};

use crate::EventStream;
use crate::error::TimeoutPhase;
use crate::provider::{Capabilities, HttpRequest, HttpResponse, Transport};
use crate::{Error, Timeouts, Timer};

/// The timer of a call, which all its limits share: one sleep for the limit that ends first.
#[derive(Clone)]
pub(crate) struct Alarm {
    clock: Arc<dyn Timer>,
    shared: Arc<Mutex<SharedSleep>>,
}

/// The sleep of all limits, and the number of limits so far.
#[derive(Default)]
struct SharedSleep {
    sleep: Option<Sleep>,
    limits: u64,
}

/// A sleep under way.
struct Sleep {
    until: Duration,
    ends: BoxFuture<'static, ()>,
    /// The task that it wakes.
    waker: Waker,
    /// The number of the limit that began it.
    limit: u64,
}

impl Alarm {
    pub fn new(clock: &Arc<dyn Timer>) -> Self {
        Self {
            clock: clock.clone(),
            shared: Arc::default(),
        }
    }

    fn shared(&self) -> MutexGuard<'_, SharedSleep> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the sleep, when nothing is limited for a while.
    pub fn stop(&self) {
        self.shared().sleep = None;
    }

    /// The number of a further limit.
    fn next_limit(&self) -> u64 {
        let mut shared = self.shared();
        shared.limits += 1;
        shared.limits
    }

    /// Polls the moment `until` for `limit`. If the shared sleep is of another limit and wakes another task, `own` is used.
    fn poll_until(
        &self,
        limit: u64,
        own: &mut Option<Sleep>,
        context: &mut Context<'_>,
        until: Duration,
    ) -> Poll<()> {
        let mut shared = self.shared();
        let is_ours = shared
            .sleep
            .as_ref()
            .is_none_or(|sleep| sleep.limit == limit || sleep.waker.will_wake(context.waker()));
        let sleep = if is_ours { &mut shared.sleep } else { own };
        if let Some(sleep) = sleep.as_mut().filter(|sleep| sleep.until <= until) {
            sleep.waker.clone_from(context.waker());
            ready!(sleep.ends.poll_unpin(context));
        }
        loop {
            let left = until.saturating_sub(self.clock.elapsed());
            if left.is_zero() {
                *sleep = None;
                return Poll::Ready(());
            }
            let next = sleep.insert(Sleep {
                until,
                ends: self.clock.sleep(left),
                waker: context.waker().clone(),
                limit,
            });
            ready!(next.ends.poll_unpin(context));
        }
    }
}

/// A timer that ends after an idle time. A reset costs no new sleep: the time is looked at again only when one ends.
pub(crate) struct IdleTimer {
    alarm: Alarm,
    limit: Duration,
    reset: Duration,
    /// Whether the timer was reset after that.
    is_reset: bool,
    number: u64,
    own: Option<Sleep>,
}

/// The end of the idle time.
pub(crate) struct Elapsed;

impl IdleTimer {
    pub fn new(alarm: &Alarm, limit: Duration) -> Self {
        Self {
            limit,
            reset: alarm.clock.elapsed(),
            is_reset: false,
            number: alarm.next_limit(),
            own: None,
            alarm: alarm.clone(),
        }
    }

    /// Restarts the idle time at the next poll.
    pub fn reset(&mut self) {
        self.is_reset = true;
    }

    /// The result of `work`, if it ends in time.
    pub async fn guard<F: Future>(&mut self, work: F) -> Result<F::Output, Elapsed> {
        let mut work = pin!(work);
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll_elapsed(context).map(Err),
        })
        .await
    }

    /// Polls the end of the idle time. Poll the awaited work first, so that a result at the same moment is in time.
    pub fn poll_elapsed(&mut self, context: &mut Context<'_>) -> Poll<Elapsed> {
        if std::mem::take(&mut self.is_reset) {
            // Not for every sign of life: many may come without a wait between them.
            self.reset = self.alarm.clock.elapsed();
        }
        let until = self.reset.saturating_add(self.limit);
        let alarm = &self.alarm;
        alarm
            .poll_until(self.number, &mut self.own, context, until)
            .map(|()| Elapsed)
    }
}

/// The longest time for one token of a hosted server: 128,000 tokens in an hour.
const LONGEST_TOKEN: Duration = Duration::from_micros(28_125);

/// The limit for the headers of a plain reply, which the server sends after the reply is written. `None` for no limit.
pub(crate) fn headers_limit(
    timeouts: &Timeouts,
    caps: &Capabilities,
    max_tokens: Option<u32>,
    extra: &Map<String, Value>,
) -> Option<Duration> {
    if timeouts.headers.is_some() || caps.self_hosted {
        return timeouts.headers;
    }
    let extra = |name: &str| extra.get(name).and_then(Value::as_u64);
    let sent = max_tokens.or(caps.default_max_tokens);
    let most = [
        sent.map(u64::from),
        extra("max_tokens"),
        extra("max_completion_tokens"),
    ];
    let most = u32::try_from(most.into_iter().flatten().max()?).unwrap_or(u32::MAX);
    Some(Duration::from_mins(1).saturating_add(LONGEST_TOKEN.saturating_mul(most)))
}

/// The limits of one request: no headers of a plain reply, no first byte of a stream, or no further byte of a body.
pub(crate) struct RequestTimer {
    pub alarm: Alarm,
    pub timeouts: Timeouts,
    /// The limit for the headers of a plain reply.
    pub headers: Option<Duration>,
}

impl RequestTimer {
    /// Sends `request`, and times out on a silent server.
    pub async fn send(
        &self,
        transport: &dyn Transport,
        request: HttpRequest,
    ) -> Result<HttpResponse, Error> {
        let Timeouts {
            first_byte, idle, ..
        } = self.timeouts;
        let mut response;
        let (timer, phase, limit);
        if request.streams {
            // The time for the first byte goes on from the headers into the body.
            let mut first = IdleTimer::new(&self.alarm, first_byte);
            response = first
                .guard(transport.execute(request))
                .await
                .map_err(|_| Error::timeout(TimeoutPhase::FirstByte, first_byte))??;
            (timer, phase, limit) = (first, TimeoutPhase::FirstByte, first_byte);
        } else {
            let asked = transport.execute(request);
            response = match self.headers {
                None => asked.await?,
                Some(headers) => IdleTimer::new(&self.alarm, headers)
                    .guard(asked)
                    .await
                    .map_err(|_| Error::timeout(TimeoutPhase::FirstByte, headers))??,
            };
            timer = IdleTimer::new(&self.alarm, idle);
            (phase, limit) = (TimeoutPhase::Idle, idle);
        }
        response.body = TimedBody {
            body: response.body,
            timer,
            phase,
            limit,
            idle,
        }
        .boxed();
        Ok(response)
    }
}

/// A body with an idle timeout. A struct instead of `unfold`, which would move its state for every chunk.
struct TimedBody {
    body: BoxStream<'static, Result<Bytes, Error>>,
    timer: IdleTimer,
    phase: TimeoutPhase,
    limit: Duration,
    /// The limit after the first byte.
    idle: Duration,
}

impl Stream for TimedBody {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Poll::Ready(item) = self.body.poll_next_unpin(context) else {
            ready!(self.timer.poll_elapsed(context));
            // Closes the connection.
            self.body = stream::empty().boxed();
            return Poll::Ready(Some(Err(Error::timeout(self.phase, self.limit))));
        };
        if self.phase == TimeoutPhase::FirstByte {
            self.timer = IdleTimer::new(&self.timer.alarm, self.idle);
            (self.phase, self.limit) = (TimeoutPhase::Idle, self.idle);
        } else {
            self.timer.reset();
        }
        Poll::Ready(item)
    }
}

/// Adds a timeout to `events`: [`TimeoutPhase::Progress`] if only pings and unknown events arrive for `limit`.
pub(crate) fn with_progress_limit(
    events: EventStream,
    alarm: &Alarm,
    limit: Duration,
) -> EventStream {
    EventStream::new(ProgressStream {
        events,
        timer: IdleTimer::new(alarm, limit),
    })
}

/// Whether an event is more than a sign of life.
fn is_progress(event: &Event) -> bool {
    match event {
        Event::Ping | Event::Unknown { .. } => false,
        Event::TextDelta { text, .. }
        | Event::ThinkingDelta { text, .. }
        | Event::ToolInputDelta { json: text, .. } => !text.is_empty(),
        _ => true,
    }
}

struct ProgressStream {
    events: EventStream,
    timer: IdleTimer,
}

impl Stream for ProgressStream {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Poll::Ready(item) = self.events.poll_next_unpin(context) else {
            ready!(self.timer.poll_elapsed(context));
            // Closes the connection.
            self.events = EventStream::new(stream::empty());
            let error = Error::timeout(TimeoutPhase::Progress, self.timer.limit);
            return Poll::Ready(Some(Err(error)));
        };
        if !matches!(&item, Some(Ok(event)) if !is_progress(event)) {
            self.timer.reset();
        }
        Poll::Ready(item)
    }
}
