use std::borrow::Cow;
use std::collections::VecDeque;

use llm_types::{Block, Event, Reply, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::block::OpenBlock;
use super::decode;
use super::object::Object;
use crate::codec::fields::Fields;
use crate::codec::{Assembler, CallIds, RequestContext, error_body, is_object, is_ping};
use crate::{Error, ErrorKind};

/// The maximum size in bytes of a usage object. Each event repeats it, so without a limit it could fill the memory.
const LONGEST_USAGE: usize = 64 << 10;

/// Assembles a reply from the events of the Messages API.
///
/// It enforces the order of events, so that no text is added twice or to the wrong block.
#[derive(Debug)]
pub(super) struct Assembly {
    context: RequestContext,
    stage: Stage,
    /// The message of `message_start`, completed by later events.
    message: Object,
    usage: Object,
    /// Whether the final usage arrived, written after the model stopped.
    metered: bool,
    blocks: Vec<Block>,
    /// The ids of the tool calls so far.
    tool_ids: CallIds,
    open: Option<OpenBlock>,
    /// Deltas of types this version does not know.
    unknown: Vec<Box<RawValue>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The state before the first event.
    Before,
    /// The state after `message_start`.
    Blocks,
    /// The state after `message_delta`: all blocks are complete.
    Closing,
    /// The state after `message_stop`.
    Complete,
}

#[derive(Deserialize)]
struct MessageStart {
    message: Object,
}

#[derive(Deserialize)]
struct BlockStart {
    index: usize,
    content_block: Object,
}

#[derive(Deserialize)]
struct BlockStop {
    index: usize,
}

/// A delta of a known type. Texts without escapes are borrowed, since long replies consist of these.
#[derive(Deserialize)]
struct BlockDelta<'a> {
    index: usize,
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    thinking: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    signature: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    partial_json: Option<BorrowedText<'a>>,
}

#[derive(Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct AnyDelta<'a> {
    index: usize,
    #[serde(borrow)]
    delta: &'a RawValue,
}

/// The type in the data of an event without a name.
#[derive(Deserialize)]
struct Unnamed<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<BorrowedText<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Assembler for Assembly {
    fn event(&mut self, name: &str, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error> {
        match name {
            "content_block_delta" => self.block_delta(data, out),
            "content_block_start" => self.block_start(data, out),
            "content_block_stop" => self.block_stop(data, out),
            "message_start" => self.message_start(data, out),
            "message_delta" => self.message_delta(data, out),
            "message_stop" => self.message_stop(),
            "error" => Err(self.error(data)),
            "message" => match serde_json::from_str::<Unnamed<'_>>(data) {
                // Some gateways leave the names away; the type says the same.
                Ok(Unnamed {
                    kind: Some(BorrowedText(kind)),
                    ..
                }) if kind != "message" => self.event(&kind, data, out),
                Ok(Unnamed { error: Some(_), .. }) => Err(self.error(data)),
                _ => self.unknown(name, data, out),
            },
            name if is_ping(name) => {
                out.push_back(Event::Ping);
                Ok(())
            }
            _ => self.unknown(name, data, out),
        }
    }

    fn is_complete(&self) -> bool {
        self.stage == Stage::Complete
    }

    fn end(&mut self, _cut: bool, out: &mut VecDeque<Event>) -> Result<(), Error> {
        let complete = self.is_complete();
        let reply = self.take_reply();
        if complete {
            out.push_back(Event::Done(Box::new(reply)));
            return Ok(());
        }
        let partial = error_body::partial(&self.context.redactor, reply);
        Err(ErrorKind::StreamTruncated { partial }.into())
    }
}

impl Assembly {
    pub fn new(context: RequestContext) -> Self {
        Self {
            context,
            stage: Stage::Before,
            message: Object::default(),
            usage: Object::default(),
            metered: false,
            blocks: Vec::new(),
            tool_ids: CallIds::default(),
            open: None,
            unknown: Vec::new(),
        }
    }

