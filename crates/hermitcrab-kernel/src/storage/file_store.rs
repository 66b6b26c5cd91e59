//! The kernel's own files: small texts that are replaced whole, and journals that only grow.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use durable::Disk;
use llm_client::Redactor;

use super::KeyGates;

/// The store of the kernel's own files. All that is written passes the gate.
#[derive(Debug)]
pub(crate) struct FileStore {
    place: Backing,
    disk: Disk,
    gates: KeyGates,
}

#[derive(Debug)]
enum Backing {
    /// A folder; every write is on the disk before it is reported.
    Dir(PathBuf),
    /// Memory, over a folder that is only read, if there is one.
    Memory {
        below: Option<PathBuf>,
        /// The written files; `None` for a removed one.
        files: Mutex<BTreeMap<String, Option<Vec<u8>>>>,
    },
}

impl FileStore {
    /// Keeps in `dir`; without one, or if nothing is to be written, in memory.
    pub fn new(dir: Option<&Path>, writes: bool, keys: &Redactor) -> Self {
        let place = match dir {
            Some(dir) if writes => Backing::Dir(dir.to_owned()),
            below => Backing::Memory {
                below: below.map(Path::to_owned),
                files: Mutex::default(),
            },
        };
        Self {
            place,
            disk: DISK,
            gates: KeyGates(keys.clone()),
        }
    }

    /// The store in `dir` with a callback before each step on the disk.
    #[cfg(test)]
    pub fn watched(dir: &Path, watch: durable::Watch) -> Self {
        let store = Self::new(Some(dir), true, &Redactor::default());
        Self {
            disk: DISK.watched(watch),
            ..store
        }
    }

    /// The gates of all texts, kept ones or not.
    pub fn gates(&self) -> &KeyGates {
        &self.gates
    }

    /// Whether what is written gets to a folder.
    pub fn is_on_disk(&self) -> bool {
        matches!(self.place, Backing::Dir(_))
    }

    /// The path of a file as a message names it.
    pub fn path(&self, name: &str) -> PathBuf {
        match &self.place {
            Backing::Dir(dir)
            | Backing::Memory {
                below: Some(dir), ..
            } => dir.join(name),
            Backing::Memory { below: None, .. } => name.into(),
        }
    }

    /// Removes drafts of a process that ended: once, before anything else is written. A draft that cannot be removed does
    /// not stop the start.
    pub fn sweep(&self) {
        let Backing::Dir(dir) = &self.place else {
            return;
        };
        for folder in FOLDERS {
            self.disk.sweep(&dir.join(folder));
        }
    }

