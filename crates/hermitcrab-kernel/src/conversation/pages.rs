//! Parts of the whole record, from its archives and its file.

use std::io;

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
}

/// The messages of lines, and the number of the newest one. Lines that cannot be read are passed over.
fn messages(bytes: &[u8]) -> io::Result<(Vec<NumberedMessage>, u64)> {
    let mut found = Vec::new();
    let mut last = 0;
    for line in durable::lines(bytes) {
        let line = line?;
        if !line.is_whole() {
            break;
        }
        let line = match ParsedLine::parse(line.text()) {
            Ok(ParsedLine::Current(line)) => line,
            Ok(ParsedLine::Old(line @ OldLine::Message { .. })) => {
                View::after(last).to_current(line)
            }
            _ => continue,
        };
        match line {
            Line::Begin { n, .. } => last = last.max(n.saturating_sub(1)),
            // A second copy of a line is left out.
            Line::Message { n, by, message, .. } if n > last => {
                last = n;
                let said = Utterance::new(by, message);
                found.push(NumberedMessage { n, said });
            }
            _ => {}
        }
    }
    Ok((found, last))
}

fn of_archive(files: &FileStore, archive: &Archive) -> io::Result<Vec<NumberedMessage>> {
    Ok(messages(&files.unpack(&archive.name())?)?.0)
}

fn of_file(files: &FileStore) -> io::Result<(Vec<NumberedMessage>, u64)> {
    messages(&files.read(FILE)?.unwrap_or_default())
}

/// Every message of the record, oldest first.
pub(crate) fn all(files: &FileStore) -> io::Result<Vec<Utterance>> {
    let (messages, _) = range(files, 1, usize::MAX)?;
    Ok(messages.into_iter().map(|message| message.said).collect())
}

/// The first messages of the record from number `from` on, at most `limit`, and the number of the newest one of all. Only the
/// archives that have some of them are opened; messages whose archive was removed are left out.
pub(crate) fn range(
    files: &FileStore,
    from: u64,
    limit: usize,
) -> io::Result<(Vec<NumberedMessage>, u64)> {
    let (of_file, last) = of_file(files)?;
    let mut found: Vec<NumberedMessage> = Vec::new();
    for archive in archives(files)? {
        if archive.last >= from && found.len() < limit {
            add(&mut found, of_archive(files, &archive)?, from, limit);
        }
    }
    add(&mut found, of_file, from, limit);
    Ok((found, last))
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
    let mut newest = NewestTexts {
        end: before.unwrap_or(u64::MAX),
        limit,
        found: Vec::new(),
        enough: limit.saturating_add(1),
    };
    let mut archives = archives(files)?;
    let mut bytes = files.read(FILE)?.unwrap_or_default();
    while !newest.read(&bytes)? {
        archives.retain(|archive| archive.first < newest.end);
        bytes = match archives.pop() {
            Some(archive) => files.unpack(&archive.name())?,
            None => break,
        };
    }
    Ok(newest.page(before))
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
}

impl NewestTexts {
    /// Reads the lines of the record before those that were read. True if no further ones are needed.
    fn read(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        for line in bytes[..whole].rsplit(|byte| *byte == b'\n') {
            match ParsedLine::parse(line) {
                Ok(ParsedLine::Current(Line::Message { n, by, message, .. })) => {
                    let said = Utterance::new(by, message);
                    self.add(NumberedMessage { n, said });
                }
                // Messages of an earlier version are counted from the first line on.
                Ok(ParsedLine::Old(_)) => {
                    let (messages, _) = messages(bytes)?;
                    messages.into_iter().rev().for_each(|found| self.add(found));
                    return Ok(self.is_enough());
                }
                _ => {}
            }
            if self.is_enough() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn add(&mut self, message: NumberedMessage) {
        // A second copy of a line is left out.
        if message.n < self.end {
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

    fn page(&self, before: Option<u64>) -> DisplayedPage {
        let texts = self.texts();
        let surplus = texts.len().saturating_sub(self.limit);
        let first = texts.get(surplus).map(|(n, _)| *n).or(before);
        let messages = texts.into_iter().skip(surplus).map(|(_, text)| text);
        DisplayedPage {
            messages: messages.collect(),
            before: first.filter(|_| surplus > 0),
        }
    }
}
