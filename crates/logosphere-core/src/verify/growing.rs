//! A run that is read while another process writes its journal.

use std::fs::File;
use std::io::{self, BufRead as _, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};

use super::fold::{Fold, Observer};
use super::resume::ResumeError;
use super::transcript::Transcript;
use crate::journal::{
    CallError, ExperimentStart, MindInvocation, ReadError, RoundEnd, WholeLines, open_journal,
};
use crate::pool::Retention;
use crate::verify::state::RunState;

/// A run that is read while another process writes its journal: a call of [`Self::advance`] reads the events that were
/// added, and waits for the end of an incomplete last line. Nothing is written or locked.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/two_rounds.rs"));
/// use std::io::Cursor;
///
/// use logosphere_core::verify::GrowingRun;
///
/// # fn main() -> Result<(), logosphere_core::verify::ResumeError> {
/// assert!(GrowingRun::begin(Cursor::new(b"{\"type\":\"exper"))?.is_none());
/// let mut run = GrowingRun::begin(Cursor::new(two_rounds()))?.unwrap();
/// run.advance()?;
/// assert_eq!(run.transcript().rounds.len(), 2);
/// # Ok(())
/// # }
/// ```
pub struct GrowingRun<R> {
    fold: Fold<WholeLines<R>>,
    events: ReadEvents,
    file: Option<WatchedFile>,
}

/// A journal at a path, which another file may take.
struct WatchedFile {
    path: PathBuf,
    file: File,
}

/// The events that were read.
struct ReadEvents {
    transcript: Transcript,
    error: Option<CallError>,
}

impl GrowingRun<File> {
    /// Opens the journal at a path and reads the first event; `None` without a file, or before the event is complete.
    ///
    /// # Errors
    /// See [`ResumeError`]. [`Self::advance`] also fails with [`ResumeError::File`] if the file was removed or replaced.
    pub fn open(path: &Path) -> Result<Option<Self>, ResumeError> {
        let failed = |source| ResumeError::File {
            path: path.to_owned(),
            source,
        };
        let journal = match open_journal(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let file = Some(WatchedFile {
            file: journal.try_clone().map_err(failed)?,
            path: path.to_owned(),
        });
        let begun = Self::begin(journal)?;
        Ok(begun.map(|run| Self { file, ..run }))
    }
}

impl WatchedFile {
    fn check(&self) -> Result<(), ResumeError> {
        let source = match durable::is_at(&self.file, &self.path) {
            Ok(true) => return Ok(()),
            Ok(false) => io::Error::other("it was removed or replaced while it was read"),
            Err(error) => error,
        };
        let path = self.path.clone();
        Err(ResumeError::File { path, source })
    }
}

impl<R: Read + Seek> GrowingRun<R> {
    /// Reads the first event; `None` if it is not complete yet.
    ///
    /// # Errors
    /// See [`ResumeError`].
    pub fn begin(journal: R) -> Result<Option<Self>, ResumeError> {
        let mut lines = WholeLines::new(journal);
        let first = lines.fill_buf();
        let first = first.map_err(|source| ReadError::Io { number: 1, source })?;
        if first.is_empty() {
            return Ok(None);
        }
        let fold = Fold::keeping(lines, Retention::Active)?;
        let events = ReadEvents {
            transcript: Transcript::begin(fold.start()),
            error: None,
        };
        let file = None;
        Ok(Some(Self { fold, events, file }))
    }

    /// Reads the complete lines that were added since the last call.
    ///
    /// # Errors
    /// See [`ResumeError`]. The run is then unusable.
    pub fn advance(&mut self) -> Result<(), ResumeError> {
        if let Some(file) = &self.file {
            file.check()?;
        }
        self.fold.advance(&mut self.events)
    }

    /// Returns the first event.
    pub fn start(&self) -> &ExperimentStart {
        self.fold.start()
    }

    /// Returns the state after the last event that was read.
    pub fn state(&self) -> &RunState {
        self.fold.state()
    }

    /// Returns the messages, calls and rounds that were read.
    pub fn transcript(&self) -> &Transcript {
        &self.events.transcript
    }

    /// Returns the last call that failed after all its attempts.
    pub fn last_error(&self) -> Option<&CallError> {
        self.events.error.as_ref()
    }

    /// Returns the time of the last event that was read, as in the journal.
    pub fn last_event_at(&self) -> &str {
        self.fold.ended()
    }

    /// Returns the milliseconds that the run took, from the first event of each process to the last.
    pub fn spent_ms(&self) -> u64 {
        self.fold.spent_ms()
    }
}

impl Observer for ReadEvents {
    fn on_call(&mut self, call: &MindInvocation, number: u64, state: &RunState) {
        self.transcript.on_call(call, number, state);
    }

    fn on_round(&mut self, end: &RoundEnd, state: &RunState) {
        self.transcript.on_round(end, state);
    }

    fn on_error(&mut self, error: &CallError) {
        self.error = Some(error.clone());
    }
}
