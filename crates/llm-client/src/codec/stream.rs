use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use llm_types::{Event, Reply};
use serde::de::IgnoredAny;

use super::sse::SseDecoder;
use super::{LONGEST_LINE, LONGEST_REPLY};
use crate::EventStream;
use crate::provider::HttpResponse;
use crate::{BlockKind, Error, ToolInput};

/// Assembles a reply from the events of a provider's stream.
pub(crate) trait Assembler: Send + Unpin + 'static {
    /// Decodes one event of the wire and adds its meaning to `out`.
    fn event(&mut self, name: &str, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error>;

    /// Whether the reply is complete, so that an interrupted or endless body does not matter.
    fn is_complete(&self) -> bool {
        false
    }

    /// Ends the body; `cut` if it ended inside an event. Adds [`Event::Done`] once, or returns
    /// [`crate::ErrorKind::StreamTruncated`].
    fn end(&mut self, cut: bool, out: &mut VecDeque<Event>) -> Result<(), Error>;
}

struct Reader<A> {
    response: HttpResponse,
    decoder: SseDecoder,
    assembler: A,
    out: VecDeque<Event>,
    size: u64,
    /// The number of reads after the last event that look for the end of the body.
    turns: u8,
    over: bool,
    failed: Option<Error>,
}

/// The events of a response's stream. Nothing is read after the last one or an error.
pub(crate) fn events<A: Assembler>(response: HttpResponse, assembler: A) -> EventStream {
    EventStream::new(Reader {
        response,
        decoder: SseDecoder::new(LONGEST_LINE),
        assembler,
        out: VecDeque::new(),
        size: 0,
        turns: 3,
        over: false,
        failed: None,
    })
}

impl<A: Assembler> Stream for Reader<A> {
    type Item = Result<Event, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(event) = self.out.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            // What came before a failure is handed out first.
            if let Some(error) = self.failed.take() {
                return Poll::Ready(Some(Err(error)));
            }
            if self.over {
                return Poll::Ready(None);
            }
            let result = match self.response.body.poll_next_unpin(context) {
                Poll::Ready(chunk) => self.read(chunk),
                Poll::Pending if !self.assembler.is_complete() => return Poll::Pending,
                // The connection's own task gets a few turns to see the end: only then can it serve another request.
                Poll::Pending if self.turns > 0 => {
                    self.turns -= 1;
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                // A server may leave the connection open: what is not there yet is not waited for.
                Poll::Pending => self.complete(),
            };
            if let Err(mut error) = result {
                let request_id = &mut error.context_mut().request_id;
                if request_id.is_none() {
                    *request_id = self.response.request_id().map(str::to_owned);
                }
                self.over = true;
                self.failed = Some(error);
            }
        }
    }
}

impl<A: Assembler> Reader<A> {
    /// Decodes one chunk of the body, or its end.
    fn read(&mut self, chunk: Option<Result<Bytes, Error>>) -> Result<(), Error> {
        let Some(chunk) = chunk else {
            self.over = true;
            if let Some(event) = self.decoder.finish()? {
                self.assembler
                    .event(event.event, event.data, &mut self.out)?;
            }
            return self.assembler.end(self.decoder.is_pending(), &mut self.out);
        };
        let chunk = match chunk {
            Err(_) if self.assembler.is_complete() => return self.complete(),
            chunk => chunk?,
        };
        self.size += chunk.len() as u64;
        if self.size > LONGEST_REPLY {
            return Err(Error::too_large("reply", LONGEST_REPLY));
        }
        self.decoder.push(&chunk);
        while let Some(event) = self.decoder.next_event()? {
            self.assembler
                .event(event.event, event.data, &mut self.out)?;
        }
        Ok(())
    }

    /// Ends with the reply, in spite of an error of the body.
    fn complete(&mut self) -> Result<(), Error> {
        self.over = true;
        self.assembler.end(false, &mut self.out)
    }
}

/// Whether the name is that of a sign of life.
pub(crate) fn is_ping(name: &str) -> bool {
    matches!(name, "ping" | "heartbeat" | "keepalive" | "keep-alive")
}

/// Whether the data is a JSON object, which may be an event of an unknown type. Other data is broken and may be a part of
/// the reply.
pub(crate) fn is_object(data: &str) -> bool {
    data.trim_ascii_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(data).is_ok()
}

/// Converts a whole reply into the events of a stream.
pub(crate) fn reply_as_events(reply: Reply) -> EventStream {
    let mut events = vec![Event::Start {
        id: reply.id.clone(),
        model: reply.model.clone(),
    }];
    for (index, block) in reply.content.iter().enumerate() {
        let (kind, delta) = match block.kind.clone() {
            BlockKind::Text { text } => (
                BlockKind::Text {
                    text: String::new(),
                },
                Some(Event::TextDelta { index, text }),
            ),
            BlockKind::Thinking { text, signature } => (
                BlockKind::Thinking {
                    text: String::new(),
                    signature,
                },
                Some(Event::ThinkingDelta { index, text }),
            ),
            BlockKind::ToolUse { id, name, input } => {
                let json = match &input {
                    ToolInput::Json(raw) => raw.get().to_owned(),
                    ToolInput::Invalid(text) => text.clone(),
                };
                (
                    BlockKind::ToolUse {
                        id,
                        name,
                        input: ToolInput::Invalid(String::new()),
                    },
                    Some(Event::ToolInputDelta { index, json }),
                )
            }
            other => (other, None),
        };
        events.push(Event::BlockStart { index, kind });
        events.extend(delta);
        events.push(Event::BlockStop {
            index,
            block: block.clone(),
        });
    }
    events.push(Event::Usage(reply.usage.clone()));
    events.push(Event::Done(Box::new(reply)));
    EventStream::new(stream::iter(events.into_iter().map(Ok)))
}
