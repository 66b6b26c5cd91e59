use std::collections::VecDeque;

use futures_util::{FutureExt as _, StreamExt as _, stream};

use crate::sse::SseDecoder;
use crate::transport::HttpResponse;
use crate::types::{Event, EventStream, Reply};
use crate::{BlockKind, Error, SizeCaps, ToolInput};

/// Puts a reply together from the events of one provider's stream.
pub(crate) trait Assembler: Send + 'static {
    /// Takes one event of the wire and adds what it means to `out`.
    fn event(&mut self, name: &str, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error>;

    /// Everything that makes the reply came: a body that breaks off now, or does not end, takes nothing from it.
    fn is_complete(&self) -> bool {
        false
    }

    /// The body is over; `cut` if it ended inside an event. Adds [`Event::Done`], unless it was added before, or
    /// gives [`Error::StreamTruncated`].
    fn end(&mut self, cut: bool, out: &mut VecDeque<Event>) -> Result<(), Error>;
}

struct Reader<A> {
    response: HttpResponse,
    decoder: SseDecoder,
    assembler: A,
    out: VecDeque<Event>,
    sizes: SizeCaps,
    read: u64,
    over: bool,
    failed: Option<Error>,
}

/// The events of an event stream. After the last one, or an error, nothing more is read.
pub(crate) fn events<A: Assembler>(
    response: HttpResponse,
    sizes: SizeCaps,
    assembler: A,
) -> EventStream {
    let reader = Reader {
        response,
        decoder: SseDecoder::new(sizes.line),
        assembler,
        out: VecDeque::new(),
        sizes,
        read: 0,
        over: false,
        failed: None,
    };
    // Boxed, since `unfold` moves it in and out for every event.
    EventStream::new(stream::unfold(Box::new(reader), |mut reader| async move {
        reader.next().await.map(|item| (item, reader))
    }))
}

impl<A: Assembler> Reader<A> {
    async fn next(&mut self) -> Option<Result<Event, Error>> {
        loop {
            if let Some(event) = self.out.pop_front() {
                return Some(Ok(event));
            }
            // What came before a failure is handed out first.
            if let Some(error) = self.failed.take() {
                return Some(Err(error));
            }
            if self.over {
                return None;
            }
            if let Err(mut error) = self.read().await {
                let request_id = &mut error.trail_mut().request_id;
                if request_id.is_none() {
                    *request_id = self.response.request_id().map(str::to_owned);
                }
                self.over = true;
                self.failed = Some(error);
            }
        }
    }

    /// Reads one chunk of the body, or its end.
    async fn read(&mut self) -> Result<(), Error> {
        if self.assembler.is_complete() {
            return self.read_after_the_last();
        }
        let Some(chunk) = self.response.body.next().await else {
            self.over = true;
            if let Some(event) = self.decoder.finish()? {
                self.assembler
                    .event(event.event, event.data, &mut self.out)?;
            }
            return self.assembler.end(self.decoder.is_pending(), &mut self.out);
        };
        self.take(&chunk?)
    }

    /// Everything that makes the reply came. A server may leave the connection open, or break it: neither takes
    /// anything from the reply, so what is not there yet is not waited for. What is there must not be events.
    fn read_after_the_last(&mut self) -> Result<(), Error> {
        if let Some(Some(Ok(chunk))) = self.response.body.next().now_or_never() {
            return self.take(&chunk);
        }
        self.over = true;
        self.assembler.end(false, &mut self.out)
    }

    /// Reads the events in a piece of the body.
    fn take(&mut self, chunk: &[u8]) -> Result<(), Error> {
        self.read += chunk.len() as u64;
        if self.read > self.sizes.reply {
            return Err(Error::too_large("reply", self.sizes.reply));
        }
        self.decoder.push(chunk);
        while let Some(event) = self.decoder.next_event()? {
            self.assembler
                .event(event.event, event.data, &mut self.out)?;
        }
        Ok(())
    }
}

/// A whole reply as the events of a stream.
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
