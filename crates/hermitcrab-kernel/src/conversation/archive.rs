//! The archives of a conversation: the lines that have moved leave a file that has become long.

use std::io;
use std::ops::RangeInclusive;

use super::line::{Line, ParsedLine, VERSION};
use super::record::FILE;
use super::view::{MovedTurn, View};
use crate::storage::FileStore;

/// The folder of the archives.
const FOLDER: &str = "conversation";
/// The ending of their names.
const ENDING: &str = ".jsonl.gz";
/// A file with more bytes than this is cut at the next line about moved messages.
pub(super) const FILE_LIMIT: u64 = 1 << 20;
/// The size from which an archive is closed, in unpacked bytes.
const ARCHIVE_SIZE: usize = 1 << 20;
/// More than any message has as its number in an archive of ours; after it there are as many again.
const NUMBERS: u64 = 1 << 52;
/// The least that is worth an archive, in unpacked bytes.
const LEAST: usize = ARCHIVE_SIZE / 2;

/// An archive by its name, such as `conversation/1-980.jsonl.gz`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Archive {
    /// The number of its first message.
    pub first: u64,
    /// The number of its last message.
    pub last: u64,
}

impl Archive {
    /// The numbers that its messages can have.
    pub fn numbers(&self) -> RangeInclusive<u64> {
        self.first..=self.last
    }

    /// The path in the data directory.
    pub fn name(&self) -> String {
        format!("{FOLDER}/{}", self.file())
    }

    fn file(&self) -> String {
        format!("{}-{}{ENDING}", self.first, self.last)
    }

    fn parse(name: &str) -> Option<Self> {
        let (first, last) = name.strip_suffix(ENDING)?.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        let archive = Self { first, last };
        let is_ours = first <= last && last < NUMBERS && archive.file() == name;
        is_ours.then_some(archive)
    }
}

/// The archives, by their first messages. Two may overlap: the program ended after it had written the first of them.
pub(super) fn archives(files: &FileStore) -> io::Result<Vec<Archive>> {
    let names = files.list(FOLDER)?;
    let mut found: Vec<_> = (names.iter())
        .filter_map(|name| Archive::parse(name))
        .collect();
    found.sort();
    Ok(found)
}

/// The first line of a file whose messages up to number `moved` are in archives.
pub(super) fn begin_line(moved: u64, last_moved: Option<MovedTurn>) -> Line {
    let last_moved = last_moved.map(|turn| (turn.text, turn.from));
    let (last_moved, last_moved_from) = last_moved.unzip();
    Line::Begin {
        schema_version: VERSION,
        n: moved + 1,
        moved,
        last_moved,
        last_moved_from: last_moved_from.unwrap_or_default(),
    }
}

/// A file in the current version.
#[derive(Default)]
struct CurrentFile {
    bytes: Vec<u8>,
    /// The messages that it has: the number, and where the line begins.
    messages: Vec<(u64, usize)>,
    /// The end of the first line, if that is about archives.
    begin: usize,
    /// Whether some lines were of an earlier version.
    is_old: bool,
    view: View,
}

impl CurrentFile {
    fn read(bytes: &[u8]) -> io::Result<Self> {
        let mut file = Self::default();
        for line in durable::lines(bytes) {
            let line = line?;
            if !line.is_whole() {
                break;
            }
            match ParsedLine::parse(line.text()) {
                Ok(ParsedLine::Current { line: new, is_old }) => {
                    file.is_old |= is_old;
                    file.add(new, Some(&*line.bytes).filter(|_| !is_old))?;
                }
                Ok(ParsedLine::Old(old)) => {
                    file.is_old = true;
                    file.add(file.view.to_current(old), None)?;
                }
                Err(_) => {
                    file.bytes.extend_from_slice(&line.bytes);
                }
            }
        }
        Ok(file)
    }

