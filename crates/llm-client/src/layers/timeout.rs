//! Timeouts of silent servers.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use llm_types::{Event, Request};
use serde_json::Value;

use crate::EventStream;
use crate::error::TimeoutPhase;
use crate::provider::{Capabilities, HttpRequest, HttpResponse, Transport};
use crate::{Error, Timeouts, Timer};

/// A timer that ends after an idle time. One sleep serves many resets: it is checked again only when it ends.
pub(crate) struct IdleTimer {
    clock: Arc<dyn Timer>,
    limit: Duration,
    reset: Duration,
    /// Whether the timer was reset after that.
    is_reset: bool,
    timer: BoxFuture<'static, ()>,
}

/// The end of the idle time.
pub(crate) struct Elapsed;

impl IdleTimer {
    pub fn new(clock: &Arc<dyn Timer>, limit: Duration) -> Self {
        Self {
            clock: clock.clone(),
            limit,
            reset: clock.elapsed(),
            is_reset: false,
            timer: clock.sleep(limit),
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
            self.reset = self.clock.elapsed();
        }
        loop {
            ready!(self.timer.poll_unpin(context));
            let silent = self.clock.elapsed().saturating_sub(self.reset);
            let left = self.limit.saturating_sub(silent);
            // Even when it is over: a later guard must not wait on a finished timer.
            self.timer = self.clock.sleep(left);
            if left.is_zero() {
                return Poll::Ready(Elapsed);
            }
        }
    }
}

/// The longest time for one token of a hosted server: 128,000 tokens in an hour.
const LONGEST_TOKEN: Duration = Duration::from_micros(28_125);

/// The limit for the headers of a plain reply to `request`, which the server sends after the reply is written. `None` for
/// no limit.
pub(crate) fn headers_limit(
    timeouts: &Timeouts,
    request: &Request,
    caps: &Capabilities,
) -> Option<Duration> {
    if timeouts.headers.is_some() || caps.self_hosted {
        return timeouts.headers;
    }
    let extra = |name: &str| request.extra.get(name).and_then(Value::as_u64);
    let sent = request.max_tokens.or(caps.default_max_tokens);
    let most = [
        sent.map(u64::from),
        extra("max_tokens"),
        extra("max_completion_tokens"),
    ];
    let most = u32::try_from(most.into_iter().flatten().max()?).unwrap_or(u32::MAX);
    Some(Duration::from_mins(1).saturating_add(LONGEST_TOKEN.saturating_mul(most)))
}

/// A transport that times out on a silent server: no headers of a plain reply, no first byte of a stream, or no further
/// byte of a body.
pub(crate) struct TimedTransport {
    pub inner: Arc<dyn Transport>,
    pub clock: Arc<dyn Timer>,
    pub timeouts: Timeouts,
    /// The limit for the headers of a plain reply.
    pub headers: Option<Duration>,
}

impl TimedTransport {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Error> {
        let Timeouts {
            first_byte, idle, ..
        } = self.timeouts;
        let mut response;
        let (timer, phase, limit);
        if request.streams {
            // The time for the first byte goes on from the headers into the body.
            let mut first = IdleTimer::new(&self.clock, first_byte);
            response = first
                .guard(self.inner.execute(request))
                .await
                .map_err(|_| Error::timeout(TimeoutPhase::FirstByte, first_byte))??;
            (timer, phase, limit) = (first, TimeoutPhase::FirstByte, first_byte);
        } else {
            let asked = self.inner.execute(request);
            response = match self.headers {
                None => asked.await?,
                Some(headers) => IdleTimer::new(&self.clock, headers)
                    .guard(asked)
                    .await
                    .map_err(|_| Error::timeout(TimeoutPhase::FirstByte, headers))??,
            };
            timer = IdleTimer::new(&self.clock, idle);
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
            self.timer = IdleTimer::new(&self.timer.clock, self.idle);
            (self.phase, self.limit) = (TimeoutPhase::Idle, self.idle);
        } else {
            self.timer.reset();
        }
        Poll::Ready(item)
    }
}

impl Transport for TimedTransport {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        self.send(request).boxed()
    }
}

/// Adds a timeout to `events`: [`TimeoutPhase::Progress`] if only pings and unknown events arrive for `limit`.
pub(crate) fn with_progress_limit(
    events: EventStream,
    clock: &Arc<dyn Timer>,
    limit: Duration,
) -> EventStream {
    EventStream::new(ProgressStream {
        events,
        timer: IdleTimer::new(clock, limit),
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
