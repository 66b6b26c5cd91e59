use std::io;

use jiff::civil::Date;

use super::usage::{self, UsageEntry, UsageLine};
use crate::KernelError;
use crate::storage::FileStore;

/// The folder of the archives.
const FOLDER: &str = "usage";

/// More than any archive has as its number.
const NUMBERS: u64 = 1 << 32;

/// An archive of older lines: `usage/FIRSTDAY-LASTDAY-NUMBER.jsonl.gz`.
pub(super) struct UsageArchive {
    pub number: u64,
    /// The name in the data directory.
    pub name: String,
}

impl UsageArchive {
    /// The archive with this number of the lines of these days.
    pub fn new(first: Date, last: Date, number: u64) -> Self {
        let name = format!("{FOLDER}/{first}-{last}-{number}.jsonl.gz");
        Self { number, name }
    }

    /// Reads the name of a file in the folder; `None` for one that this program does not give.
    fn parse(file: &str) -> Option<Self> {
        let (days, number) = file.strip_suffix(".jsonl.gz")?.rsplit_once('-')?;
        let (first, last) = days.split_at_checked("2026-11-26".len())?;
        let (first, last) = (first.parse().ok()?, last.strip_prefix('-')?.parse().ok()?);
        let archive = Self::new(first, last, number.parse().ok()?);
        let is_ours = archive.number < NUMBERS
            && archive.name.strip_prefix(FOLDER)?.strip_prefix('/')? == file;
        is_ours.then_some(archive)
    }

    /// The lines.
    pub fn read(&self, files: &FileStore) -> io::Result<Vec<u8>> {
        files.unpack(&self.name)
    }

    /// Hands each call to `take`. Returns one line for the person about what cannot be read.
    ///
    /// # Errors
    /// [`KernelError::Newer`].
    pub fn calls(
        &self,
        files: &FileStore,
        mut take: impl FnMut(UsageLine),
    ) -> Result<Option<String>, KernelError> {
        match self.read(files) {
            Ok(lines) => usage::read(files, &self.name, &lines, |line, _| {
                if let UsageEntry::Call(call) = line {
                    take(call);
                }
            }),
            Err(error) => Ok(Some(format!("{error}: the costs in it are left out"))),
        }
    }
}

/// The archives, oldest first. Of two with one number the second is a copy that someone made.
pub(super) fn archives(files: &FileStore) -> io::Result<Vec<UsageArchive>> {
    let names = files.list(FOLDER)?;
    let mut archives: Vec<_> = (names.iter())
        .filter_map(|name| UsageArchive::parse(name))
        .collect();
    archives.sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
    archives.dedup_by_key(|archive| archive.number);
    Ok(archives)
}
