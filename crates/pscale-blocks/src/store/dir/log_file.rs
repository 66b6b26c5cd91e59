//! A block's log: a file of one JSON line each, only ever appended to, and archives of its older lines.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Deserialize;

use super::disk::{self, Disk};
use super::layout::Layout;
use crate::store::{LogEntry, LoggedOp, SCHEMA_VERSION};
use crate::{BlockName, StoreError};

/// From here on the older entries move to an archive.
pub(super) const LOG_LIMIT: u64 = 8 << 20;
/// The limit of an unpacked archive in bytes: a log at its limit and the longest entry.
const ARCHIVE_LIMIT: u64 = 64 << 20;
/// A number that grows by one forever never gets here.
const MAX_REV: u64 = 1 << 53;
/// The most entries that an undo of an older program can say it took back.
const MAX_UNDO: u64 = 1 << 20;

/// The whole lines of a log.
pub(super) struct Lines {
    path: PathBuf,
    bytes: Vec<u8>,
    /// The number of bytes after the last line end: a line that was not finished by a process that died.
    pub torn: usize,
}

/// A problem with a line.
enum LogLineError {
    /// The line is damaged.
    Bad(String),
    /// A later program wrote it.
    Newer(u64),
}

/// The entry of one line.
fn parse(line: &[u8]) -> Result<LogEntry, LogLineError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u64,
    }
    let bad = |error: serde_json::Error| LogLineError::Bad(error.to_string());
    let Version { schema_version } = serde_json::from_slice(line).map_err(bad)?;
    if schema_version != u64::from(SCHEMA_VERSION) {
        return Err(LogLineError::Newer(schema_version));
    }
    let mut entry: LogEntry = serde_json::from_slice(line).map_err(bad)?;
    if !(1..=MAX_REV).contains(&entry.rev) {
        return Err(LogLineError::Bad(format!("revision {}", entry.rev)));
    }
    if let LoggedOp::Undo { revs, count } = &mut entry.op
        && *count > 0
    {
        if *count > MAX_UNDO {
            return Err(LogLineError::Bad(format!("{count} edits undone at once")));
        }
        *revs = (entry.rev.saturating_sub(*count)..entry.rev)
            .rev()
            .collect();
        *count = 0;
    }
    Ok(entry)
}

impl Lines {
    pub fn read(path: PathBuf) -> Result<Self, StoreError> {
        let bytes = disk::read(&path)?.unwrap_or_default();
        Ok(Self::of(path, bytes))
    }

    fn of(path: PathBuf, mut bytes: Vec<u8>) -> Self {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let length = whole.map_or(0, |end| end + 1);
        let torn = bytes.len() - length;
        bytes.truncate(length);
        Self { path, bytes, torn }
    }

    /// The length in bytes.
    pub fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn lines(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        let lines = self.bytes.split_inclusive(|byte| *byte == b'\n');
        lines.map(|line| line.strip_suffix(b"\n").unwrap_or(line))
    }

    /// The last entry that can be read; the problems of the lines after it become notices.
    pub fn last(&self, notices: &mut Vec<String>) -> Result<Option<LogEntry>, StoreError> {
        for line in self.lines().rev() {
            match parse(line) {
                Ok(entry) => return Ok(Some(entry)),
                Err(fault) => self.note(None, fault, notices)?,
            }
        }
        Ok(None)
    }

    /// The entries that can be read, in order of their revisions.
    pub fn entries(&self, notices: &mut Vec<String>) -> Result<Vec<LogEntry>, StoreError> {
        let mut entries = Vec::new();
        for (index, line) in self.lines().enumerate() {
            match parse(line) {
                Ok(entry) => entries.push(entry),
                Err(fault) => self.note(Some(index + 1), fault, notices)?,
            }
        }
        Ok(entries)
    }

    fn note(
        &self,
        line: Option<usize>,
        fault: LogLineError,
        notices: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        match fault {
            LogLineError::Newer(version) => Err(StoreError::Corrupt {
                path: self.path.clone(),
                reason: format!(
                    "an entry of schema version {version}, this program knows {SCHEMA_VERSION}"
                ),
            }),
            LogLineError::Bad(reason) => {
                let line = line.map_or("its last line".to_owned(), |line| format!("line {line}"));
                let notice = format!("{}: {line} was passed over: {reason}", self.path.display());
                if !notices.contains(&notice) {
                    notices.push(notice);
                }
                Ok(())
            }
        }
    }
}

/// The entries of a block from revision `from` on, those in archives included.
pub(super) fn entries(
    layout: &Layout,
    name: &BlockName,
    from: u64,
    notices: &mut Vec<String>,
) -> Result<Vec<LogEntry>, StoreError> {
    let recent = Lines::read(layout.log(name))?.entries(notices)?;
    let mut all = Vec::new();
    if recent.first().is_none_or(|first| first.rev > from.max(1)) {
        for path in archives(layout, name) {
            all.extend(unpack(&path)?.entries(notices)?);
        }
    }
    all.extend(recent);
    // A crash between the two steps of a rotation leaves entries in both files.
    let mut last = 0;
    all.retain(|entry| {
        let is_new = entry.rev > last;
        last = last.max(entry.rev);
        is_new && entry.rev >= from
    });
    Ok(all)
}

fn archives(layout: &Layout, name: &BlockName) -> impl Iterator<Item = PathBuf> {
    (1..)
        .map(|number| layout.archive(name, number))
        .take_while(|path| path.exists())
}

fn unpack(path: &Path) -> Result<Lines, StoreError> {
    let packed = disk::read(path)?.unwrap_or_default();
    let mut bytes = Vec::new();
    let mut limited = GzDecoder::new(&*packed).take(ARCHIVE_LIMIT + 1);
    let reason = match limited.read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 <= ARCHIVE_LIMIT => {
            return Ok(Lines::of(path.to_owned(), bytes));
        }
        Ok(_) => format!("more than {ARCHIVE_LIMIT} bytes when unpacked"),
        Err(error) => error.to_string(),
    };
    Err(StoreError::Corrupt {
        path: path.to_owned(),
        reason,
    })
}

/// Moves the older half of a log to an archive; answers the length of what stays.
pub(super) fn rotate(disk: &Disk, layout: &Layout, name: &BlockName) -> Result<u64, StoreError> {
    let path = layout.log(name);
    let log = Lines::read(path.clone())?;
    let mut kept = 0;
    for line in log.lines().rev() {
        let longer = kept + line.len() + 1;
        // The last entry stays, however long: it says what the block is.
        if kept > 0 && longer as u64 > LOG_LIMIT / 2 {
            break;
        }
        kept = longer;
    }
    let (old, recent) = log.bytes.split_at(log.bytes.len() - kept);
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    let number = 1 + archives(layout, name).count() as u32;
    let archive = layout.archive(name, number);
    let packed = packer.write_all(old).and_then(|()| packer.finish());
    disk.replace(&archive, &packed.map_err(StoreError::io(&archive))?)?;
    disk.settle(&archive)?;
    disk.replace(&path, recent)?;
    disk.settle(&path)?;
    Ok(kept as u64)
}
