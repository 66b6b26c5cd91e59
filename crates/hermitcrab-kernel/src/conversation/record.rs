//! The record of the conversation: every message, whatever a shell does.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use llm_client::Message;
use serde::{Deserialize, Serialize};

use super::author::{Author, Utterance};
use super::window;
use crate::storage::FileStore;

pub(crate) const FILE: &str = "conversation.jsonl";
/// Lines of version 1 have no author.
const VERSION: u32 = 2;

/// One line of `conversation.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// A message.
    Message {
        schema_version: u32,
        at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Author>,
        message: Message,
    },
    /// The oldest messages have moved to the block `history`.
    Moved {
        schema_version: u32,
        messages: usize,
    },
    /// The repaired messages, in place of those that had not moved and could not be sent.
    Repaired {
        schema_version: u32,
        messages: Vec<Message>,
        /// Their authors, in their order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        by: Vec<Author>,
    },
}

/// A message as a line has it.
fn utterance(by: Option<Author>, message: Message) -> Utterance {
    match by {
        Some(by) => Utterance::new(by, message),
        None => Utterance::without_author(message),
    }
}

impl Line {
    fn version(&self) -> u32 {
        match self {
            Self::Message { schema_version, .. }
            | Self::Moved { schema_version, .. }
            | Self::Repaired { schema_version, .. } => *schema_version,
        }
    }
}

/// The conversation: all of it on record, the part that has not moved to `history` in memory.
#[derive(Debug)]
pub(crate) struct ConversationRecord {
    files: Arc<FileStore>,
    /// The number of messages that have moved.
    moved: usize,
    said: Vec<Utterance>,
    /// The times of these messages.
    times: Vec<Timestamp>,
    /// The last turn that moved, as the block `history` has it.
    last_moved: Option<String>,
    /// Lines that could not be written; the next write begins with them.
    unwritten: Vec<u8>,
}

impl ConversationRecord {
    /// Reads the record. An unreadable rest is kept in a file next to it, with a line about it; a torn last line is cut.
    pub fn open(files: Arc<FileStore>) -> io::Result<(Self, Option<String>)> {
        let (bytes, mut notice) = files.load(FILE)?;
        let bytes = bytes.unwrap_or_default();
        let (lines, good) = read(&bytes);
        if good < bytes.len() {
            let aside = files.back_up_unreadable(FILE, &bytes[good..])?;
            files.replace(FILE, &bytes[..good])?;
            notice = Some(format!(
                "{FILE} cannot be read from line {} on: the conversation ends before it, the rest is kept as {aside}",
                lines.len() + 1
            ));
        }
        let mut conversation = Self {
            files,
            moved: 0,
            said: Vec::new(),
            times: Vec::new(),
            last_moved: None,
            unwritten: Vec::new(),
        };
        for line in lines {
            conversation.follow(line);
        }
        Ok((conversation, notice))
    }

    fn follow(&mut self, line: Line) {
        match line {
            Line::Message {
                at, by, message, ..
            } => {
                self.said.push(utterance(by, message));
                self.times.push(at);
            }
            Line::Moved { messages, .. } => {
                let messages = messages.min(self.said.len());
                if let Some(at) = self.times.first() {
                    let turns = window::entries(&self.said[..messages], *at);
                    self.last_moved = turns.into_iter().next_back().or(self.last_moved.take());
                }
                self.said.drain(..messages);
                self.times.drain(..messages);
                self.moved += messages;
            }
            Line::Repaired { messages, by, .. } => {
                // What goes is mostly at the end.
                if let Some(last) = self.times.last().copied() {
                    self.times.resize(messages.len(), last);
                    let mut by = by.into_iter();
                    let said = messages.into_iter();
                    self.said = said.map(|message| utterance(by.next(), message)).collect();
                }
            }
        }
    }

    /// The messages that have not moved, with their authors, oldest first.
    pub fn said(&self) -> &[Utterance] {
        &self.said
    }

