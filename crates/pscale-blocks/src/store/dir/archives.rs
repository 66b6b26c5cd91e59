//! The archives of a block's log: their names, and the packing of older entries into them.

use std::fs;
use std::io::{self, BufReader, Read as _, Seek as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use durable::{lines, tail};

use super::disk;
use super::layout::Layout;
use super::log_file::{ARCHIVE_LIMIT, LOG_LIMIT, LogReader, MAX_REV, parse};
use crate::{BlockName, StoreError};

/// An archive of a log.
pub(super) struct Archive {
    pub path: PathBuf,
    /// The revisions of its entries. `None` for one of an older program, which did not name them.
    pub revs: Option<RangeInclusive<u64>>,
}

/// The archives of a block's log, the newest first.
pub(super) fn archives(layout: &Layout, name: &BlockName) -> Result<Vec<Archive>, StoreError> {
    let folder = layout.logs();
    let files = match fs::read_dir(&folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io(&folder)(error)),
    };
    let mut found = Vec::new();
    for file in files {
        let path = file.map_err(StoreError::io(&folder))?.path();
        if let Some((of, first, last)) = archive_name(&path)
            && of == name.as_str()
        {
            // By the last one: what is behind an archive in this order has no later entry.
            found.push(((first > 0, last, first), path));
        }
    }
    found.sort();
    let archives = found
        .into_iter()
        .rev()
        .map(|((is_named, last, first), path)| {
            let revs = is_named.then_some(first..=last);
            Archive { path, revs }
        });
    Ok(archives.collect())
}

/// The block of an archive, and its first and last revision; of one that an older program made 0 and its number.
///
/// A name has no dot, so that a file is an archive of one block only. Numbers have one form only, so that no two files are
/// the same archive.
pub(super) fn archive_name(path: &Path) -> Option<(&str, u64, u64)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl.gz")?;
    let number = |digits: &str| {
        let number: u64 = digits.parse().ok()?;
        let is_plain = (1..=MAX_REV).contains(&number) && number.to_string() == digits;
        is_plain.then_some(number)
    };
    let (name, first, last) = if let Some((name, revs)) = stem.split_once('.') {
        let (first, last) = revs.split_once('-')?;
        (name, number(first)?, number(last)?)
    } else {
        let (name, order) = stem.rsplit_once('-')?;
        (name, 0, number(order)?)
    };
    (first <= last && BlockName::new(name).is_ok()).then_some((name, first, last))
}

/// The lines that a rotation moves.
struct OlderLines {
    bytes: Vec<u8>,
    revs: RangeInclusive<u64>,
}

