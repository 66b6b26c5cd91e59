//! A stream that the caller reads, with everything that is bound to it until its last event.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use futures_util::{Stream, StreamExt as _};
use llm_types::{Attempt, Charge, Event, Reply, ReplySource, Usage};
use tracing::Span;

use super::core::ClientCore;
use super::prepare::PreparedRequest;
use super::trace;
use crate::layers::budget::Reservation;
use crate::layers::limiter::Permit;
use crate::layers::timeout::IdleTimer;
use crate::recording::recorder::AttemptRecorder;
use crate::{Error, ErrorKind, EventStream};

/// An open stream. A drop before its end closes the connection, writes the record, settles the budget and releases its
/// permit; its fields do that.
pub(crate) struct OpenStream {
    pub inner: Arc<ClientCore>,
    /// The first event, read early to know that the attempt succeeds.
    pub first: Option<Event>,
    pub events: EventStream,
    pub prepared: Arc<PreparedRequest>,
    pub attempts: Vec<Attempt>,
    pub deadline: Option<IdleTimer>,
    pub reservation: Option<Reservation>,
    #[expect(dead_code, reason = "it is held until the stream ends")]
    pub permit: Option<Permit>,
    pub recorder: Option<AttemptRecorder>,
    /// The source of the reply, if it differs from the provider's.
    pub source: Option<ReplySource>,
    pub span: Span,
    pub reported: ReportedUsage,
    /// The charge if the stream is dropped now.
    pub if_dropped: Arc<Mutex<Charge>>,
}

/// The last usage that the provider reported for an attempt, valid once the model has stopped.
#[derive(Default)]
pub(crate) struct ReportedUsage {
    model: String,
    usage: Option<Usage>,
}

impl ReportedUsage {
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Start { model, .. } => self.model.clone_from(model),
            Event::Usage(usage) => self.usage = (!usage.partial).then(|| usage.clone()),
            Event::Ping | Event::Unknown { .. } | Event::BlockStop { .. } | Event::Done(_) => {}
            // The model goes on: what was said was not the last word.
            _ => self.usage = None,
        }
    }

    /// The charge for that usage, if it is final.
    pub fn charge(&self, inner: &ClientCore, prepared: &PreparedRequest) -> Option<Charge> {
        inner.charge_usage(self.usage.as_ref()?, &self.model, None, prepared)
    }

    /// The charge for an attempt that failed.
    pub fn charge_of(
        &self,
        error: &Error,
        inner: &ClientCore,
        prepared: &PreparedRequest,
    ) -> Option<Charge> {
        match error.kind() {
            ErrorKind::StreamTruncated { partial } => inner.charge(partial, prepared),
            _ => self.charge(inner, prepared),
        }
    }
}

impl OpenStream {
    pub fn into_events(self) -> EventStream {
        self.show_charge();
        let shown = self.if_dropped.clone();
        EventStream::new(OpenStreamEvents(Some(self))).charging(shown)
    }

    /// Publishes the charge of a drop.
    fn show_charge(&self) {
        let mut charge = Charge::NONE;
        if let Some(reservation) = &self.reservation {
            let attempts = self.attempts.iter().map(|attempt| attempt.charge);
            charge = attempts.fold(reservation.if_dropped(), Charge::plus);
        }
        *self
            .if_dropped
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = charge;
    }

    /// Updates the reported usage; it is invalid again if the model continues.
    fn listen(&mut self, event: &Event) {
        self.reported.event(event);
        let Some(reservation) = &mut self.reservation else {
            return;
        };
        if matches!(event, Event::Ping | Event::Unknown { .. }) {
            return;
        }
        reservation.learn(self.reported.charge(&self.inner, &self.prepared));
        self.show_charge();
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        let event = match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => ready!(self.poll_read(context)),
        };
        Poll::Ready(match event {
            Some(Ok(Event::Done(reply))) => Some(self.arrive(reply).map(Event::Done)),
            Some(Err(error)) => Some(Err(self.fail(error))),
            Some(Ok(event)) => {
                self.listen(&event);
                Some(Ok(event))
            }
            None => None,
        })
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        if let Poll::Ready(event) = self.events.poll_next_unpin(context) {
            return Poll::Ready(event);
        }
        let Some(deadline) = &mut self.deadline else {
            return Poll::Pending;
        };
        ready!(deadline.poll_elapsed(context));
        Poll::Ready(Some(Err(Error::deadline(None))))
    }

    fn arrive(&mut self, mut reply: Box<Reply>) -> Result<Box<Reply>, Error> {
        self.inner
            .complete_reply(&mut reply, &self.prepared, self.source.take());
        if let Some(reservation) = self.reservation.take() {
            // The reply is paid for, whether it can be written down or not.
            let charge = reservation.settle(self.inner.charge(&reply, &self.prepared));
            self.charged(charge);
        }
        reply.attempts = std::mem::take(&mut self.attempts);
        if let Some(mut recorder) = self.recorder.take() {
            recorder.finish(None, true)?;
        }
        trace::answered(&self.span, &reply);
        Ok(reply)
    }

    /// Notes the final charge of the attempt.
    fn charged(&mut self, charge: Charge) {
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.charge = charge;
        }
        self.show_charge();
    }

    fn fail(&mut self, mut error: Error) -> Error {
        self.inner.explain(&mut error);
        if let Some(mut reservation) = self.reservation.take() {
            if let Some(charge) = self.reported.charge_of(&error, &self.inner, &self.prepared) {
                reservation.learn(Some(charge));
            }
            let charge = reservation.fail();
            drop(reservation);
            self.charged(charge);
        }
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.class = Some(error.class());
            attempt.status = error.status().or(attempt.status);
        }
        if let Some(mut recorder) = self.recorder.take()
            && let Err(unwritten) = recorder.finish(Some(&error), true)
        {
            error = unwritten;
        }
        error.context_mut().attempts = std::mem::take(&mut self.attempts);
        trace::failed(&self.span, &error);
        error
    }
}

/// The events of an open stream. A struct instead of `unfold`, which would move the whole state for every event.
struct OpenStreamEvents(Option<OpenStream>);

impl Stream for OpenStreamEvents {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(live) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let item = ready!(live.poll(context));
        if matches!(item, None | Some(Ok(Event::Done(_)) | Err(_))) {
            // Nothing follows; what is held goes now.
            self.0 = None;
        }
        Poll::Ready(item)
    }
}
