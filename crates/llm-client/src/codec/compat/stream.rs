use std::collections::VecDeque;

use llm_types::{Event, Raw, Reply, StopReason};
use serde::Serialize;
use serde_json::value::RawValue;

use super::decode::{ReplyParts, copy, cuts, stop, usage};
use super::reply_builder::ReplyBuilder;
use super::wire::{Chunk, LenientText};
use crate::codec::{Assembler, RequestContext, error_body, is_ping};
use crate::{Error, ErrorKind};

/// Assembles a reply from its chunks.
pub(super) struct Chunks {
    context: RequestContext,
    draft: ReplyBuilder,
    started: bool,
    id: String,
    model: String,
    finish: Option<String>,
    native: Option<Raw>,
    usage: Option<Raw>,
    /// Whether the usage arrived before the stop reason and may still grow.
    partial: bool,
    /// Whether `[DONE]` arrived.
    done: bool,
}

/// The body that equals the whole stream.
#[derive(Serialize)]
struct WholeReply<'a> {
    id: &'a str,
    object: &'static str,
    model: &'a str,
    choices: [WholeChoice<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct WholeChoice<'a> {
    index: u8,
    message: &'a RawValue,
    finish_reason: Option<&'a str>,
}

impl Chunks {
    pub fn new(context: RequestContext, draft: ReplyBuilder) -> Self {
        Self {
            context,
            draft,
            started: false,
            id: String::new(),
            model: String::new(),
            finish: None,
            native: None,
            usage: None,
            partial: false,
            done: false,
        }
    }

    fn chunk(
        &mut self,
        name: &str,
        chunk: Chunk<'_>,
        data: &str,
        out: &mut VecDeque<Event>,
    ) -> Result<(), Error> {
        if let Some(error) = chunk.error(data) {
            return Err(self.context.fault(error));
        }
        if chunk.choices.is_none() && chunk.usage.is_none() {
            out.push_back(unknown(name, data));
            return Ok(());
        }
        let fill = |old: &mut String, new: &LenientText<'_>| {
            if old.is_empty() {
                new.filled().unwrap_or_default().clone_into(old);
            }
        };
        fill(&mut self.id, &chunk.id);
        fill(&mut self.model, &chunk.model);
        if !self.started {
            self.started = true;
            out.push_back(Event::Start {
                id: self.id.clone(),
                model: if self.model.is_empty() {
                    self.context.origin.model.clone()
                } else {
                    self.model.clone()
                },
            });
        }
        for choice in chunk.choices.into_iter().flatten() {
            // One answer is asked for; a server that gives more is read as if it gave one.
            if choice.index.0.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(error) = choice.error {
                return Err(self.context.fault(error));
            }
            if let Some(said) = &choice.delta {
                self.draft.take(said, Some(out))?;
            }
            if let Some(finish) = choice.finish_reason.filled() {
                self.finish = Some(finish.to_owned());
            }
            if let Some(native) = choice.native_finish_reason {
                self.native = Some(copy(native));
            }
        }
        if let Some(raw) = chunk.usage {
            self.usage = Some(copy(raw));
            self.partial = self.finish.is_none();
            let mut usage = usage(Some(raw));
            usage.partial = self.partial;
            out.push_back(Event::Usage(usage));
        }
        Ok(())
    }

    /// Ends the stream: the reply is whole if the server gave a stop reason.
    fn finish(&mut self, cut: bool, out: &mut VecDeque<Event>) -> Result<(), Error> {
        if cut || self.finish.is_none() {
            let partial = self.reply(true, None)?;
            let partial = error_body::partial(&self.context.redactor, partial);
            return Err(Error::from(ErrorKind::StreamTruncated { partial })
                .with_context(error_body::context(&self.context.headers)));
        }
        let reply = self.reply(false, Some(out))?;
        out.push_back(Event::Done(Box::new(reply)));
        Ok(())
    }

    fn reply(&mut self, cut: bool, out: Option<&mut VecDeque<Event>>) -> Result<Reply, Error> {
        let finish = self.finish.as_deref();
        let content = self.draft.blocks(cut || cuts(finish), out);
        let message = self.draft.assistant()?;
        let filled = |text| Some(text).filter(|text: &&str| !text.is_empty());
        let parts = ReplyParts {
            id: filled(&self.id),
            model: filled(&self.model),
            stop: if cut {
                StopReason::Other("truncated".to_owned())
            } else {
                stop(finish, &self.draft)
            },
            native: self.native.as_ref().map(Raw::as_raw_value),
            usage: self.usage.as_ref().map(Raw::as_raw_value),
        };
        let raw = Raw::of(&WholeReply {
            id: &self.id,
            object: "chat.completion",
            model: &self.model,
            choices: [WholeChoice {
                index: 0,
                message: message.as_raw_value(),
                finish_reason: finish,
            }],
            usage: parts.usage,
        });
        let mut reply = parts.reply(&self.context, &self.draft.dialect, content);
        reply.usage.partial = self.partial;
        reply.raw = raw.map_err(|error| Error::protocol(error.to_string()))?;
        reply.message_raw = Some(message);
        Ok(reply)
    }
}

impl Assembler for Chunks {
    fn event(&mut self, name: &str, data: &str, out: &mut VecDeque<Event>) -> Result<(), Error> {
        if is_ping(name) {
            out.push_back(Event::Ping);
            return Ok(());
        }
        let is_done = data.trim() == "[DONE]";
        if self.done && !is_done {
            return Err(Error::protocol("an event came after [DONE]"));
        }
        if is_done {
            // Proxies say it twice.
            self.done = true;
            return if self.finish.is_some() {
                Ok(())
            } else {
                self.finish(true, out)
            };
        }
        match serde_json::from_str(data) {
            // A list would be read as the fields in their order.
            Ok(chunk) if data.trim_start().starts_with('{') => self.chunk(name, chunk, data, out),
            _ => Err(Error::protocol(format!(
                "expected a chunk of a chat completion, got: {}",
                self.context.excerpt(data)
            ))),
        }
    }

    fn is_complete(&self) -> bool {
        self.done
    }

    fn end(&mut self, cut: bool, out: &mut VecDeque<Event>) -> Result<(), Error> {
        self.finish(cut && !self.done, out)
    }
}

fn unknown(name: &str, data: &str) -> Event {
    Event::Unknown {
        name: name.to_owned(),
        data: data.to_owned(),
    }
}