impl LogReader<'_> {
    /// Moves the older half of a log to an archive; answers the length of what stays.
    pub fn rotate(&mut self, name: &BlockName) -> Result<u64, StoreError> {
        let path = self.layout.log(name);
        self.rename_older_archives(name)?;
        let Some(file) = disk::open(&path)? else {
            return Ok(0);
        };
        let Some(older) = older_lines(&file).map_err(StoreError::io(&path))? else {
            let found = file.metadata().map_err(StoreError::io(&path))?;
            return Ok(found.len());
        };
        let (first, last) = (*older.revs.start(), *older.revs.end());
        let archive = self.layout.archive(name, first, last);
        // A rotation that a crash interrupted left the beginning of these lines in an archive of its own.
        let mut remnants = Vec::new();
        for earlier in archives(self.layout, name)? {
            let begins_here = (earlier.revs).is_some_and(|revs| *revs.start() == first);
            if begins_here
                && let Ok(bytes) = self.disk.0.unpack(&earlier.path, ARCHIVE_LIMIT)
                && older.bytes.starts_with(&bytes)
            {
                remnants.push(earlier.path);
            }
        }
        if archive.exists() && !remnants.contains(&archive) {
            let reason = "an archive of these revisions has other entries".to_owned();
            let path = archive;
            return Err(StoreError::Corrupt { path, reason });
        }
        let moved = 0..older.bytes.len() as u64;
        let rotated = self.disk.0.rotate(&path, &archive, moved, b"");
        let length = rotated.map_err(StoreError::io(&archive))?;
        for remnant in remnants.iter().filter(|remnant| **remnant != archive) {
            // One that stays is passed over by its revisions.
            let _ = fs::remove_file(remnant);
        }
        Ok(length)
    }

    /// Gives archives of an older program the names that say what is in them. One that cannot be read keeps its own, and so
    /// does one whose new name is taken.
    fn rename_older_archives(&mut self, name: &BlockName) -> Result<(), StoreError> {
        for archive in archives(self.layout, name)? {
            if archive.revs.is_some() {
                continue;
            }
            let mut revs: Option<RangeInclusive<u64>> = None;
            let read = self.unpack(&archive.path, &mut |entry| {
                revs = Some(with(revs.take(), entry.rev));
                std::ops::ControlFlow::Continue(())
            });
            match (read, revs) {
                (Ok(_), Some(revs)) => {
                    let to = self.layout.archive(name, *revs.start(), *revs.end());
                    if fs::symlink_metadata(&to).is_err() {
                        self.disk.rename(&archive.path, &to)?;
                    }
                }
                (Err(error), _) => self.notices.push(error.to_string()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The range with a revision in it.
fn with(revs: Option<RangeInclusive<u64>>, rev: u64) -> RangeInclusive<u64> {
    let revs = revs.unwrap_or(rev..=rev);
    rev.min(*revs.start())..=rev.max(*revs.end())
}

/// The lines of a log that move, so that about half of [`LOG_LIMIT`] stays. `None` if no entry can be read in them.
fn older_lines(mut file: &fs::File) -> io::Result<Option<OlderLines>> {
    let whole = tail(file)?.whole();
    file.rewind()?;
    let (mut moved, mut revs) = (0, None);
    for line in lines(BufReader::new(file.take(whole))) {
        let line = line?;
        let end = line.offset + line.bytes.len() as u64;
        let is_enough = revs.is_some() && whole - line.offset <= LOG_LIMIT / 2;
        // The last entry stays, however long: it says what the block is.
        if is_enough || end == whole || end > ARCHIVE_LIMIT {
            break;
        }
        moved = end;
        if let Ok(entry) = parse(line.text()) {
            revs = Some(with(revs, entry.rev));
        }
    }
    let Some(revs) = revs else {
        return Ok(None);
    };
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(moved).read_to_end(&mut bytes)?;
    Ok(Some(OlderLines { bytes, revs }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_belongs_to_one_block_and_has_one_name() {
        let of = |file: &'static str| archive_name(Path::new(file));
        for (file, archive) in [
            ("log/a.1-2.jsonl.gz", ("a", 1, 2)),
            ("a.7-7.jsonl.gz", ("a", 7, 7)),
            ("a-1.1-2.jsonl.gz", ("a-1", 1, 2)),
            ("a-1.jsonl.gz", ("a", 0, 1)),
            ("a-1-2.jsonl.gz", ("a-1", 0, 2)),
            ("a.1-9007199254740992.jsonl.gz", ("a", 1, MAX_REV)),
        ] {
            assert_eq!(of(file), Some(archive), "{file}");
        }
        for file in [
            "a.2-1.jsonl.gz",
            "a.0-1.jsonl.gz",
            "a.0001-2.jsonl.gz",
            "a.+1-2.jsonl.gz",
            "a.1-2 .jsonl.gz",
            "a.1-9007199254740993.jsonl.gz",
            "a.1-99999999999999999999.jsonl.gz",
            "a.1.2-3.jsonl.gz",
            "a.1.jsonl.gz",
            "a.1-2.jsonl",
            "A.1-2.jsonl.gz",
            ".1-2.jsonl.gz",
            "a-0.jsonl.gz",
            "a-01.jsonl.gz",
            "a--1.gz",
            "a.jsonl.gz",
            "-1.jsonl.gz",
        ] {
            assert_eq!(of(file), None, "{file}");
        }
    }
}
