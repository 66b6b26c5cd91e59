//! The messages of a turn, and the part of them that a request sends.

use std::io;

use jiff::Timestamp;
use llm_client::{Block, Message, Role};
use pscale_blocks::O200k;
use pscale_blocks::store::Origins;

use crate::EventSink;
use crate::config::timestamp;
use crate::conversation::window::{self, Window, WindowLimits};
use crate::conversation::{Author, ConversationRecord, Utterance};
use crate::dispatch::TurnContext;

/// The messages on which a turn runs: those of the conversation, or those that a face sent.
pub(crate) struct TurnMessages<'a> {
    /// The conversation; `None` for the messages of a face, which are never on record.
    record: Option<&'a mut ConversationRecord>,
    /// Not on record yet: a round goes there whole, with its results.
    pending: Vec<Utterance>,
    /// The number of messages of this turn that are on record.
    stored: usize,
}

impl<'a> TurnMessages<'a> {
    /// A turn that follows the messages on record.
    pub fn of_conversation(record: &'a mut ConversationRecord) -> Self {
        Self {
            record: Some(record),
            pending: Vec::new(),
            stored: 0,
        }
    }

    /// A turn on messages of a face, which may come `from` these places; their last one is of the user.
    pub fn of_face(messages: Vec<Message>, from: &Origins) -> Self {
        let said = messages.into_iter().map(|message| {
            let by = match message.role {
                Role::Assistant => Author::Model,
                _ => Author::Kernel,
            };
            Utterance::new(by, message).with_from(from.clone())
        });
        Self {
            record: None,
            pending: said.collect(),
            stored: 0,
        }
    }

    /// Adds a message. All messages of a turn enter here: the first ones, replies, results of tools, requests of the kernel.
    pub fn push(&mut self, said: Utterance) {
        self.pending.push(said);
    }

    /// All messages, oldest first.
    pub fn all(&self) -> impl Iterator<Item = &Message> {
        let recorded = self.record.iter().flat_map(|record| record.messages());
        recorded.chain(self.pending.iter().map(|said| &said.message))
    }

    /// The number that the next message gets on record; `None` for messages of a face.
    pub fn next_number(&self) -> Option<u64> {
        let record = self.record.as_ref()?;
        Some(record.last() + self.pending.len() as u64 + 1)
    }

    /// The places outside that the messages from this one on may come from.
    fn origins(&self, first: usize) -> Origins {
        let recorded = self.record.iter().flat_map(|record| record.said());
        let all = recorded.chain(&self.pending).skip(first);
        Origins::union(all.map(|said| &said.from))
    }

    /// Whether the turn belongs to the conversation.
    pub fn are_recorded(&self) -> bool {
        self.record.is_some()
    }

    /// Whether the model has answered since the last message that is on record.
    pub fn have_answer(&self) -> bool {
        (self.pending.iter()).any(|said| said.message.role == Role::Assistant)
    }

    /// Whether the last words are an answer in which the provider paused: it is paid for, and whole as far as it goes.
    pub fn have_paused_words(&self) -> bool {
        let last = self.pending.last().map(|said| &said.message);
        last.is_some_and(|last| {
            last.role == Role::Assistant
                && (last.content.last()).is_some_and(|block| block.as_text().is_some())
        })
    }

    /// The messages that the next request sends, and the places outside that they may come from. Turns that it no longer sends
    /// move to the block `history`.
    pub fn window(
        &mut self,
        context: TurnContext<'_>,
        limits: WindowLimits,
        events: &EventSink,
    ) -> (Window, Origins) {
        let all: Vec<_> = self.all().cloned().collect();
        // Of the messages of a face the last turn is the current one.
        let on_record = self.record.as_ref().map(|record| record.messages().len());
        let current = on_record.map(|count| count - self.stored);
        let mut window = window::trim(all, current, limits, &O200k);
        let (store, now) = (&*context.toolbox.store, timestamp(context.clock));
        let count = window.kept_from;
        // Messages that cannot move have left the window, too.
        let from = self.origins(count);
        let in_history = count == 0
            || (self.record.as_mut()).is_some_and(|record| {
                record.move_to_history(context.history, store, now, count, events)
            });
        let has_moved = (self.record.as_ref()).is_some_and(|record| record.has_moved());
        if (window.notice || has_moved)
            && let Some(first) = window.messages.first_mut()
        {
            if window.notice {
                first.content.remove(0);
            }
            let notice = if in_history {
                context.history.notice(store)
            } else {
                window::LEFT_OUT.to_owned()
            };
            first.content.insert(0, Block::text(notice));
        }
        let last_turn = self.show_last_turn(&mut window.messages);
        (window, Origins::union([&from, &last_turn]))
    }

    /// A turn that alone is too large for the window would be forgotten by the very next one: a few words of it stay. Returns
    /// the places outside that they may come from.
    fn show_last_turn(&self, messages: &mut [Message]) -> Origins {
        if let Some(record) = &self.record
            && record.messages().len() == self.stored
            && let Some(last) = record.last_moved()
            && let Some(first) = messages.first_mut()
        {
            let words = Block::text(format!("[The turn before, clipped: {}]", last.text));
            first.content.insert(1.min(first.content.len()), words);
            return last.from.clone();
        }
        Origins::default()
    }

    /// Drops the messages that are not on record.
    pub fn forget(&mut self) {
        self.pending.clear();
    }

    /// Records the messages of a conversation. After an error they are in memory only.
    pub fn store(&mut self, now: Timestamp) -> io::Result<()> {
        let Some(record) = &mut self.record else {
            return Ok(());
        };
        let pending = std::mem::take(&mut self.pending);
        self.stored += pending.len();
        record.add(now, pending)
    }
}
