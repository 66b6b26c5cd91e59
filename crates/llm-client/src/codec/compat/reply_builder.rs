//! The builder of a reply. A whole reply and the parts of a stream take the same path, so that both give the same result.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use llm_types::{Block, BlockKind, Event, Origin, Raw, ToolInput};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::wire::{ContentPart, WireMessage};
use crate::Error;
use crate::codec::{CallIds, RequestContext};
use crate::dialect::{ReasoningField, ToolIndex};

/// The queue of events, if they are read.
pub(super) type Out<'a> = Option<&'a mut VecDeque<Event>>;

pub(super) struct ReplyBuilder {
    pub dialect: Dialect,
    origin: Origin,
    /// The body that was sent.
    sent: Bytes,
    /// The ids of the calls in it.
    sent_ids: OnceCell<BTreeSet<String>>,
    content: Option<String>,
    refusal: String,
    reasoning: String,
    reasoning_content: String,
    /// The field that contains the thought: the first one with content.
    thought: Option<ReasoningField>,
    details: Vec<Map<String, Value>>,
    /// The position of a detail, by its type and number.
    detail_at: BTreeMap<(String, String), usize>,
    calls: Vec<PartialToolCall>,
    by_index: BTreeMap<u64, usize>,
    ids: CallIds,
    /// The blocks in the order they began.
    slots: Vec<Slot>,
    thinking_at: Option<usize>,
    text_at: Option<usize>,
}

#[derive(Clone, Copy)]
enum Slot {
    Thinking,
    Text,
    Call(usize),
}

#[derive(Default)]
struct PartialToolCall {
    /// The server's id.
    wire_id: String,
    /// The client's id, assigned when the block begins.
    id: String,
    name: String,
    arguments: String,
    /// The position of its block, once that has begun.
    at: Option<usize>,
}

/// The assistant object that equals the whole stream.
#[derive(Serialize)]
struct Assistant<'a> {
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning_content: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reasoning_details: &'a [Map<String, Value>],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<SentCall<'a>>,
}

/// A tool call in a request.
#[derive(Serialize)]
pub(super) struct SentCall<'a> {
    pub id: &'a str,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub function: SentFunction<'a>,
}

#[derive(Serialize)]
pub(super) struct SentFunction<'a> {
    pub name: &'a str,
    pub arguments: &'a str,
}

impl<'a> SentCall<'a> {
    pub fn new(id: &'a str, name: &'a str, arguments: &'a str) -> Self {
        Self {
            id,
            kind: "function",
            function: SentFunction { name, arguments },
        }
    }
}

fn emit(out: &mut Out<'_>, event: impl FnOnce() -> Event) {
    if let Some(out) = out {
        out.push_back(event());
    }
}

impl ReplyBuilder {
    /// The builder of the reply to `sent`, the body of a request.
    pub fn new(context: &RequestContext, dialect: &Dialect, sent: &Bytes) -> Self {
        Self {
            dialect: dialect.clone(),
            origin: context.origin.clone(),
            sent: sent.clone(),
            sent_ids: OnceCell::new(),
            content: None,
            refusal: String::new(),
            reasoning: String::new(),
            reasoning_content: String::new(),
            thought: None,
            details: Vec::new(),
            detail_at: BTreeMap::new(),
            calls: Vec::new(),
            by_index: BTreeMap::new(),
            ids: CallIds::default(),
            slots: Vec::new(),
            thinking_at: None,
            text_at: None,
        }
    }

    /// Adds a whole message.
    pub fn take_whole(&mut self, said: &WireMessage<'_>) {
        self.take_words(said, &mut None);
        for piece in said.tool_calls.iter().flatten() {
            // In a list every entry is a call of its own, whatever it says of itself.
            self.calls.push(PartialToolCall::default());
            self.add(self.calls.len() - 1, piece, &mut None);
        }
    }

    /// Adds a part of a message.
    pub fn take(&mut self, said: &WireMessage<'_>, mut out: Out<'_>) -> Result<(), Error> {
        self.take_words(said, &mut out);
        if let Some(details) = said.reasoning_details {
            self.take_details(details);
        }
        for piece in said.tool_calls.iter().flatten() {
            let call = self.call_of(piece)?;
            self.add(call, piece, &mut out);
        }
        Ok(())
    }

