//! The file of a spool.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use durable::{AppendFile, Disk, Lock, LockError, lines};
use serde::Serialize;

use super::line::{LineHead, SpoolEntry, SpoolLine};
use super::progress::Progress;
use super::state::SpoolState;
use crate::layers::timer::timestamp;
use crate::recording::hash::sha256_hex;
use crate::{Error, Redactor, Timer};

/// The bytes that are written at once.
const PART: usize = 1 << 20;
/// More bytes than the first line has.
const FIRST: u64 = 1 << 12;

/// The field that the errors of a file name.
const FIELD: &str = "spool";

/// The open file of a spool, with the state that its lines add up to.
pub(super) struct SpoolFile {
    path: PathBuf,
    file: AppendFile,
    clock: Arc<dyn Timer>,
    pub state: SpoolState,
    /// Removes the key of the server from what the server wrote.
    pub redactor: Redactor,
    /// The lines that are not written yet, which do not count.
    text: String,
    heads: Vec<(LineHead, u64)>,
    _lock: Lock,
}

impl SpoolFile {
    /// Opens the file or makes it. It is locked, and a torn last line is cut off.
    pub fn open(disk: &Disk, path: &Path, clock: &Arc<dyn Timer>) -> Result<Self, Error> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let mut lock = disk.lock(Path::new(&name)).map_err(|error| {
            let why = match &error {
                LockError::Held { .. } => "another process works with this spool; wait for its end",
                _ => "it cannot be locked",
            };
            refused(path, why).with_source(error)
        })?;
        // Without the number the lock holds all the same.
        let _ = lock.write(&std::process::id().to_string());
        let failed = |error: io::Error| refused(path, "cannot be opened").with_source(error);
        if !is_spool(disk, path)? {
            let now = timestamp(clock.now());
            // A library has no random source. Two spools have the same path and birth only if one is a copy.
            let birth = format!("{}\n{now}\n{}", path.display(), std::process::id());
            let id = sha256_hex(birth.as_bytes())[..8].to_owned();
            let first = SpoolEntry::<(), ()>::Spool { id }.to_line(now);
            // In one step, so that a file with another first line is not one of ours.
            let made = first.map_err(io::Error::from);
            made.and_then(|first| disk.replace(path, format!("{first}\n").as_bytes()))
                .map_err(failed)?;
        }
        let (file, _) = disk.open_append(path).map_err(failed)?;
        let mut this = Self {
            path: path.to_owned(),
            file,
            clock: clock.clone(),
            state: SpoolState::default(),
            redactor: Redactor::default(),
            text: String::new(),
            heads: Vec::new(),
            _lock: lock,
        };
        this.state = read_state(path, this.file.file())?;
        this.state.reopen_unanswered();
        Ok(this)
    }

    /// Adds a line to those that are written together. Returns whether they were written, as they are at 1 MiB.
    pub fn add<Q: Serialize, A: Serialize>(
        &mut self,
        entry: &SpoolEntry<Q, A>,
    ) -> Result<bool, Error> {
        let at = self.file.length() + self.text.len() as u64;
        let line = entry.to_line(timestamp(self.clock.now())).and_then(|line| {
            // A request is the caller's, and sent as it is.
            let own = matches!(entry, SpoolEntry::Planned { .. });
            let clean = (!own).then(|| self.redactor.without_keys(&line)).flatten();
            let line = clean.unwrap_or(line);
            Ok((serde_json::from_str(&line)?, line))
        });
        let (head, line) =
            line.map_err(|error| self.error("cannot be written").with_source(error))?;
        self.heads.push((head, at));
        self.text.push_str(&line);
        self.text.push('\n');
        if self.text.len() < PART {
            return Ok(false);
        }
        self.flush()?;
        Ok(true)
    }

    /// Writes the lines that were added, and brings them to the disk; only then they count.
    pub fn flush(&mut self) -> Result<(), Error> {
        let text = std::mem::take(&mut self.text);
        let heads = std::mem::take(&mut self.heads);
        if text.is_empty() {
            return Ok(());
        }
        let appended = self.file.append_synced(text.as_bytes());
        appended.map_err(|error| self.error("cannot be written").with_source(error))?;
        for (head, at) in heads {
            self.state.add(head, at).map_err(|why| self.error(&why))?;
        }
        Ok(())
    }

    /// Writes a line.
    pub fn append(&mut self, entry: &SpoolEntry) -> Result<(), Error> {
        self.add(entry)?;
        self.flush()
    }

    /// Reads the line at `offset`.
    pub fn line(&self, offset: u64) -> Result<SpoolLine, Error> {
        read_line(self.file.file(), offset)
            .map_err(|error| self.error("a line cannot be read again").with_source(error))
    }

    pub fn error(&self, why: &str) -> Error {
        refused(&self.path, why)
    }
}

impl Progress {
    /// The progress of the spool at `path`, which another process may be working with; `None` without a file. It does not
    /// know what is waiting.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused): the file cannot be read, or a line of it is damaged.
    pub fn read(path: &Path) -> Result<Option<Self>, Error> {
        match Disk::private(".orrery-").open_read(path) {
            Ok(file) => Ok(Some(read_state(path, &file)?.progress())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(refused(path, "cannot be read").with_source(error)),
        }
    }
}

/// The state of the spool in `file`; a last line that another process is writing does not count.
fn read_state(path: &Path, file: &File) -> Result<SpoolState, Error> {
    let mut state = SpoolState::default();
    for line in lines(BufReader::new(file)) {
        let line = line.map_err(|error| refused(path, "cannot be read").with_source(error))?;
        if !line.is_whole() {
            break;
        }
        let wrong = |why: String| refused(path, &format!("line {}: {why}", line.number));
        let head = serde_json::from_slice(line.text());
        let head = head.map_err(|error| wrong(error.to_string()))?;
        state.add(head, line.offset).map_err(wrong)?;
    }
    Ok(state)
}

/// Whether the file at `path` is a spool: `false` for none and for an empty one, an error for any other. It is not changed.
fn is_spool(disk: &Disk, path: &Path) -> Result<bool, Error> {
    let first = match disk.open_read(path) {
        Ok(file) => lines(BufReader::new(file.take(FIRST))).next().transpose(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    let first = first.map_err(|error| refused(path, "cannot be read").with_source(error))?;
    let Some(first) = first else {
        return Ok(false);
    };
    let head = serde_json::from_slice::<LineHead>(first.text());
    let why = match head {
        Ok(LineHead {
            entry: SpoolEntry::Spool { .. },
            ..
        }) if first.is_whole() => return Ok(true),
        Ok(_) => "expected the id of a spool".to_owned(),
        Err(error) => error.to_string(),
    };
    let why = format!("line 1: {why}; choose the path of a spool, or of no file");
    Err(refused(path, &why))
}

fn read_line(mut file: &File, offset: u64) -> io::Result<SpoolLine> {
    file.seek(SeekFrom::Start(offset))?;
    let mut text = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Whether an error is of the file of a spool.
pub(super) fn is_of_file(error: &Error) -> bool {
    matches!(error.kind(), crate::ErrorKind::Refused { field, .. } if field == FIELD)
}

fn refused(path: &Path, why: &str) -> Error {
    Error::refused(FIELD, format!("{}: {why}", path.display()))
}
