//! A stream that the caller reads, with everything that is bound to it until its last event.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use futures_util::{Stream, StreamExt as _};
use llm_types::{Charge, Event};

use super::finisher::ReplyFinisher;
use crate::layers::limiter::Permit;
use crate::layers::timeout::IdleTimer;
use crate::{Error, EventStream};

/// An open stream. A drop before its end closes the connection, writes the record, settles the budget and releases its
/// permit; its fields do that.
pub(crate) struct OpenStream {
    /// The first event, read early to know that the attempt succeeds.
    pub first: Option<Event>,
    pub events: EventStream,
    pub end: ReplyFinisher,
    pub deadline: Option<IdleTimer>,
    #[expect(dead_code, reason = "it is held until the stream ends")]
    pub permit: Option<Permit>,
    /// The charge if the stream is dropped now.
    pub if_dropped: Arc<Mutex<Charge>>,
}

impl OpenStream {
    pub fn into_events(self) -> EventStream {
        self.show_charge();
        let shown = self.if_dropped.clone();
        EventStream::new(OpenStreamEvents(Some(self))).charging(shown)
    }

    /// Publishes the charge of a drop.
    fn show_charge(&self) {
        *self
            .if_dropped
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = self.end.if_dropped();
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        let event = match self.first.take() {
            Some(first) => Some(Ok(first)),
            None => ready!(self.poll_read(context)),
        };
        let mut is_new_charge = true;
        let event = event.map(|event| match event {
            Ok(Event::Done(reply)) => self.end.finish(reply).map(Event::Done),
            Ok(event) => {
                is_new_charge = self.end.hear(&event);
                Ok(event)
            }
            Err(error) => Err(self.end.fail(error)),
        });
        if is_new_charge {
            self.show_charge();
        }
        Poll::Ready(event)
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