    /// The messages that have not moved, oldest first.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &Message> {
        self.said.iter().map(|said| &said.message)
    }

    /// The last turn that moved, clipped.
    pub fn last_moved(&self) -> Option<&str> {
        self.last_moved.as_deref()
    }

    /// The time of a message that has not moved.
    pub fn said_at(&self, index: usize) -> Option<Timestamp> {
        self.times.get(index).copied()
    }

    /// Whether nothing was ever said.
    pub fn is_new(&self) -> bool {
        self.moved == 0 && self.said.is_empty()
    }

    /// Whether something has moved to `history`.
    pub fn has_moved(&self) -> bool {
        self.moved > 0
    }

    /// The number of messages that have moved, which is the number of the first one that has not.
    pub fn moved(&self) -> usize {
        self.moved
    }

    /// Puts messages on record, all or none.
    pub fn add(&mut self, at: Timestamp, said: Vec<Utterance>) -> io::Result<()> {
        let lines = (said.into_iter()).map(|Utterance { by, message }| Line::Message {
            schema_version: VERSION,
            at,
            by: Some(by),
            message,
        });
        self.write(lines.collect())
    }

    /// Notes that the oldest `messages` have moved to `history`.
    pub fn move_oldest(&mut self, messages: usize) -> io::Result<()> {
        let schema_version = VERSION;
        self.write(vec![Line::Moved {
            schema_version,
            messages,
        }])
    }

    /// Replaces the messages that have not moved by valid ones; the record keeps the old ones, too.
    pub fn repair(&mut self, said: Vec<Utterance>) -> io::Result<()> {
        let said = said.into_iter().map(|said| (said.by, said.message));
        let (by, messages) = said.unzip();
        self.write(vec![Line::Repaired {
            schema_version: VERSION,
            messages,
            by,
        }])
    }

    /// An error leaves the lines in memory, and the next write brings them to the record, too.
    fn write(&mut self, lines: Vec<Line>) -> io::Result<()> {
        for line in &lines {
            serde_json::to_writer(&mut self.unwritten, line)?;
            self.unwritten.push(b'\n');
        }
        for line in lines {
            self.follow(line);
        }
        self.files.append(FILE, &self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }

    /// Begins with what was said in an earlier generation, if nothing was said here.
    pub fn take_over(&mut self, at: Timestamp, messages: Vec<Message>) -> io::Result<()> {
        if messages.is_empty() || !self.is_new() {
            return Ok(());
        }
        let said = messages.into_iter().map(Utterance::without_author);
        self.add(at, said.collect())
    }

    /// Brings what could not be written to the record, if it can be written now.
    pub fn settle(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        self.write(Vec::new())
    }

    /// Every message of the record, oldest first.
    pub fn all(files: &FileStore) -> io::Result<Vec<Utterance>> {
        Ok(Self::on_record(files, 0, usize::MAX)?.0)
    }

    /// `limit` messages of the record from number `from` on (from 0), and how many there are.
    pub fn on_record(
        files: &FileStore,
        from: usize,
        limit: usize,
    ) -> io::Result<(Vec<Utterance>, usize)> {
        let bytes = files.read(FILE)?.unwrap_or_default();
        let (lines, _) = read(&bytes);
        let all: Vec<_> = lines
            .into_iter()
            .filter_map(|line| match line {
                Line::Message { by, message, .. } => Some(utterance(by, message)),
                Line::Moved { .. } | Line::Repaired { .. } => None,
            })
            .collect();
        let count = all.len();
        Ok((all.into_iter().skip(from).take(limit).collect(), count))
    }
}

/// The lines that can be read, and where they end.
fn read(bytes: &[u8]) -> (Vec<Line>, usize) {
    let mut lines = Vec::new();
    let mut good = 0;
    while let Some(length) = bytes[good..].iter().position(|byte| *byte == b'\n') {
        match serde_json::from_slice::<Line>(&bytes[good..good + length]) {
            Ok(line) if (1..=VERSION).contains(&line.version()) => lines.push(line),
            _ => break,
        }
        good += length + 1;
    }
    (lines, good)
}
