//! Parts of the whole record, from its archives and its file.

use std::io;
use std::ops::RangeInclusive;

use serde::Serialize;

use super::archive::{Archive, archives};
use super::author::Utterance;
use super::display::{self, DisplayedMessage};
use super::line::{Line, OldLine, ParsedLine};
use super::record::FILE;
use super::view::View;
use crate::storage::FileStore;

/// A message with its number.
#[derive(Debug)]
pub(crate) struct NumberedMessage {
    pub n: u64,
    pub said: Utterance,
}

/// A part of the words of a conversation, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DisplayedPage {
    /// The words.
    pub messages: Vec<DisplayedMessage>,
    /// The number to ask for the part before this one; `None` if nothing is before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Archives that cannot be read, each with the reason. Their messages are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

/// A part of the record.
pub(crate) struct RecordPart {
    pub messages: Vec<NumberedMessage>,
    /// The number of the newest message of all.
    pub last: u64,
    /// Archives that cannot be read, each with the reason. Their messages are left out.
    pub unread: Vec<String>,
}

/// The numbers that the file can have.
const ANY: RangeInclusive<u64> = 1..=u64::MAX;

/// The messages of lines with these numbers, oldest first, and the number of the newest message that there was. Lines that cannot be
/// read are passed over.
fn messages(
    bytes: &[u8],
    numbers: &RangeInclusive<u64>,
) -> io::Result<(Vec<NumberedMessage>, u64)> {
    let mut newest = NewestTexts::new(None, usize::MAX);
    newest.read(bytes, numbers)?;
    newest.found.reverse();
    let last = newest.found.last().map_or(newest.begin, |last| last.n);
    Ok((newest.found, last))
}

/// The messages of a file of an earlier version, which are counted from its first line on.
fn old_messages(bytes: &[u8], numbers: &RangeInclusive<u64>) -> io::Result<Vec<NumberedMessage>> {
    let mut found = Vec::new();
    let mut last = 0;
    for line in durable::lines(bytes) {
        let line = line?;
        if !line.is_whole() {
            break;
        }
        let line = match ParsedLine::parse(line.text()) {
            Ok(ParsedLine::Current { line, .. }) => line,
            Ok(ParsedLine::Old(line @ OldLine::Message { .. })) => {
                View::after(last).to_current(line)
            }
            _ => continue,
        };
        match line {
            Line::Begin { n, .. } => last = last.max(n.saturating_sub(1)),
            // A second copy of a line is left out.
            Line::Message {
                n,
                by,
                from,
                message,
                ..
            } if n > last && numbers.contains(&n) => {
                last = n;
                let said = Utterance::new(by, message).with_from(from);
                found.push(NumberedMessage { n, said });
            }
            _ => {}
        }
    }
    Ok(found)
}

fn of_archive(files: &FileStore, archive: &Archive) -> io::Result<Vec<NumberedMessage>> {
    Ok(messages(&files.unpack(&archive.name())?, &archive.numbers())?.0)
}

/// Every message of the record, oldest first.
pub(crate) fn all(files: &FileStore) -> io::Result<Vec<Utterance>> {
    let part = range(files, 1, usize::MAX)?;
    if let Some(why) = part.unread.into_iter().next() {
        return Err(io::Error::other(why));
    }
    Ok(part
        .messages
        .into_iter()
        .map(|message| message.said)
        .collect())
}

/// The first messages of the record from number `from` on, at most `limit`. Only the archives that have some of them are opened;
/// messages whose archive was removed are left out.
pub(crate) fn range(files: &FileStore, from: u64, limit: usize) -> io::Result<RecordPart> {
    let (of_file, last) = messages(&files.read(FILE)?.unwrap_or_default(), &ANY)?;
    let mut found: Vec<NumberedMessage> = Vec::new();
    let mut unread = Vec::new();
    for archive in archives(files)? {
        if archive.last >= from && found.len() < limit {
            match of_archive(files, &archive) {
                Ok(more) => add(&mut found, more, from, limit),
                Err(error) => unread.push(error.to_string()),
            }
        }
    }
    add(&mut found, of_file, from, limit);
    Ok(RecordPart {
        messages: found,
        last,
        unread,
    })
}

/// Adds what comes after the messages that were found, up to `limit`.
fn add(found: &mut Vec<NumberedMessage>, more: Vec<NumberedMessage>, from: u64, limit: usize) {
    let next = found.last().map_or(from, |last| last.n + 1);
    let after = more.into_iter().filter(|message| message.n >= next);
    found.extend(after.take(limit - found.len()));
}

