//! The orchestrator: it calls the minds round by round, and writes each event before anything depends on it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use llm_types::Clock;

use super::control::{Progress, RoundSummary, RunControl, RunError, RunSummary};
use super::recorder::{Recorder, Stop};
use crate::config::Scheduling;
use crate::journal::{
    Event, ExperimentStart, Forked, InterruptCause, InterventionChange, JournalSink, PendingReply,
    RunResumed,
};
use crate::mind::Mind;
use crate::pool::{MindId, Round};
use crate::verify::ResumedRun;
use crate::verify::state::{RunState, StateError, Step};

/// The time to wait for calls in flight after a signal, or when the wall-clock limit is reached.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The interval between two progress notices about a call without a reply.
pub(super) const TICK: Duration = Duration::from_secs(1);

/// The runner of an experiment: it calls the minds and writes the journal.
///
/// Minds, journal and clock are parameters; nothing else is used. Times are recorded next to the events and affect the
/// wall-clock limit only. The future can be dropped at any moment, and the run can be resumed from the written events.
pub struct Orchestrator<M, J, C> {
    pub(super) mind: M,
    pub(super) clock: Arc<C>,
    pub(super) recorder: Recorder<J, C>,
    /// Answers of an earlier process that have no event yet.
    pub(super) spooled: BTreeMap<(Round, MindId), PendingReply>,
}

impl<M: Mind, J: JournalSink, C: Clock> Orchestrator<M, J, C> {
    /// Begins a run and writes its first event.
    ///
    /// # Errors
    /// The event cannot be written, or the pool refuses a seed message. The settings are not checked.
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

    /// Resumes a run and writes the event [`Event::RunResumed`].
    ///
    /// # Errors
    /// The event cannot be written, it changes a setting that cannot change, or
    /// [`Settings::validate`](crate::Settings::validate) refuses the new settings.
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

    /// Begins a fork and writes the event [`Event::Forked`]. `parent` is the journal up to the point of the fork, which
    /// `journal` continues.
    ///
    /// # Errors
    /// As [`Orchestrator::resume`].
    pub fn fork(
        parent: ResumedRun,
        forked: Forked,
        mind: M,
        journal: J,
        clock: C,
        control: RunControl,
    ) -> Result<Self, RunError> {
        let ResumedRun {
            state,
            lines,
            chain,
            ..
        } = parent;
        let forked = state.forked(forked, lines.saturating_sub(1), &chain);
        let mut begun = Self::at(state, mind, journal, clock, control);
        begun.recorder.commit(&Event::Forked(forked))?;
        begun.recorder.state.settings().validate()?;
        Ok(begun)
    }

    /// Changes the run before its next call, and writes the event [`Event::Intervention`]. It can be done after a start as
    /// a fork or by a resume, before the first call.
    ///
    /// # Errors
    /// As [`Orchestrator::resume`], and if the change cannot be made here. Nothing is then written.
    pub fn intervene(&mut self, change: InterventionChange) -> Result<(), RunError> {
        self.intervene_all(vec![change])
    }

    /// Makes several changes as [`Orchestrator::intervene`], in one write of the journal.
    ///
    /// # Errors
    /// As [`Orchestrator::intervene`], if one of the changes cannot be made. None of them is then written.
    pub fn intervene_all(&mut self, changes: Vec<InterventionChange>) -> Result<(), RunError> {
        // The events are written only if all can be applied.
        let mut after = self.recorder.state.clone();
        let mut events = Vec::with_capacity(changes.len());
        for change in changes {
            let event = Event::Intervention(Box::new(after.intervention(change)));
            after.apply(&event)?;
            after.settings().validate()?;
            events.push(event);
        }
        self.recorder.write_all(&events)?;
        self.recorder.state = after;
        Ok(())
    }

    fn at(state: RunState, mind: M, journal: J, clock: C, control: RunControl) -> Self {
        let clock = Arc::new(clock);
        Self {
            mind,
            recorder: Recorder {
                begun: clock.elapsed(),
                journal,
                clock: clock.clone(),
                state,
                control,
                headers: BTreeMap::new(),
                spooled: false,
            },
            clock,
            spooled: BTreeMap::new(),
        }
    }

    /// Continues in another journal, which `change` makes of the one so far and which has its events.
    ///
    /// # Errors
    /// Those of `change`.
    pub fn in_journal<K, E>(
        self,
        change: impl FnOnce(J) -> Result<K, E>,
    ) -> Result<Orchestrator<M, K, C>, E> {
        let Recorder {
            journal,
            clock,
            state,
            control,
            headers,
            begun,
            spooled,
        } = self.recorder;
        Ok(Orchestrator {
            mind: self.mind,
            clock: self.clock,
            spooled: self.spooled,
            recorder: Recorder {
                journal: change(journal)?,
                clock,
                state,
                control,
                headers,
                begun,
                spooled,
            },
        })
    }

    /// Returns the number of pending replies that answer the next calls. With sequential scheduling only the next call
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

    /// Returns the state of the run.
    pub fn state(&self) -> &RunState {
        &self.recorder.state
    }

    /// Returns the journal and drops the run.
    pub fn into_journal(self) -> J {
        self.recorder.journal
    }

    /// Runs to the end or to an interruption. `show` receives a notice of each written event.
    ///
    /// # Errors
    /// See [`RunError`]. The journal then contains every event up to the error.
    pub async fn run(
        &mut self,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<RunSummary, RunError> {
        let done = self.rounds(show).await;
        if let Err(error) = &done {
            // The journal should name the error; the caller reports the error itself, even if this write fails.
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

    /// Runs the next round, or the rest of the open one.
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
