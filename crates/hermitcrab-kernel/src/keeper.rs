//! The kernel's own files: small texts that are replaced whole, and journals that only grow.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

/// Where the kernel keeps what is no block: a folder, or memory.
#[derive(Debug)]
pub(crate) enum Keeper {
    /// A folder; every write is on the disk before it is reported.
    Dir(PathBuf),
    /// Nothing outlives the kernel.
    Memory(Mutex<BTreeMap<String, Vec<u8>>>),
}

impl Keeper {
    pub fn new(dir: Option<&Path>) -> Self {
        match dir {
            Some(dir) => Self::Dir(dir.to_owned()),
            None => Self::Memory(Mutex::default()),
        }
    }

    /// The bytes of a file; none if there is none.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match self {
            Self::Dir(dir) => match fs::read(dir.join(name)) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            },
            Self::Memory(files) => {
                let files = files.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(files.get(name).cloned())
            }
        }
    }

    /// Puts `bytes` in the place of a file: it is the old one or the new one, whatever happens.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Dir(dir) => {
                let path = dir.join(name);
                let folder = path.parent().unwrap_or(dir);
                fs::create_dir_all(folder)?;
                // Its mode is 0600.
                let mut file = NamedTempFile::new_in(folder)?;
                file.write_all(bytes)?;
                file.as_file().sync_all()?;
                file.persist(&path)?;
                File::open(folder)?.sync_all()
            }
            Self::Memory(files) => {
                let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
                files.insert(name.to_owned(), bytes.to_vec());
                Ok(())
            }
        }
    }

    /// Adds lines to a journal. They are on the disk when this returns.
    pub fn append(&self, name: &str, lines: &[u8]) -> io::Result<()> {
        match self {
            Self::Dir(dir) => {
                let mut options = OpenOptions::new();
                options.append(true).create(true);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                let mut file = options.open(dir.join(name))?;
                let length = file.metadata()?.len();
                let written = file.write_all(lines).and_then(|()| file.sync_data());
                if written.is_err() {
                    // Half a line would spoil the next one. If even this fails, the next start cuts it off.
                    let _ = file.set_len(length);
                }
                written
            }
            Self::Memory(files) => {
                let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
                files.entry(name.to_owned()).or_default().extend(lines);
                Ok(())
            }
        }
    }

    /// Takes a file away, if it is there.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match self {
            Self::Dir(dir) => match fs::remove_file(dir.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
            Self::Memory(files) => {
                let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
                files.remove(name);
                Ok(())
            }
        }
    }
}