    fn message_start(&mut self, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error> {
        if self.stage != Stage::Before {
            return Err(Error::protocol("a second message_start"));
        }
        let MessageStart { message } = read("message_start", data)?;
        self.stage = Stage::Blocks;
        let fields = message.fields();
        out.push_back(Event::Start {
            id: fields.text("id").unwrap_or_default(),
            model: fields.text("model").unwrap_or_default(),
        });
        self.add_usage(fields.raw("usage"), out)?;
        self.message = message;
        Ok(())
    }

    fn block_start(&mut self, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error> {
        let BlockStart {
            index,
            content_block,
        } = read("content_block_start", data)?;
        self.expect(Stage::Blocks, "content_block_start")?;
        if self.open.is_some() {
            return Err(Error::protocol("a block starts before the last one stops"));
        }
        let next = self.blocks.len();
        if index != next {
            let what = format!("block {index} starts where block {next} is next");
            return Err(Error::protocol(what));
        }
        let open = OpenBlock::new(content_block)?;
        open.announce(index, out);
        self.open = Some(open);
        Ok(())
    }

    fn block_delta(&mut self, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error> {
        let Ok(BlockDelta { index, delta }) = serde_json::from_str::<BlockDelta<'_>>(data) else {
            return self.other_delta(data, out);
        };
        let text = |text: &Option<BorrowedText<'_>>| {
            text.as_ref()
                .map_or("", |BorrowedText(text)| text)
                .to_owned()
        };
        let block = self.open_block(index)?;
        let event = match delta.kind.as_ref() {
            "text_delta" => block.add_text(index, text(&delta.text))?,
            "thinking_delta" => block.add_thinking(index, text(&delta.thinking))?,
            "input_json_delta" => block.add_json(index, text(&delta.partial_json))?,
            "signature_delta" => {
                block.sign(text(&delta.signature));
                None
            }
            _ => return self.other_delta(data, out),
        };
        out.extend(event);
        Ok(())
    }

    /// A delta that is more than a text.
    fn other_delta(&mut self, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error> {
        let AnyDelta { index, delta } = read("content_block_delta", data)?;
        let fields = decode::fields_of(delta);
        let block = self.open_block(index)?;
        match fields.text("type").unwrap_or_default().as_str() {
            "citations_delta" => block.cite(fields.raw("citation")),
            "text_delta" | "thinking_delta" | "input_json_delta" | "signature_delta" => {
                return Err(Error::protocol("a content_block_delta cannot be read"));
            }
            _ => {
                self.unknown.push(delta.to_owned());
                unknown("content_block_delta", data, out);
            }
        }
        Ok(())
    }

    fn block_stop(&mut self, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error> {
        let BlockStop { index } = read("content_block_stop", data)?;
        self.open_block(index)?;
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let mut block = open.close(&self.context, index, out);
        decode::settle_id(&mut self.tool_ids, &mut block);
        self.blocks.push(block.clone());
        out.push_back(Event::BlockStop { index, block });
        Ok(())
    }

    fn message_delta(&mut self, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error> {
        let event: Object = read("message_delta", data)?;
        if self.stage != Stage::Closing {
            self.expect(Stage::Blocks, "message_delta")?;
        }
        if self.open.is_some() {
            return Err(Error::protocol("message_delta before the last block stops"));
        }
        self.stage = Stage::Closing;
        for (name, value) in event.iter() {
            match name {
                "type" | "usage" => {}
                "delta" => self.message.merge(value),
                // What stands beside the delta belongs to the message too: so it is in a whole reply.
                _ => self.message.overwrite(name, value),
            }
        }
        let usage = event.fields().raw("usage");
        let stopped = self.message.fields().text("stop_reason").is_some();
        self.metered |= stopped && usage.is_some();
        self.add_usage(usage, out)
    }

    fn message_stop(&mut self) -> Result<(), Error> {
        self.expect(Stage::Closing, "message_stop")?;
        self.stage = Stage::Complete;
        Ok(())
    }

    fn expect(&self, stage: Stage, name: &str) -> Result<(), Error> {
        if self.stage == stage {
            return Ok(());
        }
        let after = match self.stage {
            Stage::Before => "before message_start",
            Stage::Blocks => "before message_delta",
            Stage::Closing => "after message_delta",
            Stage::Complete => "after message_stop",
        };
        Err(Error::protocol(format!("{name} {after}")))
    }

    fn open_block(&mut self, index: usize) -> Result<&mut OpenBlock, Error> {
        self.open
            .as_mut()
            .filter(|_| index == self.blocks.len())
            .ok_or_else(|| {
                Error::protocol(format!("an event for block {index}, which is not open"))
            })
    }

    /// Updates the numbers that are present; they are totals.
    fn add_usage(
        &mut self,
        usage: Option<&RawValue>,
        out: &mut VecDeque<Event>,
    ) -> Result<(), Error> {
        let Some(usage) = usage else { return Ok(()) };
        self.usage.merge(usage);
        let usage = self.usage();
        if usage
            .raw
            .as_ref()
            .is_some_and(|raw| raw.get().len() > LONGEST_USAGE)
        {
            return Err(Error::protocol(format!(
                "the usage is longer than {LONGEST_USAGE} bytes"
            )));
        }
        out.push_back(Event::Usage(usage));
        Ok(())
    }

    fn usage(&self) -> Usage {
        let raw = (!self.usage.is_empty()).then(|| self.usage.to_raw());
        let mut usage = decode::usage(&self.usage.fields(), raw);
        usage.partial = !self.metered;
        usage
    }

    /// Passes on an event of an unknown type. `[DONE]` is the end mark of gateways.
    fn unknown(&self, name: &str, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error> {
        if data.trim() != "[DONE]" && !is_object(data) {
            return Err(Error::protocol(format!(
                "expected the JSON object of an event, got: {}",
                self.context.excerpt(data)
            )));
        }
        unknown(name, data, out);
        Ok(())
    }

    fn error(&self, data: &str) -> Error {
        let what = "an error event without an error";
        let fields = Fields::of(data).unwrap_or_default();
        decode::fault_or_bad(&self.context, &fields, what, data.as_bytes())
    }

    /// The content so far as a reply.
    fn take_reply(&mut self) -> Reply {
        let usage = self.usage();
        let mut message = std::mem::take(&mut self.message);
        let mut blocks = std::mem::take(&mut self.blocks);
        let raws: Vec<_> = blocks
            .iter()
            .filter_map(|block| block.raw.as_ref())
            .collect();
        if !self.usage.is_empty() {
            message.set("usage", &self.usage);
        }
        if !self.unknown.is_empty() {
            message.set("unknown_deltas", &self.unknown);
        }
        let raw = message.to_raw_with("content", &raws);
        blocks.extend(self.open.take().map(|open| open.cut(&self.context)));
        decode::assemble(&self.context, &message.fields(), blocks, usage, raw)
    }
}

fn unknown(name: &str, data: &str, out: &mut VecDeque<Event>) {
    out.push_back(Event::Unknown {
        name: name.to_owned(),
        data: data.to_owned(),
    });
}

/// Decodes the data of an event. An error does not quote the data, which may be long and hostile.
fn read<'a, T: Deserialize<'a>>(name: &str, data: &'a str) -> Result<T, Error> {
    serde_json::from_str(data).map_err(|error| {
        let what = format!(
            "the data of {name} cannot be read at column {}",
            error.column()
        );
        Error::protocol(what)
    })
}
