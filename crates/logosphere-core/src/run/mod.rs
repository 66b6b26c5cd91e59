//! Asks the minds, round by round, and writes down what happens before anything depends on it.

mod calls;
mod clock;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::config::{ConfigError, Scheduling};
use crate::format::Reason;
use crate::journal::{
    CallError, Event, ExperimentStart, InterruptCause, JournalError, JournalSink, MindInvocation,
    RoundEnd, RunInterrupted, RunResumed, Spooled,
};
use crate::mind::{Mind, MindError};
use crate::pool::{MindId, Round};
use crate::state::{State, StateError, Step};
use crate::verify::Resumption;
pub use clock::Clock;

/// How long calls under way are waited for after a signal, or when the time is up.
const PATIENCE: Duration = Duration::from_secs(10);

/// The interval between two notices about a call without a reply.
const TICK: Duration = Duration::from_secs(1);

/// Runs an experiment: asks its minds and writes its journal.
///
/// Minds, journal and clock are passed in; nothing else is touched. Drop the future at any moment: what was written
/// can be resumed.
pub struct Orchestrator<M, J, C> {
    mind: M,
    clock: Arc<C>,
    book: Book<J, C>,
    /// Answers of an earlier process that wait for their turn.
    spooled: BTreeMap<(Round, MindId), Spooled>,
}

/// What decides when a run stops, beside its settings.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct Control {
    /// Stops the run: nothing new is begun, and what is under way is waited for, ten seconds at most.
    pub cancel: CancellationToken,
    /// Hold each request against what it should be before it is sent.
    pub check_leaks: bool,
    /// The signal that cancelled the run, such as `SIGTERM`, for the journal.
    pub signal: Arc<OnceLock<&'static str>>,
    /// Milliseconds that the run took in earlier processes; for the cap on time.
    pub spent_ms: u64,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            cancel: CancellationToken::new(),
            check_leaks: true,
            signal: Arc::default(),
            spent_ms: 0,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum RunSummary {
    /// It is over.
    Ended {
        /// Why.
        stop_reason: String,
        /// Calls that failed for good.
        errors: u64,
    },
    /// It can go on.
    Interrupted(RunInterrupted),
}

/// What a round came to.
#[derive(Debug, Clone, PartialEq)]
pub enum RoundSummary {
    /// It ended.
    Ended(RoundEnd),
    /// The run stopped in it.
    Interrupted(RunInterrupted),
}

