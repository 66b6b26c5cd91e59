//! A block's log: a file of one JSON line each, only ever appended to, and archives of its older lines. It is read from its
//! end, and only as far as it is needed.

use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, RangeInclusive};
use std::path::Path;

use durable::{lines, tail};
use serde::Deserialize;

use super::archives::archives;
use super::disk::{self, Disk};
use super::layout::Layout;
use super::notices::Notices;
use crate::store::{LogEntry, LogRange, LoggedOp, SCHEMA_VERSION};
use crate::{BlockName, StoreError};

/// From here on the older entries move to an archive.
pub(super) const LOG_LIMIT: u64 = 8 << 20;
/// The limit of an unpacked archive in bytes: a log at its limit and the longest entry.
pub(super) const ARCHIVE_LIMIT: u64 = 64 << 20;
/// A number that grows by one forever never gets here.
pub(super) const MAX_REV: u64 = 1 << 53;
/// The most entries that an undo of an older program can say it took back.
const MAX_UNDO: u64 = 1 << 20;
/// The listings of archives in one reading: while another process renames them the reading begins again.
const LISTINGS: usize = 8;

/// The files and entries that a store has read since it was opened: a measure of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReadCounts {
    /// The files of blocks.
    pub blocks: u64,
    /// The logs, each once for each reading.
    pub logs: u64,
    /// The archives of logs.
    pub archives: u64,
    /// The entries of logs and archives.
    pub entries: u64,
}

/// A problem with a line.
pub(super) enum LogLineError {
    /// The line is damaged.
    Bad,
    /// A later program wrote it.
    Newer(u64),
}

/// The entry of one line.
pub(super) fn parse(line: &[u8]) -> Result<LogEntry, LogLineError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u64,
    }
    // Only a line that cannot be read is read again, for its version.
    let mut entry = match serde_json::from_slice::<LogEntry>(line) {
        Ok(entry) if entry.schema_version <= SCHEMA_VERSION => entry,
        _ => {
            return Err(match serde_json::from_slice(line) {
                Ok(Version { schema_version }) if schema_version > u64::from(SCHEMA_VERSION) => {
                    LogLineError::Newer(schema_version)
                }
                _ => LogLineError::Bad,
            });
        }
    };
    if entry.schema_version == 0 || !(1..=MAX_REV).contains(&entry.rev) {
        return Err(LogLineError::Bad);
    }
    if let LoggedOp::Undo { revs, count } = &mut entry.op
        && *count > 0
    {
        if *count > MAX_UNDO {
            return Err(LogLineError::Bad);
        }
        *revs = (entry.rev.saturating_sub(*count)..entry.rev)
            .rev()
            .collect();
        *count = 0;
    }
    Ok(entry)
}

/// The end of a log.
#[derive(Default)]
pub(super) struct LogEnd {
    /// Bytes of whole lines.
    pub length: u64,
    /// Bytes after them: a line that a process did not finish that died.
    pub torn: u64,
}

/// A reader of logs.
pub(super) struct LogReader<'a> {
    pub layout: &'a Layout,
    pub disk: &'a Disk,
    pub notices: &'a mut Notices,
    pub counts: &'a mut ReadCounts,
}

