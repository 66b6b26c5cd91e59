use std::io;

use crate::storage::FileStore;

/// The folder of the archives.
pub(super) const FOLDER: &str = "usage";

/// An archive of older lines: `usage/FIRSTDAY-LASTDAY-NUMBER.jsonl.gz`.
pub(super) struct UsageArchive {
    pub number: u64,
    /// The name in the data directory.
    pub name: String,
}

impl UsageArchive {
    /// The lines; `None` if another process has removed it.
    pub fn read(&self, files: &FileStore) -> io::Result<Option<Vec<u8>>> {
        match files.unpack(&self.name) {
            Ok(lines) => Ok(Some(lines)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The archives, oldest first.
pub(super) fn archives(files: &FileStore) -> io::Result<Vec<UsageArchive>> {
    let names = files.list(FOLDER)?.into_iter();
    let mut archives: Vec<_> = names
        .filter_map(|name| {
            let (_, number) = name.strip_suffix(".jsonl.gz")?.rsplit_once('-')?;
            Some(UsageArchive {
                number: number.parse().ok()?,
                name: format!("{FOLDER}/{name}"),
            })
        })
        .collect();
    archives.sort_by_key(|archive| archive.number);
    Ok(archives)
}
