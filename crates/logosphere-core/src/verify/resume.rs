//! What a journal leaves to be done.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::fold::Fold;
use crate::journal::{ExperimentStart, PendingReply, ReadError, read_spool};
use crate::state::{RunState, StateError, Step};

/// A run that was read from its journal and can go on.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct ResumedRun {
    /// How it began.
    pub start: Box<ExperimentStart>,
    /// Where it is.
    pub state: RunState,
    /// Lines of the journal.
    pub lines: u64,
    /// The chain of the last one.
    pub chain: String,
    /// Whether it has ended; it goes on only with more rounds.
    pub ended: bool,
    /// Milliseconds that it took, from the first event of each process to the last.
    pub spent_ms: u64,
    /// Bytes behind the last whole line: an event that was not written to its end.
    pub torn_bytes: u64,
    /// Answers that are paid for and not in the journal.
    pub spooled: Vec<PendingReply>,
}

/// Why a journal cannot be gone on with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// It cannot be read, or was altered.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It cannot be opened.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Not even the first event was written to its end.
    #[error("{}: no event was written to its end; `run` begins anew", path.display())]
    NothingWhole {
        /// The file.
        path: PathBuf,
    },
    /// An event does not follow from those before it.
    #[error("line {number}")]
    State {
        /// Its line, from 1.
        number: u64,
        /// What is wrong.
        #[source]
        source: StateError,
    },
}

impl ResumedRun {
    /// Reads a journal whose last line is whole, line by line.
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

    /// Reads the whole lines of a journal, and the spool beside it. Nothing is written.
    ///
    /// # Errors
    /// See [`ResumeError`].
    pub fn open(journal: &Path, spool: &Path) -> Result<Self, ResumeError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            |source| ResumeError::File { path, source }
        };
        let file = File::open(journal).map_err(failed(journal))?;
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

    /// Moves what stands behind the last whole line into a file of its own beside the journal, whose name it answers.
    ///
    /// # Errors
    /// A file that cannot be written; the journal is then as it was.
    pub fn quarantine_torn_tail(&self, journal: &Path) -> io::Result<Option<PathBuf>> {
        if self.torn_bytes == 0 {
            return Ok(None);
        }
        let mut file = OpenOptions::new().read(true).write(true).open(journal)?;
        let whole = file.metadata()?.len() - self.torn_bytes;
        file.seek(SeekFrom::Start(whole))?;
        let mut torn = Vec::new();
        file.read_to_end(&mut torn)?;
        let numbered = |again: u32| match again {
            0 => journal.with_file_name(format!("torn-{}.part", self.lines)),
            _ => journal.with_file_name(format!("torn-{}-{again}.part", self.lines)),
        };
        // An earlier process may have set something aside behind the same line.
        let mut again = 0;
        while numbered(again).exists() {
            again += 1;
        }
        let part = numbered(again);
        // No waiting for the disk: if the power goes now, the torn line is there again, or what was no event is lost.
        fs::write(&part, torn)?;
        file.set_len(whole)?;
        Ok(Some(part))
    }
}