impl LogReader<'_> {
    /// Hands the entries that are in no archive to `take`, the newest first, until it breaks.
    pub fn recent(
        &mut self,
        name: &BlockName,
        take: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<(LogEnd, ControlFlow<()>), StoreError> {
        let path = self.layout.log(name);
        match disk::open(&path)? {
            Some(file) => {
                self.counts.logs += 1;
                self.walk(&path, file, take)
            }
            None => Ok((LogEnd::default(), ControlFlow::Continue(()))),
        }
    }

    /// The entries in a range, the newest first.
    pub fn read(&mut self, name: &BlockName, range: LogRange) -> Result<Vec<LogEntry>, StoreError> {
        let mut entries = Vec::new();
        if range.limit == 0 {
            return Ok(entries);
        }
        self.each(name, range.before, &mut |entry| {
            entries.push(entry);
            if entries.len() == range.limit {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(entries)
    }

    /// Hands the entries of revisions below `before` to `take`, the newest first, until it breaks. An archive is opened
    /// only if it is needed.
    pub fn each(
        &mut self,
        name: &BlockName,
        before: Option<u64>,
        take: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut before = before.unwrap_or(u64::MAX);
        if before <= 1 {
            return Ok(());
        }
        let mut take = |entry: LogEntry, before: &mut u64| {
            // A crash between the two steps of a rotation leaves entries in both files.
            if entry.rev >= *before {
                return ControlFlow::Continue(());
            }
            *before = entry.rev;
            take(entry)?;
            if *before == 1 {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let (_, flow) = self.recent(name, &mut |entry| take(entry, &mut before))?;
        if flow.is_break() {
            return Ok(());
        }
        'listing: for _ in 0..LISTINGS {
            for archive in archives(self.layout, name)? {
                let is_later = |revs: &RangeInclusive<u64>| *revs.start() >= before;
                if archive.revs.as_ref().is_some_and(is_later) {
                    continue;
                }
                match self.unpack(&archive.path, &mut |entry| take(entry, &mut before))? {
                    Some(ControlFlow::Continue(())) => {}
                    Some(ControlFlow::Break(())) => break 'listing,
                    // Another process has just renamed or removed it.
                    None => continue 'listing,
                }
            }
            break;
        }
        Ok(())
    }

    /// Hands the entries of an archive to `take`, the newest first, until it breaks. `None` if there is no such file.
    pub fn unpack(
        &mut self,
        path: &Path,
        take: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<Option<ControlFlow<()>>, StoreError> {
        self.counts.archives += 1;
        match self.disk.0.unpack(path, ARCHIVE_LIMIT) {
            Ok(bytes) => Ok(Some(self.walk(path, Cursor::new(bytes), take)?.1)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::Corrupt {
                path: path.to_owned(),
                reason: error.to_string(),
            }),
        }
    }

    fn walk(
        &mut self,
        path: &Path,
        mut file: impl Read + Seek,
        take: &mut dyn FnMut(LogEntry) -> ControlFlow<()>,
    ) -> Result<(LogEnd, ControlFlow<()>), StoreError> {
        let mut walked = ControlFlow::Continue(());
        let mut is_damaged = false;
        let mut lines = tail(&mut file).map_err(StoreError::io(path))?;
        let length = lines.whole();
        for line in &mut lines {
            let line = line.map_err(StoreError::io(path))?;
            match parse(line.text()) {
                Ok(entry) => {
                    self.counts.entries += 1;
                    walked = take(entry);
                }
                Err(LogLineError::Bad) => is_damaged = true,
                Err(LogLineError::Newer(found)) => {
                    return Err(StoreError::Newer {
                        path: path.to_owned(),
                        found,
                        known: SCHEMA_VERSION,
                    });
                }
            }
            if walked.is_break() {
                break;
            }
        }
        if is_damaged && self.notices.is_first_about(path) {
            let damage = damage(&mut file).map_err(StoreError::io(path))?;
            self.notices.push(format!("{}: {damage}", path.display()));
        }
        let end = file.seek(SeekFrom::End(0)).map_err(StoreError::io(path))?;
        let torn = end.saturating_sub(length);
        Ok((LogEnd { length, torn }, walked))
    }
}

/// Says which lines of a log cannot be read.
fn damage(file: &mut (impl Read + Seek)) -> io::Result<String> {
    file.rewind()?;
    let (mut count, mut first) = (0, 0);
    for line in lines(BufReader::new(file)) {
        let line = line?;
        if line.is_whole() && matches!(parse(line.text()), Err(LogLineError::Bad)) {
            count += 1;
            first = if count == 1 { line.number } else { first };
        }
    }
    Ok(if count == 1 {
        format!("line {first} cannot be read; it was passed over")
    } else {
        format!("{count} lines cannot be read, the first is line {first}; they were passed over")
    })
}
