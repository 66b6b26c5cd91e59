//! A run that is read while another process writes its journal.

use std::io::{BufRead as _, Read, Seek};

use super::fold::{Fold, Observer};
use super::resume::ResumeError;
use super::transcript::Transcript;
use crate::journal::{CallError, ExperimentStart, MindInvocation, ReadError, RoundEnd, WholeLines};
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
}

/// The events that were read.
struct ReadEvents {
    transcript: Transcript,
    error: Option<CallError>,
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
        Ok(Some(Self { fold, events }))
    }

    /// Reads the complete lines that were added since the last call.
    ///
    /// # Errors
    /// See [`ResumeError`]. The run is then unusable.
    pub fn advance(&mut self) -> Result<(), ResumeError> {
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
