use std::collections::VecDeque;

use llm_types::{Block, BlockKind, Event, Raw, ToolInput};
use serde_json::value::RawValue;

use super::decode;
use super::object::Object;
use crate::Error;
use crate::codec::RequestContext;

/// A block of a stream that is still being written.
#[derive(Debug)]
pub(super) struct OpenBlock {
    /// The block of `content_block_start`; the text of the deltas is added at its end.
    object: Object,
    kind: BlockKind,
    /// The field that the deltas add to. Every kind of block has one, in addition to signature and citations.
    grown: Option<(&'static str, String)>,
    signature: Option<String>,
    citations: Vec<Box<RawValue>>,
}

impl OpenBlock {
    pub fn new(object: Object) -> Result<Self, Error> {
        Ok(Self {
            kind: decode::block_kind(&object.fields())?,
            object,
            grown: None,
            signature: None,
            citations: Vec::new(),
        })
    }

    /// Emits the start of the block: empty, then its initial content.
    pub fn announce(&self, index: usize, out: &mut VecDeque<Event>) {
        let (kind, given) = match self.kind.clone() {
            BlockKind::Text { text } => (
                BlockKind::Text {
                    text: String::new(),
                },
                (!text.is_empty()).then_some(Event::TextDelta { index, text }),
            ),
            BlockKind::Thinking { text, signature } => (
                BlockKind::Thinking {
                    text: String::new(),
                    signature,
                },
                (!text.is_empty()).then_some(Event::ThinkingDelta { index, text }),
            ),
            // What input it has is known at its end only.
            BlockKind::ToolUse { id, name, .. } => (
                BlockKind::ToolUse {
                    id,
                    name,
                    input: ToolInput::Invalid(String::new()),
                },
                None,
            ),
            other => (other, None),
        };
        out.push_back(Event::BlockStart { index, kind });
        out.extend(given);
    }

    /// Appends to the text.
    pub fn add_text(&mut self, index: usize, text: String) -> Result<Option<Event>, Error> {
        self.grow("text", &text)?;
        let own = matches!(self.kind, BlockKind::Text { .. });
        Ok(own.then_some(Event::TextDelta { index, text }))
    }

    /// Appends to the thought.
    pub fn add_thinking(&mut self, index: usize, text: String) -> Result<Option<Event>, Error> {
        self.grow("thinking", &text)?;
        let own = matches!(self.kind, BlockKind::Thinking { .. });
        Ok(own.then_some(Event::ThinkingDelta { index, text }))
    }

    /// Appends to the arguments of a tool call.
    pub fn add_json(&mut self, index: usize, json: String) -> Result<Option<Event>, Error> {
        self.grow("input", &json)?;
        let own = matches!(
            self.kind,
            BlockKind::ToolUse { .. } | BlockKind::ServerToolUse { .. }
        );
        Ok(own.then_some(Event::ToolInputDelta { index, json }))
    }

    /// Sets the signature, which arrives as a whole.
    pub fn sign(&mut self, signature: String) {
        self.signature = Some(signature);
    }

    /// Adds a citation.
    pub fn cite(&mut self, citation: Option<&RawValue>) {
        self.citations.extend(citation.map(RawValue::to_owned));
    }

    fn grow(&mut self, field: &'static str, piece: &str) -> Result<(), Error> {
        let (grown, text) = self.grown.get_or_insert_with(|| {
            // The arguments at the start stand for none; a text at the start is the beginning of it.
            let start = (field != "input").then(|| self.object.fields().text(field));
            (field, start.flatten().unwrap_or_default())
        });
        let fits = match &self.kind {
            BlockKind::Text { .. } => field == "text",
            BlockKind::Thinking { .. } => field == "thinking",
            BlockKind::ToolUse { .. } | BlockKind::ServerToolUse { .. } => field == "input",
            _ => *grown == field,
        };
        if !fits {
            let what = format!("a delta of {field} for a block that has none");
            return Err(Error::protocol(what));
        }
        text.push_str(piece);
        Ok(())
    }

    /// The whole block.
    pub fn close(
        mut self,
        context: &RequestContext,
        index: usize,
        out: &mut VecDeque<Event>,
    ) -> Block {
        let grown = self.grown.take().filter(|(_, text)| !text.is_empty());
        let grown = match grown {
            Some(("input", json)) => {
                self.set_input(json);
                None
            }
            None => {
                self.tell_input(index, out);
                None
            }
            grown => grown,
        };
        if let Some(signature) = self.signature.take() {
            self.object.set("signature", &signature);
            self.set_signature(signature);
        }
        if !self.citations.is_empty() {
            let given = self.object.fields().list("citations").unwrap_or_default();
            let mut all: Vec<_> = given.into_iter().map(RawValue::to_owned).collect();
            all.append(&mut self.citations);
            self.object.set("citations", &all);
        }
        let raw = match grown {
            Some((field, text)) => {
                let raw = self.object.to_raw_with(field, &text);
                self.set_text(text);
                raw
            }
            None => self.object.to_raw(),
        };
        decode::received(context, self.kind, raw)
    }

    /// The incomplete block. It has no raw text, so that it is not mistaken for a whole one.
    pub fn cut(mut self, context: &RequestContext) -> Block {
        let grown = self.grown.take();
        if let BlockKind::ToolUse { input, .. } = &mut self.kind {
            let json = grown.map_or_else(String::new, |(_, json)| json);
            *input = ToolInput::Invalid(json);
        } else if let Some((_, text)) = grown {
            self.set_text(text);
        }
        if let Some(signature) = self.signature.take() {
            self.set_signature(signature);
        }
        Block::new(self.kind).origin(Some(context.origin.clone()))
    }

    fn set_text(&mut self, new: String) {
        if let BlockKind::Text { text } | BlockKind::Thinking { text, .. } = &mut self.kind {
            *text = new;
        }
    }

    fn set_signature(&mut self, new: String) {
        if let BlockKind::Thinking { signature, .. } = &mut self.kind {
            *signature = Some(new);
        }
    }

    fn set_input(&mut self, json: String) {
        let parsed = Raw::parse(&json).inspect(|raw| self.object.set("input", raw));
        if let BlockKind::ToolUse { input, .. } = &mut self.kind {
            // The raw block keeps the input of its start then, for what is sent back must be JSON.
            *input = parsed.map_or(ToolInput::Invalid(json), ToolInput::Json);
        }
    }

    /// Arguments that arrived with the start of the block instead of in deltas.
    fn tell_input(&self, index: usize, out: &mut VecDeque<Event>) {
        if let BlockKind::ToolUse {
            input: ToolInput::Json(raw),
            ..
        } = &self.kind
        {
            out.push_back(Event::ToolInputDelta {
                index,
                json: raw.get().to_owned(),
            });
        }
    }
}
