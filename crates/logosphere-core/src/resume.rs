//! What a journal leaves to be done.

use std::io::BufRead;

use crate::journal::{Entry, Reader, Spooled};
use crate::state::{State, StateError, Step};
use crate::{Event, ExperimentStart, Line, ReadError};

/// A run that was read from its journal and can go on.
#[derive(Debug, Clone)]
pub struct Resumption {
    /// How it began.
    pub start: Box<ExperimentStart>,
    /// Where it is.
    pub state: State,
    /// Lines of the journal.
    pub lines: u64,
    /// The chain of the last one.
    pub chain: String,
    /// Whether it has ended; it goes on only with more rounds.
    pub ended: bool,
    /// Milliseconds that it took, from the first event of each process to the last.
    pub spent_ms: u64,
    /// Answers that may not be in the journal; for the caller to fill in.
    pub spooled: Vec<Spooled>,
}

/// Why a journal cannot be gone on with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// It cannot be read, or was altered.
    #[error(transparent)]
    Read(#[from] ReadError),
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

impl Resumption {
    /// Reads a journal whose last line is whole, line by line.
    ///
    /// # Errors
    /// See [`ResumeError`].
    pub fn read(journal: impl BufRead) -> Result<Self, ResumeError> {
        let mut reader = Reader::new(journal);
        let (entry, start) = reader.start()?;
        let at = |number| move |source| ResumeError::State { number, source };
        let mut state = State::new(&start).map_err(at(entry.number))?;
        let mut time = Time::default();
        time.pass(&entry);
        while let Some(entry) = reader.next_entry()? {
            time.pass(&entry);
            if let Some(line) = &entry.line {
                state.apply(&line.event).map_err(at(entry.number))?;
            }
        }
        Ok(Self {
            start,
            ended: state.next() == Step::Done,
            state,
            lines: reader.lines(),
            chain: reader.chain().to_owned(),
            spent_ms: time.spent_ms,
            spooled: Vec::new(),
        })
    }
}

/// How long the processes of a run worked on it.
#[derive(Default)]
struct Time {
    spent_ms: u64,
    last: Option<jiff::Timestamp>,
}

impl Time {
    fn pass(&mut self, entry: &Entry) {
        let Some(Line {
            timestamp, event, ..
        }) = &entry.line
        else {
            return;
        };
        let Ok(now) = timestamp.parse::<jiff::Timestamp>() else {
            return;
        };
        // Between an interruption and the next process nobody worked. Clocks may go back.
        if let Some(last) = self.last
            && !matches!(event, Event::RunResumed(_))
        {
            let passed = now.as_millisecond() - last.as_millisecond();
            self.spent_ms = self.spent_ms.saturating_add(passed.max(0) as u64);
        }
        self.last = Some(now);
    }
}
