//! Asks the minds, round by round, and writes down what happens before anything depends on it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::control::{EventClock, Progress, RoundSummary, RunControl, RunError, RunSummary};
use super::recorder::{Recorder, Stop};
use crate::config::Scheduling;
use crate::journal::{
    Event, ExperimentStart, InterruptCause, JournalSink, PendingReply, RunResumed,
};
use crate::mind::Mind;
use crate::pool::{MindId, Round};
use crate::state::{RunState, StateError, Step};
use crate::verify::ResumedRun;

/// How long calls under way are waited for after a signal, or when the time is up.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The interval between two notices about a call without a reply.
pub(super) const TICK: Duration = Duration::from_secs(1);

/// Runs an experiment: asks its minds and writes its journal.
///
/// Minds, journal and clock are passed in; nothing else is touched. Drop the future at any moment: what was written
/// can be resumed.
pub struct Orchestrator<M, J, C> {
    pub(super) mind: M,
    pub(super) clock: Arc<C>,
    pub(super) recorder: Recorder<J, C>,
    /// Answers of an earlier process that wait for their turn.
    pub(super) spooled: BTreeMap<(Round, MindId), PendingReply>,
}

impl<M: Mind, J: JournalSink, C: EventClock> Orchestrator<M, J, C> {
    /// Begins a run: writes its first event.
    ///
    /// # Errors
    /// The event cannot be written, or a seed cannot be in the pool. The settings are taken as they are.
    pub fn start(
        start: ExperimentStart,
        mind: M,
        journal: J,
        clock: C,
        control: RunControl,
    ) -> Result<Self, RunError> {
        let state = RunState::new(&start)?;
        let mut begun = Self::at(state, mind, journal, clock, control);
        begun
            .recorder
            .write(&Event::ExperimentStart(Box::new(start)))?;
        Ok(begun)
    }

    /// Goes on with a run: writes the event that says so.
    ///
    /// # Errors
    /// The event cannot be written, it changes what cannot change, or [`Settings::validate`](crate::Settings::validate) refuses the new settings.
    pub fn resume(
        resumption: ResumedRun,
        mut resumed: RunResumed,
        mind: M,
        journal: J,
        clock: C,
        control: RunControl,
    ) -> Result<Self, RunError> {
        let ResumedRun { state, spooled, .. } = resumption;
        resumed.cut_bytes = resumption.torn_bytes;
        state
            .settings()
            .with_changes(&resumed.changed)
            .map_err(StateError::from)?
            .validate()?;
        let mut begun = Self::at(state, mind, journal, clock, control);
        let next = begun.recorder.state.next_call();
        let waiting = spooled.into_iter();
        begun.spooled = waiting
            .map(|answer| ((answer.round, answer.mind_id), answer))
            .collect();
        (resumed.round, resumed.next_mind) = next;
        resumed.reused_calls = begun.usable() as u64;
        begun.recorder.spooled = !begun.spooled.is_empty();
        begun.recorder.commit(&Event::RunResumed(resumed))?;
        Ok(begun)
    }

    fn at(state: RunState, mind: M, journal: J, clock: C, control: RunControl) -> Self {
        let clock = Arc::new(clock);
        Self {
            mind,
            recorder: Recorder {
                begun_ms: clock.monotonic_ms(),
                journal,
                clock: clock.clone(),
                state,
                control,
                headers: None,
                spooled: false,
            },
            clock,
            spooled: BTreeMap::new(),
        }
    }

    /// Spooled answers to the questions that will be asked. Of a round that reads one by one, only the first question
    /// is known.
    fn usable(&self) -> usize {
        let state = &self.recorder.state;
        let Step::Call { mind } = state.next() else {
            return 0;
        };
        let end = match state.settings().scheduling {
            Scheduling::Sequential => mind.next().0,
            Scheduling::Snapshot => state.settings().n_minds,
        };
        mind.of(end)
            .filter(|mind| {
                let planned = state.plan(*mind);
                let answer = self.spooled.get(&(planned.round, *mind));
                answer.is_some_and(|answer| answer.request_sha256 == planned.request_sha256)
            })
            .count()
    }

    /// The state of the run.
    pub fn state(&self) -> &RunState {
        &self.recorder.state
    }

    /// The journal, when all is done.
    pub fn into_journal(self) -> J {
        self.recorder.journal
    }

    /// Runs to the end, or until the run stops. `show` is told what was written.
    ///
    /// # Errors
    /// See [`RunError`]; the journal then holds all that happened.
    pub async fn run(
        &mut self,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<RunSummary, RunError> {
        let done = self.rounds(show).await;
        if let Err(error) = &done {
            // For whoever reads the journal; the error itself is what is reported, also where this cannot be written.
            let _ = self
                .recorder
                .interrupt(Stop::new(InterruptCause::Error, error.to_string()));
        }
        self.recorder.synced(done).await
    }

    async fn rounds(
        &mut self,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<RunSummary, RunError> {
        loop {
            let stop_reason = match self.recorder.state.next() {
                Step::Done => String::new(),
                Step::End(reason) => {
                    let end = self.recorder.state.end(reason);
                    self.recorder.commit(&Event::ExperimentEnd(Box::new(end)))?;
                    reason.to_owned()
                }
                Step::Begin | Step::Call { .. } | Step::EndRound => match self.round(show).await? {
                    RoundSummary::Ended(_) => continue,
                    RoundSummary::Interrupted(why) => return Ok(RunSummary::Interrupted(why)),
                },
            };
            return Ok(RunSummary::Ended {
                stop_reason,
                errors: self.recorder.state.errors(),
            });
        }
    }

    /// Runs the next round, or the rest of the one that was begun.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn run_round(
        &mut self,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<RoundSummary, RunError> {
        let done = self.round(show).await;
        self.recorder.synced(done).await
    }

    async fn round(
        &mut self,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<RoundSummary, RunError> {
        if self.recorder.state.next() == Step::Begin {
            if let Some(stop) = self.recorder.stop_cause() {
                return Ok(RoundSummary::Interrupted(self.recorder.interrupt(stop)?));
            }
            let start = self.recorder.state.round_start();
            self.recorder.commit(&Event::RoundStart(start))?;
        }
        if let Some(stop) = self.call_minds(show).await? {
            return Ok(RoundSummary::Interrupted(self.recorder.interrupt(stop)?));
        }
        let end = self.recorder.state.round_end();
        self.recorder.commit(&Event::RoundEnd(end.clone()))?;
        if self.recorder.spooled {
            self.recorder.journal.sync().await?;
            self.recorder.journal.settle()?;
            self.recorder.spooled = false;
        }
        show(Progress::Round(&end, &self.recorder.state));
        Ok(RoundSummary::Ended(end))
    }
}
