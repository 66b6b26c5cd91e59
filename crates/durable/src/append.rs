use std::error::Error;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::disk::{Step, is_same};
use crate::{Disk, tail};

/// A file that only grows, by whole lines.
#[derive(Debug)]
pub struct AppendFile {
    path: PathBuf,
    file: File,
    length: u64,
    /// A write failed, and what it left could not be cut off.
    is_torn: bool,
    disk: Disk,
}

/// The end of a file that was opened for more lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tail {
    /// The incomplete last line, which a killed process left. It was cut off.
    pub torn: Vec<u8>,
}

/// The error of a file that is no longer the one that was opened: another has its name, or another process wrote to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a marker without fields")]
pub struct Replaced;

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was replaced or altered while the run was writing it")
    }
}

impl Error for Replaced {}

impl Replaced {
    /// Whether this is the error that the system's error was made of.
    pub fn is_cause_of(error: &io::Error) -> bool {
        (error.get_ref()).is_some_and(<dyn Error + Send + Sync>::is::<Self>)
    }
}

impl Disk {
    /// Opens a file for more lines, or creates it. A last line without its end is cut off. [`AppendFile::file`] reads from its
    /// start.
    ///
    /// # Errors
    /// The file cannot be opened, read or cut. A pipe or a device is refused.
    pub fn open_append(&self, path: &Path) -> io::Result<(AppendFile, Tail)> {
        let mut append = self.open_end(path, true)?;
        let whole = whole_lines(&append.file)?;
        let mut torn = Vec::new();
        if whole < append.length {
            append.file.seek(SeekFrom::Start(whole))?;
            append.file.read_to_end(&mut torn)?;
            append.cut(whole)?;
        }
        append.file.rewind()?;
        Ok((append, Tail { torn }))
    }

    /// Opens a file of which `length` bytes are known, or creates it for 0. The bytes after them are cut off.
    ///
    /// # Errors
    /// The file cannot be opened or cut. [`Replaced`] if it is shorter. A pipe or a device is refused.
    pub fn open_append_at(&self, path: &Path, length: u64) -> io::Result<AppendFile> {
        let mut append = self.open_end(path, false)?;
        if append.length < length {
            return Err(io::Error::other(Replaced));
        }
        if append.length > length {
            append.cut(length)?;
        }
        Ok(append)
    }

    fn open_end(&self, path: &Path, reads: bool) -> io::Result<AppendFile> {
        let mut options = OpenOptions::new();
        self.check_change(path)?;
        let file = self.open(path, options.read(reads).append(true).create(true))?;
        Ok(AppendFile {
            path: path.to_owned(),
            length: file.metadata()?.len(),
            file,
            is_torn: false,
            disk: self.clone(),
        })
    }
}

impl AppendFile {
    /// The length in bytes, as this process left the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The file, to be read after [`Disk::open_append`], or synced by another thread.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes lines. A process that is killed afterwards loses none of them, a power cut may.
    ///
    /// # Errors
    /// They cannot be written; the file is as it was, or is cut by the next write or opening. [`Replaced`] if the file at the
    /// path is another or has another length.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.add(lines, |_| Ok(()))
    }

    /// Writes lines and brings them to the disk, with the name of a file that was empty.
    ///
    /// # Errors
    /// As [`AppendFile::append`], or the disk refuses; the file is then as it was, too.
    pub fn append_synced(&mut self, lines: &[u8]) -> io::Result<()> {
        self.add(lines, |file| {
            file.disk.sync(&file.file, &file.path, File::sync_data)?;
            if file.length == 0 {
                file.disk.sync_folder(&file.path)?;
            }
            Ok(())
        })
    }

    fn add(&mut self, lines: &[u8], sync: impl Fn(&Self) -> io::Result<()>) -> io::Result<()> {
        if self.is_torn {
            self.cut(self.length)?;
        }
        self.check_in_place()?;
        let disk = &self.disk;
        let written = disk.write(Step::Append, &self.file, &self.path, lines);
        if let Err(error) = written.and_then(|()| sync(self)) {
            self.is_torn = self.cut(self.length).is_err();
            return Err(error);
        }
        self.length += lines.len() as u64;
        Ok(())
    }

    /// Cuts the file after its first `length` bytes.
    ///
    /// # Errors
    /// The system refuses.
    pub fn cut(&mut self, length: u64) -> io::Result<()> {
        self.disk.step(Step::Cut, &self.path)?;
        self.file.set_len(length)?;
        (self.length, self.is_torn) = (length, false);
        Ok(())
    }

    /// A file that was deleted or replaced takes what is written and loses it, and one that others write to is spoilt.
    fn check_in_place(&self) -> io::Result<()> {
        let found = self.path.metadata()?;
        if found.len() == self.length && is_same(&found, &self.file.metadata()?) {
            return Ok(());
        }
        Err(io::Error::other(Replaced))
    }
}

/// Returns the number of bytes in the whole lines of a file. It is read from its end, 64 KiB at a time, and rewound.
///
/// # Errors
/// The file cannot be read.
pub fn whole_lines(mut file: &File) -> io::Result<u64> {
    let whole = tail(file)?.whole();
    file.rewind()?;
    Ok(whole)
}
