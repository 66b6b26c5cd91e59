//! The record of the conversation: every message, whatever a shell does.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use llm_client::Message;
use pscale_blocks::store::{Origin, Origins};

use super::archive::{self, archives};
use super::author::Utterance;
use super::line::{Line, ParsedLine, VERSION};
use super::view::{MovedTurn, View};
use crate::KernelError;
use crate::storage::{FileStore, read_lines};

pub(crate) const FILE: &str = "conversation.jsonl";

/// The conversation: all of it on record, the part that has not moved to `history` in memory.
#[derive(Debug)]
pub(crate) struct ConversationRecord {
    files: Arc<FileStore>,
    view: View,
    /// Lines that could not be written; the next write begins with them.
    unwritten: Vec<u8>,
    /// Whether the file has lines of an earlier version.
    is_old: bool,
    /// Whether the last line of the file has no end.
    is_torn: bool,
}

impl ConversationRecord {
    /// Reads the record; its archives stay closed. Lines that cannot be read are passed over, with a line about them. Nothing is
    /// written.
    pub fn open(files: Arc<FileStore>) -> Result<(Self, Option<String>), KernelError> {
        let (bytes, moved) = files.load(FILE).map_err(KernelError::file(FILE))?;
        let bytes = bytes.unwrap_or_default();
        let (mut view, mut is_old) = (View::default(), false);
        let unread = read_lines(&files, FILE, VERSION, &bytes, |line, _| {
            match ParsedLine::parse(line)? {
                ParsedLine::Current {
                    line,
                    is_old: is_of_before,
                } => {
                    is_old |= is_of_before;
                    view.follow(line);
                }
                ParsedLine::Old(line) => {
                    is_old = true;
                    view.follow(view.to_current(line));
                }
            }
            Ok(())
        })?;
        let is_torn = bytes.last().is_some_and(|last| *last != b'\n');
        let mut record = Self {
            files,
            view,
            unwritten: Vec::new(),
            is_old,
            is_torn,
        };
        record
            .go_on_after_archives()
            .map_err(KernelError::file(FILE))?;
        Ok((record, unread.or(moved)))
    }

    /// A file that was lost, or is older than the archives next to it, does not give their numbers again.
    fn go_on_after_archives(&mut self) -> io::Result<()> {
        let archived = archives(&self.files)?.iter().map(|found| found.last).max();
        self.view.go_on_after(archived.unwrap_or(0));
        Ok(())
    }

    /// Brings a file of an earlier version to the current one, and cuts a last line without its end: once, before anything else
    /// is written. Answers a line about a failure; the file is then as it was, and can be written to.
    pub fn make_current(&mut self) -> Option<String> {
        let made = if self.is_old {
            self.compact()
        } else if self.is_torn && self.files.is_on_disk() {
            self.files.append(FILE, b"").map(drop)
        } else {
            Ok(())
        };
        let error = made.err()?;
        Some(format!("{FILE} cannot be written: {error}"))
    }

    fn compact(&mut self) -> io::Result<()> {
        if self.files.is_on_disk() {
            archive::compact(&self.files)?;
            self.is_old = false;
        }
        Ok(())
    }

    /// The messages that have not moved, with their authors, oldest first.
    pub fn said(&self) -> &[Utterance] {
        &self.view.said
    }

    /// The messages that have not moved, oldest first.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &Message> {
        self.view.said.iter().map(|said| &said.message)
    }

    /// The last turn that moved.
    pub fn last_moved(&self) -> Option<&MovedTurn> {
        self.view.last_moved.as_ref()
    }

    /// The places outside that some of the messages that have not moved may come from.
    pub fn origins(&self, messages: Range<usize>) -> Origins {
        let said = self.view.said.get(messages).unwrap_or_default();
        Origins::union(said.iter().map(|said| &said.from))
    }

    /// The number of the newest message; 0 without one.
    pub fn last(&self) -> u64 {
        self.view.last
    }

    /// The number of a message that has not moved.
    pub fn number(&self, index: usize) -> u64 {
        self.view.number(index)
    }

    /// The time of a message that has not moved.
    pub fn said_at(&self, index: usize) -> Option<Timestamp> {
        self.view.times.get(index).copied()
    }

    /// Whether nothing was ever said.
    pub fn is_new(&self) -> bool {
        self.last() == 0
    }

    /// Whether something has moved to `history`.
    pub fn has_moved(&self) -> bool {
        self.view.moved > 0
    }

    /// The number of the last message that has moved; 0 without one.
    pub fn moved(&self) -> u64 {
        self.view.moved
    }

    /// Puts messages on record, all or none.
    pub fn add(&mut self, at: Timestamp, said: Vec<Utterance>) -> io::Result<()> {
        let numbers = self.view.last + 1..;
        let lines = numbers.zip(said).map(|(n, said)| Line::Message {
            schema_version: VERSION,
            n,
            at,
            by: said.by,
            from: said.from,
            message: said.message,
        });
        self.write(lines.collect())
    }

    /// Notes that the oldest `messages` have moved to `history`. A file that has become long moves them to an archive.
    pub fn move_oldest(&mut self, messages: usize) -> io::Result<()> {
        let Some(last) = messages.checked_sub(1) else {
            return Ok(());
        };
        self.write(vec![Line::Moved {
            schema_version: VERSION,
            n: self.view.number(last),
            new_window: false,
        }])?;
        if self.files.is_on_disk() && self.files.length(FILE)? > archive::FILE_LIMIT {
            self.compact()?;
        }
        Ok(())
    }

    /// Forgets the last turn that moved: no word of it is shown any more.
    pub fn forget_last_moved(&mut self) -> io::Result<()> {
        if self.last_moved().is_none() {
            return Ok(());
        }
        self.write(vec![Line::Moved {
            schema_version: VERSION,
            n: self.view.moved,
            new_window: true,
        }])
    }

    /// Leaves of the messages that have not moved only `kept`, each with its index among them. The record has the others, too.
    pub fn repair(&mut self, kept: Vec<(usize, Message)>) -> io::Result<()> {
        self.write(vec![self.view.repaired(kept)])
    }

    /// An error leaves the lines in memory, and the next write brings them to the record, too.
    fn write(&mut self, lines: Vec<Line>) -> io::Result<()> {
        for line in &lines {
            line.write(&mut self.unwritten)?;
        }
        for line in lines {
            self.view.follow(line);
        }
        self.files.append(FILE, &self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }

    /// Begins with what was said in an earlier generation, if nothing was said here.
    pub fn take_over(
        &mut self,
        at: Timestamp,
        messages: Vec<Message>,
        source: String,
    ) -> io::Result<()> {
        if messages.is_empty() || !self.is_new() {
            return Ok(());
        }
        let from = Origins::from(Origin::Import { source });
        let said = messages.into_iter().map(Utterance::without_author);
        self.add(at, said.map(|said| said.with_from(from.clone())).collect())
    }

    /// Brings what could not be written to the record, if it can be written now.
    pub fn settle(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        self.write(Vec::new())
    }
}
