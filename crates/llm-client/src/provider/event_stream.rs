use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _};
use llm_types::{Charge, Event, Reply};

use crate::Error;

/// The events of one reply, ending with [`Event::Done`] or the first error.
///
/// A drop closes the connection.
pub struct EventStream {
    events: BoxStream<'static, Result<Event, Error>>,
    /// The charge if the stream is dropped now.
    if_dropped: Option<Arc<Mutex<Charge>>>,
}

impl EventStream {
    /// A stream of these events, for custom providers.
    pub fn new(events: impl Stream<Item = Result<Event, Error>> + Send + 'static) -> Self {
        Self {
            events: events.boxed(),
            if_dropped: None,
        }
    }

    /// Adds the shared value in which the budget keeps the charge of a drop.
    pub(crate) fn charging(self, if_dropped: Arc<Mutex<Charge>>) -> Self {
        Self {
            if_dropped: Some(if_dropped),
            ..self
        }
    }

    /// The charge for this call, earlier attempts included, if the stream is dropped now. After its end the reply or the error
    /// has the charge, and this is [`Charge::NONE`].
    pub fn charge_if_dropped(&self) -> Charge {
        self.if_dropped.as_ref().map_or(Charge::NONE, |charge| {
            *charge.lock().unwrap_or_else(PoisonError::into_inner)
        })
    }

    /// Reads to the end.
    ///
    /// # Errors
    /// The error of the stream. A truncated stream is always [`crate::ErrorKind::StreamTruncated`], since only `Done` has the
    /// reply.
    pub async fn collect(self) -> Result<Reply, Error> {
        self.collect_telling(|_| {}).await
    }

    /// Reads to the end and passes each event to `tell`.
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
