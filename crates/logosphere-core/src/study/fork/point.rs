//! The point of a fork in the journal of its parent.

use std::fmt;
use std::io::BufRead;
use std::str::FromStr;

use crate::config::Scheduling;
use crate::journal::{ReadError, Reader};
use crate::pool::{MindId, Round};
use crate::verify::ResumeError;
use crate::verify::state::{RunState, Step};

/// The place before a call: `ROUND`, before the first call of a round, or `ROUND.MIND`.
///
/// ```
/// use logosphere_core::study::fork::ForkPoint;
///
/// let point: ForkPoint = "12.3".parse()?;
/// assert_eq!((point.round.0, point.mind.0), (12, 3));
/// assert_eq!("7".parse::<ForkPoint>()?.to_string(), "7");
/// # Ok::<(), logosphere_core::study::fork::PointError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the place of a call")]
pub struct ForkPoint {
    /// The round of the next call, from 1.
    pub round: Round,
    /// The mind of the next call, from 0.
    pub mind: MindId,
}

/// The error of a point.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PointError {
    /// The text names no point.
    #[error("expected a round from 1, and after a point a mind from 0: 12 or 12.3")]
    Form,
    /// The journal ends before the point, or the run has no such mind.
    #[error("the journal has no call {point}; its last round is {last}")]
    Missing {
        /// The point.
        point: ForkPoint,
        /// The last round of the journal.
        last: Round,
    },
    /// The minds of a round read at once.
    #[error(
        "the minds of a round read the pool as it was when the round began; fork before a round: {round}"
    )]
    Snapshot {
        /// The round.
        round: Round,
    },
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] ResumeError),
}

impl FromStr for ForkPoint {
    type Err = PointError;

    fn from_str(text: &str) -> Result<Self, PointError> {
        let (round, mind) = text.split_once('.').unwrap_or((text, "0"));
        match (round.parse(), mind.parse()) {
            (Ok(round @ 1..), Ok(mind)) => Ok(Self {
                round: Round(round),
                mind: MindId(mind),
            }),
            _ => Err(PointError::Form),
        }
    }
}

impl fmt::Display for ForkPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mind {
            MindId(0) => write!(f, "{}", self.round),
            mind => write!(f, "{}.{mind}", self.round),
        }
    }
}

impl ForkPoint {
    /// Returns the length in bytes of the part of a journal that a fork at this point shares with it: the lines up to the
    /// first at which the call is next. A point before a round is before the event of its start.
    ///
    /// # Errors
    /// See [`PointError`].
    pub fn length_in(self, journal: impl BufRead) -> Result<u64, PointError> {
        let failed = |error: ReadError| PointError::Journal(error.into());
        let mut reader = Reader::new(journal);
        let (entry, start) = reader.start().map_err(failed)?;
        let at = |number| move |source| ResumeError::State { number, source };
        let mut state = RunState::new(&start).map_err(at(entry.number))?;
        if self.mind.0 > 0 && state.settings().scheduling == Scheduling::Snapshot {
            return Err(PointError::Snapshot { round: self.round });
        }
        let mut length = entry.bytes.len() as u64 + 1;
        while !self.is_next(&state) {
            let Some(entry) = reader.next_entry().map_err(failed)? else {
                return Err(PointError::Missing {
                    point: self,
                    last: state.round(),
                });
            };
            length += entry.bytes.len() as u64 + 1;
            if let Some(line) = &entry.line {
                state.apply(&line.event).map_err(at(entry.number))?;
            }
        }
        Ok(length)
    }

    fn is_next(self, state: &RunState) -> bool {
        let is_there = match state.next() {
            Step::Begin | Step::End(_) => self.mind.0 == 0,
            Step::Call { mind } => mind.0 > 0 && mind == self.mind,
            Step::EndRound | Step::Done => false,
        };
        is_there && state.next_call() == (self.round, self.mind)
    }
}