/// What is shown while a run goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A call failed for good, and that was written down.
    Failed(&'a CallError),
    /// A call was written down; with it its key in the protocol meter.
    Called(&'a MindInvocation, Reason),
    /// No call has come back for a second or more.
    Waiting {
        /// The round of the oldest call in flight.
        round: Round,
        /// Its mind.
        mind: MindId,
        /// The time since it began.
        since: Duration,
        /// The number of its attempt, from 1.
        attempt: u32,
    },
    /// A round was.
    Round(&'a RoundEnd, &'a State),
}

/// A run that cannot go on in this process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An event cannot be written. No call was begun after that.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An event does not follow from those before it: a fault of this program.
    #[error("the run contradicts itself")]
    State(#[from] StateError),
    /// A request is not what it should be, and was not sent.
    #[error("a request to mind {mind} in round {round} would tell more than it may: {what}")]
    Leak {
        /// In which round.
        round: Round,
        /// Of which mind.
        mind: MindId,
        /// What is different.
        what: String,
    },
    /// A run cannot have these settings. Nothing was written.
    #[error(transparent)]
    Settings(#[from] ConfigError),
    /// No request can be made.
    #[error("no request can be made")]
    Request(#[from] MindError),
}

impl<M: Mind, J: JournalSink, C: Clock> Orchestrator<M, J, C> {
    /// Begins a run: writes its first event.
    ///
    /// # Errors
    /// The event cannot be written, or a seed cannot be in the pool. The settings are taken as they are.
    pub fn start(
        start: ExperimentStart,
        mind: M,
        journal: J,
        clock: C,
        control: Control,
    ) -> Result<Self, RunError> {
        let state = State::new(&start)?;
        let mut begun = Self::at(state, mind, journal, clock, control);
        begun.book.write(&Event::ExperimentStart(Box::new(start)))?;
        Ok(begun)
    }

    /// Goes on with a run: writes the event that says so.
    ///
    /// # Errors
    /// The event cannot be written, it changes what cannot change, or [`Settings::validate`](crate::Settings::validate) refuses the new settings.
    pub fn resume(
        resumption: Resumption,
        mut resumed: RunResumed,
        mind: M,
        journal: J,
        clock: C,
        control: Control,
    ) -> Result<Self, RunError> {
        let Resumption { state, spooled, .. } = resumption;
        resumed.cut_bytes = resumption.torn_bytes;
        state
            .settings()
            .with_changes(&resumed.changed)?
            .validate()?;
        let mut begun = Self::at(state, mind, journal, clock, control);
        let next = begun.book.state.next_call();
        let waiting = spooled.into_iter();
        begun.spooled = waiting
            .map(|answer| ((answer.round, answer.mind_id), answer))
            .collect();
        (resumed.round, resumed.next_mind) = next;
        resumed.reused_calls = begun.usable() as u64;
        begun.book.spooled = !begun.spooled.is_empty();
        begun.book.commit(&Event::RunResumed(resumed))?;
        Ok(begun)
    }

    fn at(state: State, mind: M, journal: J, clock: C, control: Control) -> Self {
        let clock = Arc::new(clock);
        Self {
            mind,
            book: Book {
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
        let state = &self.book.state;
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
    pub fn state(&self) -> &State {
        &self.book.state
    }

    /// The journal, when all is done.
    pub fn into_journal(self) -> J {
        self.book.journal
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
                .book
                .interrupt(Stop::new(InterruptCause::Error, error.to_string()));
        }
        self.book.synced(done).await
    }

    async fn rounds(
        &mut self,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<RunSummary, RunError> {
        loop {
            let stop_reason = match self.book.state.next() {
                Step::Done => String::new(),
                Step::End(reason) => {
                    let end = self.book.state.end(reason);
                    self.book.commit(&Event::ExperimentEnd(Box::new(end)))?;
                    reason.to_owned()
                }
                Step::Begin | Step::Call { .. } | Step::EndRound => match self.round(show).await? {
                    RoundSummary::Ended(_) => continue,
                    RoundSummary::Interrupted(why) => return Ok(RunSummary::Interrupted(why)),
                },
            };
            return Ok(RunSummary::Ended {
                stop_reason,
                errors: self.book.state.errors(),
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
        self.book.synced(done).await
    }

    async fn round(
        &mut self,
        show: &mut impl FnMut(Progress<'_>),
    ) -> Result<RoundSummary, RunError> {
        if self.book.state.next() == Step::Begin {
            if let Some(stop) = self.book.stop_cause() {
                return Ok(RoundSummary::Interrupted(self.book.interrupt(stop)?));
            }
            let start = self.book.state.round_start();
            self.book.commit(&Event::RoundStart(start))?;
        }
        if let Some(stop) = self.call_minds(show).await? {
            return Ok(RoundSummary::Interrupted(self.book.interrupt(stop)?));
        }
        let end = self.book.state.round_end();
        self.book.commit(&Event::RoundEnd(end.clone()))?;
        if self.book.spooled {
            self.book.journal.sync().await?;
            self.book.journal.settle()?;
            self.book.spooled = false;
        }
        show(Progress::Round(&end, &self.book.state));
        Ok(RoundSummary::Ended(end))
    }
}

/// What is written, and where that leads. Apart from who is asked, so that events can be written while calls are under
/// way.
struct Book<J, C> {
    journal: J,
    clock: Arc<C>,
    state: State,
    control: Control,
    /// Those of the first request: they are the same in every one.
    headers: Option<Vec<(String, String)>>,
    /// When this process began, by the clock.
    begun_ms: u64,
    /// The spool contains answers.
    spooled: bool,
}

impl<J: JournalSink, C: Clock> Book<J, C> {
    /// Whether the run was cancelled, or has taken as long as it may.
    fn stop_cause(&self) -> Option<Stop> {
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
    fn time_left(&self) -> Option<Duration> {
        let most = self.state.settings().caps.max_wall?;
        let here = self.clock.monotonic_ms().saturating_sub(self.begun_ms);
        let spent = self.control.spent_ms.saturating_add(here);
        Some(most.saturating_sub(Duration::from_millis(spent)))
    }

    fn interrupt(&mut self, stop: Stop) -> Result<RunInterrupted, RunError> {
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
    fn commit(&mut self, event: &Event) -> Result<(), RunError> {
        self.write(event)?;
        Ok(self.state.apply(event)?)
    }

    /// Waits for the disk; the first of both errors is returned.
    async fn synced<T>(&mut self, done: Result<T, RunError>) -> Result<T, RunError> {
        let synced = self.journal.sync().await;
        let done = done?;
        synced?;
        Ok(done)
    }

    fn write(&mut self, event: &Event) -> Result<(), RunError> {
        let timestamp = format!("{:.3}", self.clock.now());
        Ok(self.journal.append(&timestamp, event)?)
    }
}

/// Why a run stops.
struct Stop {
    cause: InterruptCause,
    detail: String,
}

impl Stop {
    fn new(cause: InterruptCause, detail: String) -> Self {
        Self { cause, detail }
    }
}
