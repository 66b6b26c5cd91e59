//! How long a server may be silent.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, select};
use futures_util::{FutureExt as _, StreamExt as _, stream};

use crate::transport::{HttpRequest, HttpResponse, Transport};
use crate::types::{Event, EventStream};
use crate::{Clock, Error, TimeoutPhase, Timeouts};

/// Barks when nothing was heard for some time. One timer serves many signs of life: it is looked at again only when
/// it ends.
pub(crate) struct Watchdog {
    clock: Arc<dyn Clock>,
    limit: Duration,
    heard: Duration,
    timer: BoxFuture<'static, ()>,
}

/// The time is over.
pub(crate) struct Elapsed;

impl Watchdog {
    pub fn new(clock: &Arc<dyn Clock>, limit: Duration) -> Self {
        Self {
            clock: clock.clone(),
            limit,
            heard: clock.instant(),
            timer: clock.sleep(limit),
        }
    }

    /// Starts the time again.
    pub fn heard(&mut self) {
        self.heard = self.clock.instant();
    }

    /// The result of `work`, if it comes in time.
    pub async fn guard<F: Future>(&mut self, work: F) -> Result<F::Output, Elapsed> {
        let mut work = pin!(work);
        loop {
            match select(work.as_mut(), &mut self.timer).await {
                Either::Left((output, _)) => return Ok(output),
                Either::Right(((), _)) => {
                    let silent = self.clock.instant().saturating_sub(self.heard);
                    let left = self.limit.saturating_sub(silent);
                    // Even when it is over: a later guard must not wait on a finished timer.
                    self.timer = self.clock.sleep(left);
                    if left.is_zero() {
                        return Err(Elapsed);
                    }
                }
            }
        }
    }
}

/// A transport that gives up on a silent server: no first byte of a stream, or no further byte of any body.
pub(crate) struct Timed {
    pub inner: Arc<dyn Transport>,
    pub clock: Arc<dyn Clock>,
    pub timeouts: Timeouts,
}

impl Timed {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Error> {
        let Timeouts {
            first_byte, idle, ..
        } = self.timeouts;
        let mut response;
        let dog;
        if request.streams {
            // The time for the first byte goes on from the headers into the body.
            let mut first = Watchdog::new(&self.clock, first_byte);
            response = first
                .guard(self.inner.execute(request))
                .await
                .map_err(|_| Error::timeout(TimeoutPhase::FirstByte, first_byte))??;
            dog = (first, TimeoutPhase::FirstByte, first_byte);
        } else {
            response = self.inner.execute(request).await?;
            dog = (Watchdog::new(&self.clock, idle), TimeoutPhase::Idle, idle);
        }
        let clock = self.clock.clone();
        let state = Some((response.body, dog));
        response.body = stream::unfold(state, move |state| {
            let clock = clock.clone();
            async move {
                let (mut body, (mut dog, phase, limit)) = state?;
                match dog.guard(body.next()).await {
                    Err(Elapsed) => Some((Err(Error::timeout(phase, limit)), None)),
                    Ok(None) => None,
                    Ok(Some(chunk)) => {
                        let dog = if phase == TimeoutPhase::FirstByte {
                            (Watchdog::new(&clock, idle), TimeoutPhase::Idle, idle)
                        } else {
                            dog.heard();
                            (dog, phase, limit)
                        };
                        Some((chunk, Some((body, dog))))
                    }
                }
            }
        })
        .boxed();
        Ok(response)
    }
}

impl Transport for Timed {
    fn execute(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        self.send(request).boxed()
    }
}

/// Gives up on a stream that shows signs of life only.
pub(crate) fn progressing(
    events: EventStream,
    clock: &Arc<dyn Clock>,
    limit: Duration,
) -> EventStream {
    let state = Some((events, Watchdog::new(clock, limit)));
    EventStream::new(stream::unfold(state, move |state| async move {
        let (mut events, mut dog) = state?;
        match dog.guard(events.next()).await {
            Err(Elapsed) => Some((Err(Error::timeout(TimeoutPhase::Progress, limit)), None)),
            Ok(item) => {
                let item = item?;
                if !matches!(item, Ok(Event::Ping)) {
                    dog.heard();
                }
                Some((item, Some((events, dog))))
            }
        }
    }))
}