    fn add(&mut self, line: Line, bytes: Option<&[u8]>) -> io::Result<()> {
        let begin = self.bytes.len();
        if let Line::Message { n, .. } = line {
            self.messages.push((n, begin));
        }
        match bytes {
            Some(bytes) => self.bytes.extend_from_slice(bytes),
            None => line.write(&mut self.bytes)?,
        }
        if begin == 0 && matches!(line, Line::Begin { .. }) {
            self.begin = self.bytes.len();
        }
        self.view.follow(line);
        Ok(())
    }

    /// The messages that have moved, and where the lines end that go with them.
    fn moved(&self) -> (&[(u64, usize)], usize) {
        let moved = self.view.moved;
        let count = self.messages.partition_point(|(n, _)| *n <= moved);
        let end = self.messages.get(count).map(|(_, begin)| *begin);
        (&self.messages[..count], end.unwrap_or(self.bytes.len()))
    }

    /// The archives of the lines that have moved, each with its bytes.
    fn split(&self) -> Vec<(Archive, &[u8])> {
        let (moved, end) = self.moved();
        let mut parts = Vec::new();
        let (mut begin, mut first) = (self.begin, 0);
        for (index, (_, at)) in moved.iter().enumerate() {
            if at - begin >= ARCHIVE_SIZE && end - at >= LEAST {
                parts.push((&moved[first..index], &self.bytes[begin..*at]));
                (begin, first) = (*at, index);
            }
        }
        parts.push((&moved[first..], &self.bytes[begin..end]));
        let named = parts.into_iter().filter_map(|(messages, bytes)| {
            let (first, last) = (messages.first()?.0, messages.last()?.0);
            Some((Archive { first, last }, bytes))
        });
        named.collect()
    }
}

