//! A stream in the hands of the caller, with everything it holds until its last event.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use tracing::Span;

use crate::client::Inner;
use crate::fit::Fitted;
use crate::layers::budget::Reservation;
use crate::layers::gate::Pass;
use crate::layers::record::Tape;
use crate::layers::timeout::{Elapsed, Watchdog};
use crate::types::{Attempt, Event, EventStream, Reply, ReplySource};
use crate::{Error, trace};

/// An open stream. Dropped before its end it closes the connection, writes the record, settles the budget and frees
/// its slot: all of that hangs on its fields.
pub(crate) struct Live {
    pub inner: Arc<Inner>,
    /// Read already, to know that the attempt works.
    pub first: Option<Event>,
    pub events: EventStream,
    pub fitted: Arc<Fitted>,
    pub attempts: Vec<Attempt>,
    pub deadline: Option<Watchdog>,
    pub hold: Option<Reservation>,
    pub pass: Option<Pass>,
    pub tape: Option<Tape>,
    /// Where the reply is from, if not from where the provider says.
    pub source: Option<ReplySource>,
    pub span: Span,
}

impl Live {
    pub fn into_events(self) -> EventStream {
        EventStream::new(stream::unfold(Some(self), |live| async {
            let mut live = live?;
            let item = live.next().await?;
            // Nothing follows the last event or an error; what is held goes with it.
            let goes_on = !matches!(item, Ok(Event::Done(_)) | Err(_));
            Some((item, goes_on.then_some(live)))
        }))
    }

    async fn next(&mut self) -> Option<Result<Event, Error>> {
        let event = match self.first.take() {
            Some(first) => Ok(first),
            None => self.read().await?,
        };
        Some(match event {
            Ok(Event::Done(reply)) => self.arrive(reply).map(Event::Done),
            Ok(event) => Ok(event),
            Err(error) => Err(self.fail(error)),
        })
    }

    async fn read(&mut self) -> Option<Result<Event, Error>> {
        let Some(deadline) = &mut self.deadline else {
            return self.events.next().await;
        };
        match deadline.guard(self.events.next()).await {
            Ok(event) => event,
            Err(Elapsed) => Some(Err(Error::Deadline {
                last: None,
                trail: Box::default(),
            })),
        }
    }

    fn arrive(&mut self, mut reply: Box<Reply>) -> Result<Box<Reply>, Error> {
        self.inner
            .complete_reply(&mut reply, &self.fitted, self.source.take());
        reply.attempts = std::mem::take(&mut self.attempts);
        if let Some(hold) = self.hold.take() {
            // The reply is paid for, whether it can be written down or not.
            let usd = self.inner.charge(&reply, &self.fitted.target);
            hold.settle(usd, &reply.usage);
        }
        if let Some(pass) = &self.pass {
            pass.settle(reply.usage.total());
        }
        if let Some(mut tape) = self.tape.take() {
            tape.finish(None, true)?;
        }
        trace::answered(&self.span, &reply);
        Ok(reply)
    }

    fn fail(&mut self, mut error: Error) -> Error {
        self.inner.explain(&mut error);
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.class = Some(error.class().to_owned());
            attempt.status = error.status().or(attempt.status);
        }
        if let Some(mut tape) = self.tape.take()
            && let Err(unwritten) = tape.finish(Some(&error), true)
        {
            error = unwritten;
        }
        error.trail_mut().attempts = std::mem::take(&mut self.attempts);
        trace::failed(&self.span, &error);
        error
    }
}