/// The newest `limit` texts that a person reads of the messages before number `before`, or of all. The record is read from
/// its end, and only as far as these texts take.
pub(crate) fn displayed(
    files: &FileStore,
    before: Option<u64>,
    limit: usize,
) -> io::Result<DisplayedPage> {
    let mut newest = NewestTexts::new(before, limit);
    let mut archives = archives(files)?;
    let mut unread = Vec::new();
    let mut is_done = newest.read(&files.read(FILE)?.unwrap_or_default(), &ANY)?;
    while !is_done {
        archives.retain(|archive| archive.first < newest.end);
        let Some(archive) = archives.pop() else {
            break;
        };
        match files.unpack(&archive.name()) {
            Ok(bytes) => is_done = newest.read(&bytes, &archive.numbers())?,
            Err(error) => unread.push(error.to_string()),
        }
    }
    Ok(newest.page(before, unread))
}

/// The texts before a message, from the newest on.
struct NewestTexts {
    /// The number of the message before which the next one is searched.
    end: u64,
    limit: usize,
    /// The newest first.
    found: Vec<NumberedMessage>,
    /// The number of messages that can be enough: there are at most as many texts.
    enough: usize,
    /// The number before the first message of the file, by its line about archives.
    begin: u64,
}

impl NewestTexts {
    fn new(before: Option<u64>, limit: usize) -> Self {
        Self {
            end: before.unwrap_or(u64::MAX),
            limit,
            found: Vec::new(),
            enough: limit.saturating_add(1),
            begin: 0,
        }
    }

    /// Reads the lines of the record before those that were read. True if no further ones are needed.
    fn read(&mut self, bytes: &[u8], numbers: &RangeInclusive<u64>) -> io::Result<bool> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        // The message of the line after. It counts if its number is above that of the line before it.
        let mut after: Option<NumberedMessage> = None;
        for line in bytes[..whole].rsplit(|byte| *byte == b'\n') {
            let line = match ParsedLine::parse(line) {
                Ok(ParsedLine::Current { line, .. }) => line,
                // Messages of an earlier version are counted from the first line on.
                Ok(ParsedLine::Old(_)) => {
                    for found in old_messages(bytes, numbers)?.into_iter().rev() {
                        self.add(Some(found), 0);
                    }
                    return Ok(self.is_enough());
                }
                Err(_) => continue,
            };
            match line {
                Line::Message {
                    n,
                    by,
                    from,
                    message,
                    ..
                } if numbers.contains(&n) && n < self.end => {
                    let said = Utterance::new(by, message).with_from(from);
                    self.add(after.replace(NumberedMessage { n, said }), n);
                }
                Line::Begin { n, .. } => {
                    self.begin = self.begin.max(n.saturating_sub(1));
                    self.add(after.take(), n.saturating_sub(1));
                }
                _ => {}
            }
            if self.is_enough() {
                return Ok(true);
            }
        }
        self.add(after, 0);
        Ok(self.is_enough())
    }

    /// Adds a message with a number above `least`.
    fn add(&mut self, message: Option<NumberedMessage>, least: u64) {
        // A second copy of a line is left out.
        if let Some(message) = message.filter(|found| (least + 1..self.end).contains(&found.n)) {
            self.end = message.n;
            self.found.push(message);
        }
    }

    /// Whether there is one text more than asked for: only the first one may begin in an earlier message.
    fn is_enough(&mut self) -> bool {
        if self.found.len() < self.enough {
            return false;
        }
        let missing = (self.limit + 1).saturating_sub(self.texts().len());
        // The step grows with what was read, so that all texts are not made again for each message.
        self.enough = self.found.len() + missing.max(self.found.len() / 8);
        missing == 0
    }

    fn texts(&self) -> Vec<(u64, DisplayedMessage)> {
        let oldest_first = self.found.iter().rev();
        display::texts(oldest_first.map(|message| (message.n, &message.said)))
    }

    fn page(&self, before: Option<u64>, unread: Vec<String>) -> DisplayedPage {
        let texts = self.texts();
        let surplus = texts.len().saturating_sub(self.limit);
        let first = texts.get(surplus).map(|(n, _)| *n).or(before);
        let messages = texts.into_iter().skip(surplus).map(|(_, text)| text);
        DisplayedPage {
            messages: messages.collect(),
            before: first.filter(|_| surplus > 0),
            unread,
        }
    }
}