/// Writes a file with lines of earlier versions again. If it is long, the lines that have moved go to archives.
///
/// The archives are on the disk before the file is replaced. A program that ends in between leaves lines in both, and the next
/// start, or the next line that moves, begins again with all of them.
pub(super) fn compact(files: &FileStore) -> io::Result<()> {
    let file = CurrentFile::read(&files.read(FILE)?.unwrap_or_default())?;
    let (_, end) = file.moved();
    let is_long = file.bytes.len() as u64 > FILE_LIMIT && end - file.begin >= LEAST;
    if !is_long {
        return if file.is_old {
            files.replace(FILE, &file.bytes)
        } else {
            Ok(())
        };
    }
    for (archive, bytes) in file.split() {
        files.pack(&archive.name(), bytes)?;
    }
    let mut rest = Vec::new();
    begin_line(file.view.moved, file.view.last_moved.clone()).write(&mut rest)?;
    rest.extend_from_slice(&file.bytes[end..]);
    files.replace(FILE, &rest)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use durable::Step;
    use llm_client::{Message, Redactor};
    use pscale_blocks::store::{Origin, Origins};

    use super::super::author::Author;
    use super::super::pages;
    use super::super::record::ConversationRecord;
    use super::*;

    /// Messages of this size make some archives.
    const SIZE: usize = 60_000;

    fn line(n: u64) -> Line {
        Line::Message {
            schema_version: VERSION,
            n,
            at: jiff::Timestamp::UNIX_EPOCH,
            by: Author::Person,
            from: Origins::from(Origin::Face { rev: n }),
            message: Message::user("keel and tide ".repeat(SIZE / 14)),
        }
    }

    /// A file with `count` messages that have moved but for the last four.
    fn file(count: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        (1..=count).for_each(|n| line(n).write(&mut bytes).unwrap());
        let schema_version = VERSION;
        let moved = Line::Moved {
            schema_version,
            n: count - 4,
            new_window: false,
        };
        moved.write(&mut bytes).unwrap();
        bytes
    }

    /// The same file as the version before wrote it.
    fn old_file(count: u64) -> Vec<u8> {
        let text = String::from_utf8(file(count)).unwrap();
        let old = text.lines().map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            let (kind, content) = line.as_object_mut().unwrap().iter_mut().next().unwrap();
            content["schema_version"] = 2.into();
            let n = content.as_object_mut().unwrap().remove("n").unwrap();
            if kind == "moved" {
                content["messages"] = n;
            }
            format!("{line}\n")
        });
        old.collect::<String>().into_bytes()
    }

    /// Opens a folder whose disk fails at step `fail`, and after it if `stays`, and moves a message. Answers whether all was
    /// done, and the number of steps.
    fn move_one(dir: &Path, fail: usize, stays: bool) -> (bool, usize) {
        let steps = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&steps);
        let watch = move |_: Step, _: &Path| {
            let step = counted.fetch_add(1, Ordering::Relaxed);
            if step == fail || (stays && step > fail) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        };
        let files = FileStore::watched(dir, Arc::new(watch));
        let (mut record, notice) = ConversationRecord::open(Arc::new(files)).unwrap();
        assert_eq!(notice, None);
        let is_current = record.make_current().is_none();
        let is_moved = record.move_oldest(1).is_ok();
        (is_current && is_moved, steps.load(Ordering::Relaxed))
    }

    fn numbers(files: &FileStore) -> Vec<u64> {
        let part = pages::range(files, 1, usize::MAX).unwrap();
        let numbers: Vec<_> = part.messages.iter().map(|message| message.n).collect();
        assert_eq!(
            (numbers.last(), part.unread),
            (Some(&part.last), Vec::new())
        );
        numbers
    }

    #[test]
    fn no_message_is_lost_or_twice_wherever_a_rotation_ends() {
        for (count, begin, archives_at_end) in [(20, file(20), 1), (40, old_file(40), 2)] {
            let all: Vec<_> = (1..=count).collect();
            for stays in [false, true] {
                for fail in 0.. {
                    let folder = tempfile::tempdir().unwrap();
                    let dir = folder.path();
                    fs::write(dir.join(FILE), &begin).unwrap();
                    let (is_done, steps) = move_one(dir, fail, stays);
                    let files = Arc::new(FileStore::new(Some(dir), true, &Redactor::default()));
                    assert_eq!(numbers(&files), all, "step {fail}");
                    // The program is killed and starts again.
                    files.sweep();
                    let (mut record, notice) = ConversationRecord::open(files.clone()).unwrap();
                    assert_eq!(notice, None);
                    assert_eq!(record.make_current(), None);
                    let left = record.said().len();
                    assert!(left == 3 || (left == 4 && !is_done), "{left}");
                    record.move_oldest(1).unwrap();
                    assert_eq!(numbers(&files), all, "step {fail}");
                    assert!(files.length(FILE).unwrap() < FILE_LIMIT);
                    let (record, _) = ConversationRecord::open(files.clone()).unwrap();
                    assert_eq!(record.said().len(), left - 1);
                    let names = files.list(FOLDER).unwrap();
                    assert!(names.iter().all(|name| Archive::parse(name).is_some()));
                    assert!(names.len() >= archives_at_end, "{names:?}");
                    if steps <= fail {
                        assert!(is_done && names.len() == archives_at_end);
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn a_second_line_about_archives_moves_with_the_messages_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        let mut bytes = b"not a line\n".to_vec();
        begin_line(0, None).write(&mut bytes).unwrap();
        bytes.extend(file(20));
        begin_line(0, None).write(&mut bytes).unwrap();
        line(21).write(&mut bytes).unwrap();
        fs::write(dir.join(FILE), &bytes).unwrap();
        let files = FileStore::new(Some(dir), true, &Redactor::default());
        let (mut record, _) = ConversationRecord::open(Arc::new(files)).unwrap();
        record.move_oldest(1).unwrap();
        let files = FileStore::new(Some(dir), true, &Redactor::default());
        assert_eq!(numbers(&files), (1..=21).collect::<Vec<_>>());
        let first = &archives(&files).unwrap()[0];
        assert!(
            files
                .unpack(&first.name())
                .unwrap()
                .starts_with(b"not a line\n")
        );
    }
}
