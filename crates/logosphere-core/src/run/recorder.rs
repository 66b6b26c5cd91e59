//! The recorder: writes events and applies them to the state of the run.

use std::sync::Arc;
use std::time::Duration;

use super::control::{EventClock, RunControl, RunError};
use crate::journal::{Event, InterruptCause, JournalSink, RunInterrupted};
use crate::state::RunState;

/// What is written, and where that leads. Apart from who is asked, so that events can be written while calls are under
/// way.
pub(super) struct Recorder<J, C> {
    pub(super) journal: J,
    pub(super) clock: Arc<C>,
    pub(super) state: RunState,
    pub(super) control: RunControl,
    /// Those of the first request: they are the same in every one.
    pub(super) headers: Option<Vec<(String, String)>>,
    /// When this process began, by the clock.
    pub(super) begun_ms: u64,
    /// The spool contains answers.
    pub(super) spooled: bool,
}

impl<J: JournalSink, C: EventClock> Recorder<J, C> {
    /// Whether the run was cancelled, or has taken as long as it may.
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

    /// What is left of the time that the run may take.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let most = self.state.settings().caps.max_wall?;
        let here = self.clock.monotonic_ms().saturating_sub(self.begun_ms);
        let spent = self.control.spent_ms.saturating_add(here);
        Some(most.saturating_sub(Duration::from_millis(spent)))
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

    /// Writes an event, then takes it in.
    pub(super) fn commit(&mut self, event: &Event) -> Result<(), RunError> {
        self.write(event)?;
        Ok(self.state.apply(event)?)
    }

    /// Waits for the disk; the first of both errors is returned.
    pub(super) async fn synced<T>(&mut self, done: Result<T, RunError>) -> Result<T, RunError> {
        let synced = self.journal.sync().await;
        let done = done?;
        synced?;
        Ok(done)
    }

    pub(super) fn write(&mut self, event: &Event) -> Result<(), RunError> {
        let timestamp = format!("{:.3}", self.clock.now());
        Ok(self.journal.append(&timestamp, event)?)
    }
}

/// Why a run stops.
pub(super) struct Stop {
    pub(super) cause: InterruptCause,
    pub(super) detail: String,
}

impl Stop {
    pub(super) fn new(cause: InterruptCause, detail: String) -> Self {
        Self { cause, detail }
    }
}