    fn take_words(&mut self, said: &WireMessage<'_>, out: &mut Out<'_>) {
        let reasoning = said.reasoning.filled().unwrap_or_default();
        let reasoning_content = said.reasoning_content.filled().unwrap_or_default();
        self.reasoning += reasoning;
        self.reasoning_content += reasoning_content;
        let first = match (reasoning, reasoning_content) {
            ("", "") => None,
            (_, "") => Some(ReasoningField::Reasoning),
            ("", _) => Some(ReasoningField::ReasoningContent),
            _ if self.dialect.reasoning_field == ReasoningField::ReasoningContent => {
                Some(ReasoningField::ReasoningContent)
            }
            _ => Some(ReasoningField::Reasoning),
        };
        self.thought = self.thought.or(first);
        let thought = match self.thought {
            Some(ReasoningField::ReasoningContent) => reasoning_content,
            Some(_) => reasoning,
            None => "",
        };
        if !thought.is_empty() {
            let index = self.thinking(out);
            emit(out, || Event::ThinkingDelta {
                index,
                text: thought.to_owned(),
            });
        }
        if let Some(text) = &said.content.0 {
            *self.content.get_or_insert_default() += text;
        }
        for text in [&said.content, &said.refusal]
            .into_iter()
            .filter_map(|text| text.filled())
        {
            let index = self.text(out);
            emit(out, || Event::TextDelta {
                index,
                text: text.to_owned(),
            });
        }
        self.refusal += said.refusal.filled().unwrap_or_default();
    }

    fn thinking(&mut self, out: &mut Out<'_>) -> usize {
        if let Some(index) = self.thinking_at {
            return index;
        }
        let kind = BlockKind::Thinking {
            text: String::new(),
            signature: None,
        };
        *self
            .thinking_at
            .insert(begin(&mut self.slots, Slot::Thinking, kind, out))
    }

    fn text(&mut self, out: &mut Out<'_>) -> usize {
        if let Some(index) = self.text_at {
            return index;
        }
        let kind = BlockKind::Text {
            text: String::new(),
        };
        *self
            .text_at
            .insert(begin(&mut self.slots, Slot::Text, kind, out))
    }

    /// Joins the parts of the same detail; a detail without a number is whole.
    fn take_details(&mut self, details: &RawValue) {
        let details: Vec<Map<String, Value>> =
            serde_json::from_str(details.get()).unwrap_or_default();
        for detail in details {
            let shown = |key| detail.get(key).map(Value::to_string);
            let at = shown("index").map(|index| {
                let key = (shown("type").unwrap_or_default(), index);
                *self.detail_at.entry(key).or_insert(self.details.len())
            });
            let Some(old) = at.and_then(|at| self.details.get_mut(at)) else {
                self.details.push(detail);
                continue;
            };
            for (key, value) in detail {
                let grows = matches!(key.as_str(), "text" | "summary" | "data");
                match (old.get_mut(&key), value) {
                    (_, Value::Null) => {}
                    (Some(Value::String(old)), Value::String(more)) if grows => *old += &more,
                    (_, value) => {
                        old.insert(key, value);
                    }
                }
            }
        }
    }

    /// The call that a part of a stream belongs to.
    fn call_of(&mut self, piece: &ContentPart<'_>) -> Result<usize, Error> {
        let strict = self.dialect.tool_index == ToolIndex::Strict;
        let next = self.calls.len();
        let is_next = |index: u64| index == next as u64;
        let call = match piece.index.0 {
            Some(index) => match self.by_index.get(&index) {
                Some(&call) => call,
                None if strict && !is_next(index) => {
                    return Err(Error::protocol(format!(
                        "expected tool call {next}, got number {index}"
                    )));
                }
                None => {
                    self.by_index.insert(index, next);
                    next
                }
            },
            None if strict => return Err(Error::protocol("a piece of a tool call has no index")),
            None => match (self.calls.last(), piece.id.filled()) {
                (None, _) => next,
                (Some(last), Some(id)) if last.wire_id != id => next,
                _ => next - 1,
            },
        };
        if call == next {
            self.calls.push(PartialToolCall::default());
        }
        Ok(call)
    }

    fn add(&mut self, at: usize, piece: &ContentPart<'_>, out: &mut Out<'_>) {
        let Some(call) = self.calls.get_mut(at) else {
            return;
        };
        if call.wire_id.is_empty() {
            piece
                .id
                .filled()
                .unwrap_or_default()
                .clone_into(&mut call.wire_id);
        }
        let mut more = std::borrow::Cow::Borrowed("");
        if let Some(function) = &piece.function {
            // Some servers repeat the name in every piece.
            if call.name.is_empty() {
                function
                    .name
                    .filled()
                    .unwrap_or_default()
                    .clone_into(&mut call.name);
            }
            more = function.arguments();
            call.arguments += &more;
        }
        if call.name.is_empty() {
            return;
        }
        let begun = call.at.is_some();
        let index = self.begin_call(at, out);
        if begun && !more.is_empty() {
            emit(out, || Event::ToolInputDelta {
                index,
                json: more.into_owned(),
            });
        }
    }

