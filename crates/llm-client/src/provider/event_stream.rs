use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _};
use llm_types::{Charge, Event, Reply};

use crate::Error;

/// The events of one reply. It ends after [`Event::Done`] or after the first error.
///
/// Dropping it closes the connection.
pub struct EventStream {
    events: BoxStream<'static, Result<Event, Error>>,
    /// What the call is charged for if the stream is dropped now.
    if_dropped: Option<Arc<Mutex<Charge>>>,
}

impl EventStream {
    /// A stream of these events; for providers of one's own.
    pub fn new(events: impl Stream<Item = Result<Event, Error>> + Send + 'static) -> Self {
        Self {
            events: events.boxed(),
            if_dropped: None,
        }
    }

    /// The same, with the place where the budget keeps what a drop would charge.
    pub(crate) fn charging(self, if_dropped: Arc<Mutex<Charge>>) -> Self {
        Self {
            if_dropped: Some(if_dropped),
            ..self
        }
    }

    /// What the budget is charged for this call, earlier attempts included, if the stream is dropped now. Once it has
    /// ended the charge is that of the reply or the error, and this is [`Charge::NONE`].
    pub fn charge_if_dropped(&self) -> Charge {
        self.if_dropped.as_ref().map_or(Charge::NONE, |charge| {
            *charge.lock().unwrap_or_else(PoisonError::into_inner)
        })
    }

    /// Reads to the end.
    ///
    /// # Errors
    /// The stream's own error; [`crate::ErrorKind::StreamTruncated`] cannot be missed, for only `Done` makes a reply.
    pub async fn collect(self) -> Result<Reply, Error> {
        self.collect_telling(|_| {}).await
    }

    /// Reads to the end and shows each event.
    pub(crate) async fn collect_telling(
        mut self,
        mut tell: impl FnMut(&Event),
    ) -> Result<Reply, Error> {
        while let Some(event) = self.next().await {
            let event = event?;
            tell(&event);
            if let Event::Done(reply) = event {
                return Ok(*reply);
            }
        }
        Err(Error::protocol(
            "the stream of events ended without its last one",
        ))
    }
}

impl Stream for EventStream {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_next_unpin(context)
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventStream")
    }
}