    /// The bytes of a file; `None` if it does not exist.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match &self.place {
            Backing::Dir(dir) => read(&dir.join(name)),
            Backing::Memory { below, files } => {
                let files = files.lock().unwrap_or_else(PoisonError::into_inner);
                match (files.get(name), below) {
                    (Some(written), _) => Ok(written.clone()),
                    (None, Some(dir)) => read(&dir.join(name)),
                    (None, None) => Ok(None),
                }
            }
        }
    }

    /// The bytes of a file at a start. Anything in its place that is not a file is moved away, with a line about it.
    pub fn load(&self, name: &str) -> io::Result<(Option<Vec<u8>>, Option<String>)> {
        match (self.read(name), &self.place) {
            (Err(error), Backing::Dir(dir)) if error.kind() == io::ErrorKind::IsADirectory => {
                let aside = self.free_name(name)?;
                fs::rename(dir.join(name), dir.join(&aside))?;
                let notice =
                    format!("{name} was not a file: a new one begins, the old entry is {aside}");
                Ok((None, Some(notice)))
            }
            (Err(error), Backing::Memory { .. }) if error.kind() == io::ErrorKind::IsADirectory => {
                Ok((
                    None,
                    Some(format!("{name} is not a file and cannot be read")),
                ))
            }
            (read, _) => Ok((read?, None)),
        }
    }

    /// Keeps unreadable `bytes` in a file next to theirs, and returns its name.
    pub fn back_up_unreadable(&self, name: &str, bytes: &[u8]) -> io::Result<String> {
        let aside = self.free_name(name)?;
        self.replace(&aside, bytes)?;
        Ok(aside)
    }

    /// Gives a file another name, next to its own. In memory it stays.
    pub fn set_aside(&self, name: &str) -> io::Result<()> {
        let Backing::Dir(dir) = &self.place else {
            return Ok(());
        };
        let aside = self.free_name(name)?;
        self.disk.rename(&dir.join(name), &dir.join(aside))
    }

    /// A name for what cannot be read: nothing that was kept before is overwritten.
    fn free_name(&self, name: &str) -> io::Result<String> {
        let mut free = format!("{name}.broken");
        let mut number = 1;
        loop {
            match self.read(&free) {
                Ok(None) => return Ok(free),
                Err(error) if error.kind() != io::ErrorKind::IsADirectory => return Err(error),
                _ => number += 1,
            }
            free = format!("{name}.broken-{number}");
        }
    }

    /// The names of the files in a folder, in no order.
    pub fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let on_disk = |dir: &Path| match fs::read_dir(dir.join(folder)) {
            Ok(rows) => rows
                .map(|row| Ok(row?.file_name().to_string_lossy().into_owned()))
                .collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        match &self.place {
            Backing::Dir(dir) => on_disk(dir),
            Backing::Memory { below, files } => {
                let mut names = below.as_deref().map_or_else(|| Ok(Vec::new()), on_disk)?;
                let files = files.lock().unwrap_or_else(PoisonError::into_inner);
                let within = |name: &String| {
                    let name = name.strip_prefix(folder)?.strip_prefix('/')?;
                    Some(name.to_owned())
                };
                names.extend(files.keys().filter_map(within));
                Ok(names)
            }
        }
    }

    /// Puts `bytes` in the place of a file: it is the old one or the new one, whatever happens.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let bytes = &*self.gates.file(bytes);
        let Backing::Dir(dir) = &self.place else {
            self.put(name, Some(bytes.to_vec()));
            return Ok(());
        };
        let path = dir.join(name);
        self.make_folder(&path)?;
        self.disk.replace(&path, bytes)
    }

    /// Packs lines of a file of this store into an archive, on the disk only. They have no keys any more.
    pub fn pack(&self, name: &str, lines: &[u8]) -> io::Result<()> {
        let Backing::Dir(dir) = &self.place else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let path = dir.join(name);
        self.make_folder(&path)?;
        self.disk.pack(&path, lines)
    }

    /// The length of a file in bytes; 0 if it does not exist.
    pub fn length(&self, name: &str) -> io::Result<u64> {
        match &self.place {
            Backing::Dir(dir) => match fs::metadata(dir.join(name)) {
                Ok(found) => Ok(found.len()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
                Err(error) => Err(error),
            },
            Backing::Memory { .. } => Ok(self.read(name)?.map_or(0, |bytes| bytes.len() as u64)),
        }
    }

    /// Makes the folder of a file.
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) else {
            return Ok(());
        };
        self.disk.make_folder(folder)?;
        self.disk.sync_folder(folder)
    }

    /// Adds lines to a journal, and returns its length in bytes. They are on the disk when this returns.
    pub fn append(&self, name: &str, lines: &[u8]) -> io::Result<u64> {
        let lines = &*self.gates.file(lines);
        let Backing::Dir(dir) = &self.place else {
            let mut all = self.read(name)?.unwrap_or_default();
            all.extend(lines);
            let length = all.len() as u64;
            self.put(name, Some(all));
            return Ok(length);
        };
        // A link leads to somebody else's file, and is refused.
        let (mut journal, _) = self.disk.open_append(&dir.join(name))?;
        journal.append_synced(lines)?;
        Ok(journal.length())
    }

    /// Moves the lines in these bytes of a journal to a packed file. The journal then holds the line `begin` and what
    /// followed them. Returns the length of `begin` in bytes; `None` in memory, where nothing moves.
    pub fn rotate(
        &self,
        name: &str,
        archive: &str,
        lines: Range<u64>,
        begin: &[u8],
    ) -> io::Result<Option<u64>> {
        let Backing::Dir(dir) = &self.place else {
            return Ok(None);
        };
        let begin = &*self.gates.file(begin);
        let archive = dir.join(archive);
        self.make_folder(&archive)?;
        self.disk.rotate(&dir.join(name), &archive, lines, begin)?;
        Ok(Some(begin.len() as u64))
    }

    /// The lines of an archive. The error names it.
    pub fn unpack(&self, name: &str) -> io::Result<Vec<u8>> {
        let unpacked = self.disk.unpack(&self.path(name), ARCHIVE_LIMIT);
        unpacked.map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))
    }

    /// Takes a file away, if it is there.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let Backing::Dir(dir) = &self.place else {
            self.put(name, None);
            return Ok(());
        };
        match fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn put(&self, name: &str, bytes: Option<Vec<u8>>) {
        if let Backing::Memory { files, .. } = &self.place {
            let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
            files.insert(name.to_owned(), bytes);
        }
    }
}

/// The kernel's files. Those that are not in their place yet begin with the prefix.
const DISK: Disk = Disk::private(".kernel-");
/// The folders in which files are replaced.
const FOLDERS: [&str; 6] = ["", "shells", "kv", "conversation", "usage", "review"];
/// The largest size of an archive when unpacked, in bytes: about 1 MiB and one message.
const ARCHIVE_LIMIT: u64 = 1 << 27;

/// The bytes of a file. A pipe in its place could be waited for without end: it is taken for a folder.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