    /// The block of a call. When it begins, its id is assigned and the arguments so far are emitted.
    fn begin_call(&mut self, at: usize, out: &mut Out<'_>) -> usize {
        let Some(call) = self.calls.get_mut(at) else {
            return 0;
        };
        if let Some(index) = call.at {
            return index;
        }
        let sent_ids = || self.sent_ids.get_or_init(|| call_ids(&self.sent));
        let wire_id = call.wire_id.clone();
        call.id = self.ids.settle(wire_id, |id| sent_ids().contains(id));
        let kind = BlockKind::ToolUse {
            id: call.id.clone(),
            name: call.name.clone(),
            input: ToolInput::Invalid(String::new()),
        };
        let index = begin(&mut self.slots, Slot::Call(at), kind, out);
        call.at = Some(index);
        if !call.arguments.is_empty() {
            emit(out, || Event::ToolInputDelta {
                index,
                json: call.arguments.clone(),
            });
        }
        index
    }

    /// Ends all blocks. The arguments of calls in a reply that is `cut` are never read as JSON.
    pub fn blocks(&mut self, cut: bool, mut out: Out<'_>) -> Vec<Block> {
        for at in 0..self.calls.len() {
            self.begin_call(at, &mut out);
        }
        let blocks: Vec<_> = self
            .slots
            .iter()
            .map(|slot| self.block(*slot, cut))
            .collect();
        for (index, block) in blocks.iter().enumerate() {
            emit(&mut out, || Event::BlockStop {
                index,
                block: block.clone(),
            });
        }
        blocks
    }

    fn block(&self, slot: Slot, cut: bool) -> Block {
        let kind = match slot {
            Slot::Thinking => BlockKind::Thinking {
                text: match self.thought {
                    Some(ReasoningField::ReasoningContent) => self.reasoning_content.clone(),
                    _ => self.reasoning.clone(),
                },
                signature: None,
            },
            Slot::Text => BlockKind::Text {
                text: self.content.clone().unwrap_or_default() + &self.refusal,
            },
            Slot::Call(at) => {
                let call = &self.calls[at];
                BlockKind::ToolUse {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    input: input(&call.arguments, cut),
                }
            }
        };
        Block::new(kind).origin(Some(self.origin.clone()))
    }

    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    pub fn refuses(&self) -> bool {
        !self.refusal.is_empty()
    }

    /// The client's ids of the calls, in order, if any differs from the server's.
    pub fn changed_ids(&self) -> Option<Vec<&str>> {
        self.calls
            .iter()
            .any(|call| call.id != call.wire_id)
            .then(|| self.calls.iter().map(|call| call.id.as_str()).collect())
    }

    /// The assistant object.
    pub fn assistant(&self) -> Result<Raw, Error> {
        Raw::of(&Assistant {
            role: "assistant",
            content: self.content.as_deref(),
            reasoning: &self.reasoning,
            reasoning_content: &self.reasoning_content,
            reasoning_details: &self.details,
            tool_calls: self
                .calls
                .iter()
                .map(|call| SentCall::new(&call.id, &call.name, &call.arguments))
                .collect(),
        })
        .map_err(|error| Error::protocol(error.to_string()))
    }
}

/// The ids of the tool calls in the body of a request: they are not made again.
fn call_ids(sent: &Bytes) -> BTreeSet<String> {
    let sent: Value = serde_json::from_slice(sent).unwrap_or_default();
    let messages = sent["messages"].as_array().into_iter().flatten();
    let calls = messages.filter_map(|message| message["tool_calls"].as_array());
    let ids = calls.flatten().filter_map(|call| call["id"].as_str());
    ids.map(str::to_owned).collect()
}

fn begin(slots: &mut Vec<Slot>, slot: Slot, kind: BlockKind, out: &mut Out<'_>) -> usize {
    let index = slots.len();
    slots.push(slot);
    emit(out, || Event::BlockStart { index, kind });
    index
}

/// Parses arguments, which are an object; many servers send an empty text for no arguments.
fn input(arguments: &str, cut: bool) -> ToolInput {
    let text = match arguments.trim() {
        "" => "{}",
        text => text,
    };
    match Raw::parse(text) {
        Ok(raw) if !cut && text.starts_with('{') => ToolInput::Json(raw),
        _ => ToolInput::Invalid(arguments.to_owned()),
    }
}
