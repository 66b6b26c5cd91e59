use futures_util::{StreamExt as _, future, stream};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use crate::Error;
use crate::codec::reply_as_events;
use crate::tokens::Bytes3;
use crate::types::{Block, BlockKind, Event, EventStream, Reply, StopReason, ToolInput};

type Item = Result<Event, Error>;

/// `reply` as a stream whose texts come in pieces of 1 to 7 characters, always the same ones for one `hash`. After
/// `cut_after` pieces it breaks off, at the latest before its last event.
pub(super) fn in_pieces(reply: Reply, hash: &str, cut_after: Option<usize>) -> EventStream {
    let seed = hash.as_bytes().first_chunk().copied().unwrap_or_default();
    let mut pieces = Pieces {
        random: ChaCha20Rng::from_seed(seed),
        left: cut_after,
        came: Reply {
            content: Vec::new(),
            stop: StopReason::Other("truncated".to_owned()),
            ..reply.clone()
        },
        over: false,
    };
    EventStream::new(
        reply_as_events(reply)
            .scan((), move |(), item| future::ready(pieces.step(item)))
            .flat_map(stream::iter),
    )
}

struct Pieces {
    random: ChaCha20Rng,
    /// Pieces until the stream breaks off.
    left: Option<usize>,
    /// The reply as far as it came.
    came: Reply,
    over: bool,
}

impl Pieces {
    fn step(&mut self, item: Item) -> Option<Vec<Item>> {
        if self.over {
            return None;
        }
        let event = match item {
            Ok(event) => event,
            Err(error) => return Some(vec![Err(error)]),
        };
        Some(match event {
            Event::TextDelta { index, text } => {
                self.cut(&text, |text| Event::TextDelta { index, text })
            }
            Event::ThinkingDelta { index, text } => {
                self.cut(&text, |text| Event::ThinkingDelta { index, text })
            }
            Event::ToolInputDelta { index, json } => {
                self.cut(&json, |json| Event::ToolInputDelta { index, json })
            }
            Event::Start { .. } => vec![Ok(event)],
            Event::BlockStart { ref kind, .. } => {
                self.came.content.push(Block::new(kind.clone()));
                vec![Ok(event)]
            }
            Event::Done(_) if self.left.is_some() => vec![Err(self.truncated())],
            _ if self.left == Some(0) => vec![Err(self.truncated())],
            Event::BlockStop { ref block, .. } => {
                if let Some(open) = self.came.content.last_mut() {
                    *open = block.clone();
                }
                vec![Ok(event)]
            }
            _ => vec![Ok(event)],
        })
    }

    fn cut(&mut self, text: &str, event: impl Fn(String) -> Event) -> Vec<Item> {
        let mut events = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if self.left == Some(0) {
                events.push(Err(self.truncated()));
                break;
            }
            self.left = self.left.map(|left| left - 1);
            // A draw of 32 bits spread over 1 to 7.
            let length = 1 + ((u64::from(self.random.next_u32()) * 7) >> 32) as usize;
            let end = rest
                .char_indices()
                .nth(length)
                .map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(end);
            self.append(piece);
            events.push(Ok(event(piece.to_owned())));
            rest = after;
        }
        events
    }

    fn append(&mut self, piece: &str) {
        let open = self.came.content.last_mut().map(|block| &mut block.kind);
        if let Some(
            BlockKind::Text { text }
            | BlockKind::Thinking { text, .. }
            | BlockKind::ToolUse {
                input: ToolInput::Invalid(text),
                ..
            },
        ) = open
        {
            text.push_str(piece);
        }
    }

    fn truncated(&mut self) -> Error {
        self.over = true;
        self.came.usage.output = Bytes3::content(&self.came.content);
        Error::StreamTruncated {
            partial: Box::new(self.came.clone()),
            trail: Box::default(),
        }
    }
}
