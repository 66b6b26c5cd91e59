//! A run that is read from its journal to be resumed.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use durable::Disk;

use super::fold::Fold;
use crate::journal::{ExperimentStart, PendingReply, ReadError, open_journal, read_spool};
use crate::verify::state::{RunState, StateError, Step};

/// A run that was read from its journal and can be resumed.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct ResumedRun {
    /// The first event.
    pub start: Box<ExperimentStart>,
    /// The state after the last event.
    pub state: RunState,
    /// The number of lines of the journal.
    pub lines: u64,
    /// The chain of the last line.
    pub chain: String,
    /// Whether it has ended; then it can be resumed with more rounds only.
    pub ended: bool,
    /// The milliseconds that it took, from the first event of each process to the last.
    pub spent_ms: u64,
    /// The bytes after the last complete line, which belong to an incomplete event.
    pub torn_bytes: u64,
    /// The answers that are paid for and have no event yet.
    pub spooled: Vec<PendingReply>,
}

/// The error of a journal that cannot be resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The journal cannot be read, or was altered.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file cannot be opened.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The first event is incomplete.
    #[error("{}: no event was written to its end; `run` starts again", path.display())]
    NothingWhole {
        /// The file.
        path: PathBuf,
    },
    /// A journal that begins with many events at once, that of a fork, has none.
    #[error("no event was written to its end, and a fork writes its first ones at once")]
    NoFork,
    /// An event does not follow from those before it.
    #[error("line {number}")]
    State {
        /// The line, from 1.
        number: u64,
        /// The error.
        #[source]
        source: StateError,
    },
}

impl ResumedRun {
    /// Reads a journal whose last line is complete, line by line.
    ///
    /// # Errors
    /// See [`ResumeError`].
    pub fn read(journal: impl BufRead) -> Result<Self, ResumeError> {
        let run = Fold::begin(journal)?.run(&mut ())?;
        Ok(Self {
            start: run.start,
            ended: run.state.next() == Step::Done,
            state: run.state,
            lines: run.lines,
            chain: run.chain,
            spent_ms: run.spent_ms,
            torn_bytes: 0,
            spooled: Vec::new(),
        })
    }

    /// Reads the complete lines of a journal and its spool. Nothing is written.
    ///
    /// # Errors
    /// See [`ResumeError`].
    pub fn open(journal: &Path, spool: &Path) -> Result<Self, ResumeError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            |source| ResumeError::File { path, source }
        };
        let file = open_journal(journal).map_err(failed(journal))?;
        let length = file.metadata().map_err(failed(journal))?.len();
        let whole = durable::whole_lines(&file).map_err(failed(journal))?;
        let torn_bytes = length - whole;
        if whole == 0 {
            return Err(ResumeError::NothingWhole {
                path: journal.to_owned(),
            });
        }
        let read = Self::read(BufReader::new(file.take(whole)))?;
        let next = read.state.next_call();
        let mut spooled = read_spool(spool).map_err(failed(spool))?;
        spooled.retain(|answer| (answer.round, answer.mind_id) >= next);
        Ok(Self {
            torn_bytes,
            spooled,
            ..read
        })
    }

    /// Moves the bytes after the last complete line to a separate file next to the journal. Returns the path of that
    /// file.
    ///
    /// # Errors
    /// A file cannot be written. The journal is then unchanged.
    pub fn quarantine_torn_tail(&self, journal: &Path) -> io::Result<Option<PathBuf>> {
        if self.torn_bytes == 0 {
            return Ok(None);
        }
        let disk = Disk::default().inside(journal.parent().unwrap_or(journal));
        disk.check_change(journal)?;
        let mut file = OpenOptions::new().read(true).write(true).open(journal)?;
        let whole = file.metadata()?.len() - self.torn_bytes;
        file.seek(SeekFrom::Start(whole))?;
        let mut torn = Vec::new();
        file.read_to_end(&mut torn)?;
        let numbered = |again: u32| match again {
            0 => journal.with_file_name(format!("torn-{}.part", self.lines)),
            _ => journal.with_file_name(format!("torn-{}-{again}.part", self.lines)),
        };
        // An earlier process may have moved bytes that followed the same line.
        let mut again = 0;
        while numbered(again).exists() {
            again += 1;
        }
        let part = numbered(again);
        disk.check_place(&part)?;
        // No sync is needed: after a power failure the incomplete line is back in the journal, or it is lost.
        fs::write(&part, torn)?;
        file.set_len(whole)?;
        Ok(Some(part))
    }
}
