//! The recorder: writes events and applies them to the state of the run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use llm_types::Clock;

use super::control::{RunControl, RunError};
use crate::journal::{Event, InterruptCause, JournalSink, RunInterrupted};
use crate::verify::state::RunState;

/// The journal and the state of a run. It is separate from the mind, so that events are written while calls are in
/// flight.
pub(super) struct Recorder<J, C> {
    pub(super) journal: J,
    pub(super) clock: Arc<C>,
    pub(super) state: RunState,
    pub(super) control: RunControl,
    /// The headers of the first request of each entry of the minds; all its requests have the same.
    pub(super) headers: BTreeMap<usize, Vec<(String, String)>>,
    /// The time of the clock when this process began.
    pub(super) begun: Duration,
    /// Whether the spool contains answers.
    pub(super) spooled: bool,
}

impl<J: JournalSink, C: Clock> Recorder<J, C> {
    /// Returns the cause if the run was cancelled or has reached its wall-clock limit.
    pub(super) fn stop_cause(&self) -> Option<Stop> {
        if self.control.cancel.is_cancelled() {
            let name = self.control.signal.get().copied();
            let detail = name.unwrap_or("the user asked for it");
            return Some(Stop::new(InterruptCause::Signal, detail.to_owned()));
        }
        let most = self.state.settings().caps.max_wall?;
        (self.time_left() == Some(Duration::ZERO)).then(|| {
            Stop::new(
                InterruptCause::Wall,
                format!("the run may take {} s (max_wall)", most.as_secs()),
            )
        })
    }

    /// Returns the rest of the wall-clock time of the run; `None` without a limit.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let most = self.state.settings().caps.max_wall?;
        let here = self.clock.elapsed().saturating_sub(self.begun);
        let spent = Duration::from_millis(self.control.spent_ms).saturating_add(here);
        Some(most.saturating_sub(spent))
    }

    pub(super) fn interrupt(&mut self, stop: Stop) -> Result<RunInterrupted, RunError> {
        let (round, next_mind) = self.state.next_call();
        let interrupted = RunInterrupted {
            round,
            next_mind,
            cause: stop.cause,
            detail: stop.detail,
            resumable: true,
        };
        self.commit(&Event::RunInterrupted(interrupted.clone()))?;
        Ok(interrupted)
    }

    /// Writes an event, then applies it to the state.
    pub(super) fn commit(&mut self, event: &Event) -> Result<(), RunError> {
        self.write(event)?;
        Ok(self.state.apply(event)?)
    }

    /// Waits for the disk. Of two errors the earlier one is returned.
    pub(super) async fn synced<T>(&mut self, done: Result<T, RunError>) -> Result<T, RunError> {
        let synced = self.journal.sync().await;
        let done = done?;
        synced?;
        Ok(done)
    }

    pub(super) fn write(&mut self, event: &Event) -> Result<(), RunError> {
        let now = self.now();
        Ok(self.journal.append(&now, event)?)
    }

    /// Writes events, which the caller applies to the state.
    pub(super) fn write_all(&mut self, events: &[Event]) -> Result<(), RunError> {
        let now = self.now();
        Ok(self.journal.append_all(&now, events)?)
    }

    fn now(&self) -> String {
        let now = Timestamp::try_from(self.clock.now()).unwrap_or(Timestamp::MAX);
        format!("{now:.3}")
    }
}

/// The cause of an interruption, with details.
pub(super) struct Stop {
    pub(super) cause: InterruptCause,
    pub(super) detail: String,
}

impl Stop {
    pub(super) fn new(cause: InterruptCause, detail: String) -> Self {
        Self { cause, detail }
    }
}
