//! The fold over a journal: each line is checked against the chain and applied to the state of the run.

use std::io::BufRead;

use super::resume::ResumeError;
use crate::journal::{
    CallError, CorruptionKind, Entry, Event, ExperimentEnd, ExperimentStart, Intervention, Line,
    MindInvocation, ReadError, Reader, RoundEnd, RunInterrupted, RunResumed,
};
use crate::pool::Retention;
use crate::verify::state::{RunState, StateError};

/// An observer of the events of a journal. `state` is the run before the event. Totals are read from the state after the
/// last event, so an observer does not sum them.
pub(crate) trait Observer {
    /// A mind answered a call; the event is in line `number` of the journal.
    fn on_call(&mut self, _call: &MindInvocation, _number: u64, _state: &RunState) {}

    /// A round ended.
    fn on_round(&mut self, _end: &RoundEnd, _state: &RunState) {}

    /// A call failed after all its attempts.
    fn on_error(&mut self, _error: &CallError) {}

    /// The run was interrupted.
    fn on_interrupt(&mut self, _stop: &RunInterrupted, _state: &RunState) {}

    /// The run was continued by another process.
    fn on_resume(&mut self, _resumed: &RunResumed, _state: &RunState) {}

    /// The run was changed from outside.
    fn on_intervention(&mut self, _change: &Intervention, _state: &RunState) {}

    /// The run ended.
    fn on_end(&mut self, _end: &ExperimentEnd) {}
}

/// An observer that ignores all events.
impl Observer for () {}

/// The result of reading a journal: its first event and its last state.
pub(crate) struct Folded {
    pub(crate) start: Box<ExperimentStart>,
    /// The run after the last event.
    pub(crate) state: RunState,
    /// The number of complete lines of the journal.
    pub(crate) lines: u64,
    /// The chain of the last line.
    pub(crate) chain: String,
    /// The time of the first event, as in the journal.
    pub(crate) began: String,
    /// The time of the last event, as in the journal.
    pub(crate) ended: String,
    /// The milliseconds from the first to the last event of each process, summed over all processes.
    pub(crate) spent_ms: u64,
}

/// A journal whose first event was read.
pub(crate) struct Fold<R> {
    reader: Reader<R>,
    start: Box<ExperimentStart>,
    state: RunState,
    /// The number of complete lines that were read.
    lines: u64,
    began: String,
    ended: String,
    time: Time,
    allows_torn: bool,
}

impl<R: BufRead> Fold<R> {
    /// Reads the first event. The state retains messages by the setting of the run.
    pub(crate) fn begin(journal: R) -> Result<Self, ResumeError> {
        Self::of(journal, RunState::new)
    }

    /// Reads the first event. The state retains messages by `keep`, not by the setting of the run.
    pub(crate) fn keeping(journal: R, keep: Retention) -> Result<Self, ResumeError> {
        Self::of(journal, |start| RunState::keeping(start, keep))
    }

    fn of(
        journal: R,
        state: impl FnOnce(&ExperimentStart) -> Result<RunState, StateError>,
    ) -> Result<Self, ResumeError> {
        let mut reader = Reader::new(journal);
        let (entry, start) = reader.start()?;
        let state = state(&start).map_err(at(entry.number))?;
        let mut time = Time::default();
        let began = entry.line.map(|line| {
            time.pass(&line);
            line.timestamp
        });
        let began = began.unwrap_or_default();
        Ok(Self {
            reader,
            start,
            state,
            lines: entry.number,
            ended: began.clone(),
            began,
            time,
            allows_torn: false,
        })
    }

    /// Accepts an incomplete last line as the end of the journal. The run is in progress or was killed, and all lines
    /// before it are complete.
    pub(crate) fn until_torn(self) -> Self {
        Self {
            allows_torn: true,
            ..self
        }
    }

    /// Returns the first event.
    pub(crate) fn start(&self) -> &ExperimentStart {
        &self.start
    }

    /// Returns the run after the last event that was read.
    pub(crate) fn state(&self) -> &RunState {
        &self.state
    }

    /// Returns the time of the last event that was read, as in the journal.
    pub(crate) fn ended(&self) -> &str {
        &self.ended
    }

    /// Returns the milliseconds that the run took, as [`Folded::spent_ms`].
    pub(crate) fn spent_ms(&self) -> u64 {
        self.time.spent_ms
    }

    /// Reads to the end and notifies the observer of each event.
    pub(crate) fn run(mut self, observer: &mut impl Observer) -> Result<Folded, ResumeError> {
        self.advance(observer)?;
        Ok(Folded {
            lines: self.lines,
            chain: self.reader.chain().to_owned(),
            start: self.start,
            state: self.state,
            began: self.began,
            ended: self.ended,
            spent_ms: self.time.spent_ms,
        })
    }

    /// Reads to the present end and notifies the observer of each event. A journal that grows is read on by the next
    /// call.
    pub(crate) fn advance(&mut self, observer: &mut impl Observer) -> Result<(), ResumeError> {
        while let Some(Entry { number, line, .. }) = self.next()? {
            self.lines = number;
            // An event of an unknown type is ignored.
            let Some(line) = line else { continue };
            self.time.pass(&line);
            show(observer, &line.event, number, &self.state);
            self.state.apply(&line.event).map_err(at(number))?;
            self.ended = line.timestamp;
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Entry>, ReadError> {
        match self.reader.next_entry() {
            Err(ReadError::Damaged {
                damage: CorruptionKind::Torn,
                ..
            }) if self.allows_torn => Ok(None),
            entry => entry,
        }
    }
}

fn at(number: u64) -> impl Fn(StateError) -> ResumeError {
    move |source| ResumeError::State { number, source }
}

fn show(observer: &mut impl Observer, event: &Event, number: u64, state: &RunState) {
    match event {
        Event::MindInvocation(call) => observer.on_call(call, number, state),
        Event::RoundEnd(end) => observer.on_round(end, state),
        Event::Error(error) => observer.on_error(error),
        Event::RunInterrupted(stop) => observer.on_interrupt(stop, state),
        Event::RunResumed(resumed) => observer.on_resume(resumed, state),
        Event::ExperimentEnd(end) => observer.on_end(end),
        Event::Intervention(change) => observer.on_intervention(change, state),
        Event::ExperimentStart(_) | Event::RoundStart(_) | Event::Forked(_) => {}
    }
}

/// The wall-clock time of all processes of a run.
#[derive(Default)]
struct Time {
    spent_ms: u64,
    last: Option<jiff::Timestamp>,
}

impl Time {
    fn pass(&mut self, line: &Line) {
        let Ok(now) = line.timestamp.parse::<jiff::Timestamp>() else {
            return;
        };
        // The time between an interruption and the next process does not count. Clocks may go back.
        if let Some(last) = self.last
            && !matches!(line.event, Event::RunResumed(_) | Event::Forked(_))
        {
            let passed = now.as_millisecond() - last.as_millisecond();
            self.spent_ms = self.spent_ms.saturating_add(passed.max(0) as u64);
        }
        self.last = Some(now);
    }
}
