//! Many runs in one process, as sweeps and forks make them: some at the same time, under one cap and one signal.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bin_support::model::ModelWords;
use bin_support::{Exit, Failure, Session, block_on, escape};
use futures_util::stream::{self, StreamExt as _};
use llm_client::{Client, Timer};
use logosphere_core::experiment::{Experiment, ExperimentLock};
use logosphere_core::journal::RunResumed;
use logosphere_core::study::UnreadableRun;
use logosphere_core::verify::ResumedRun;
use logosphere_core::{Mind, RecordedMind, RecordedReplies, RunControl, RunSummary, Settings};

use crate::commands::resume;
use crate::flags::ChangeableFlags;
use crate::population::{ClientContext, Population};
use crate::running::FileRun;
use crate::setup::{SOFTWARE, changes, shown};

/// The common parts of the runs.
pub struct ManyRuns {
    /// The flags of each run, with the cap of all.
    pub flags: ChangeableFlags,
    pub clock: Arc<dyn Timer>,
    pub control: RunControl,
    /// The file of the account that all runs spend from.
    pub ledger: PathBuf,
    /// The remedy of a user without a key.
    without_key: Option<String>,
    account: RefCell<Option<Client>>,
    /// The lines that the user has read.
    notices: RefCell<BTreeSet<String>>,
    /// Whether a run was stopped, so that no other begins.
    stopped: Cell<bool>,
}

/// A run that has ended, or that can continue.
pub enum OpenedRun {
    Ended { errors: u64 },
    Open(Box<FileRun>),
}

/// The end of the runs of this process.
#[derive(Debug, Default)]
pub struct EndOfRuns {
    /// The number of runs that have ended with calls that failed for good.
    pub with_errors: usize,
    /// The reasons why runs stopped before their end.
    pub stopped: Vec<String>,
    /// The runs that failed, each with its error.
    pub failed: Vec<(String, Failure)>,
}

/// The end of one run.
enum RunState {
    Ended {
        errors: u64,
    },
    Stopped(String),
    /// A signal or the stop of another run came before it was begun.
    NotBegun,
}

impl ManyRuns {
    pub fn new(
        flags: ChangeableFlags,
        control: RunControl,
        ledger: PathBuf,
        without_key: Option<String>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            clock: flags.model.clock()?,
            flags,
            control,
            ledger,
            without_key,
            account: RefCell::default(),
            notices: RefCell::default(),
            stopped: Cell::default(),
        })
    }

    /// Makes the runs that have not ended, `jobs` at the same time. `open` begins or continues one, `name` is for messages.
    pub fn make<R>(
        &self,
        runs: Vec<R>,
        jobs: usize,
        session: &Session,
        name: impl Fn(&R) -> String,
        open: impl Fn(&R) -> Result<(OpenedRun, ExperimentLock), Failure>,
    ) -> Result<EndOfRuns, bin_support::Error> {
        let bar = session.progress.bar("runs", runs.len());
        let (bar, name, open) = (&bar, &name, &open);
        block_on(async {
            let made = stream::iter(runs).map(|run| async move {
                let state = self.one(|| open(&run)).await;
                bar.inc(1);
                (name(&run), state)
            });
            let mut made = made.buffer_unordered(jobs.max(1));
            let mut end = EndOfRuns::default();
            while let Some((name, state)) = made.next().await {
                match state {
                    Ok(RunState::Ended { errors }) => end.with_errors += usize::from(errors > 0),
                    Ok(RunState::Stopped(why)) => end.stopped.push(format!("{name}: {why}")),
                    Ok(RunState::NotBegun) => {}
                    Err(error) => end.failed.push((name, error)),
                }
            }
            end
        })
    }

    async fn one(
        &self,
        open: impl FnOnce() -> Result<(OpenedRun, ExperimentLock), Failure>,
    ) -> Result<RunState, Failure> {
        if self.stopped.get() || self.control.cancel.is_cancelled() {
            return Ok(RunState::NotBegun);
        }
        let (mut run, _lock) = match open()? {
            (OpenedRun::Ended { errors }, _) => return Ok(RunState::Ended { errors }),
            (OpenedRun::Open(run), lock) => (run, lock),
        };
        match run.run(&mut |_| {}).await? {
            RunSummary::Ended { errors, .. } => Ok(RunState::Ended { errors }),
            RunSummary::Interrupted(why) => {
                self.stopped.set(true);
                Ok(RunState::Stopped(why.detail))
            }
        }
    }

    /// Continues a run that has begun; calls that have an outcome in `recorded` are not made.
    pub fn resumed(
        &self,
        experiment: &Experiment,
        resumption: ResumedRun,
        recorded: Option<&RecordedReplies>,
        session: &Session,
    ) -> Result<OpenedRun, Failure> {
        if resumption.ended {
            let errors = resumption.state.errors();
            return Ok(OpenedRun::Ended { errors });
        }
        let settings = resumption.state.settings();
        let changed = changes(&self.flags.layer(), settings)?;
        let settings = settings.with_changes(&changed).map_err(Failure::usage)?;
        let population = self.population(&settings, &experiment.journal(), session)?;
        let resumed = RunResumed::new(SOFTWARE, changed);
        let control = self.control_of(&population);
        let clock = self.clock.clone();
        let (mind, _) = population.mind(&settings)?;
        let mind = with_recorded(mind, recorded);
        let (run, torn) = resume::continued(experiment, resumption, resumed, mind, clock, control)?;
        if let Some(notice) = torn {
            session.warn(&notice);
        }
        Ok(OpenedRun::Open(Box::new(run)))
    }

    /// Returns the minds of a run with these settings, whose journal is at this path. They spend from the account of all runs,
    /// so the caps of a single run do not count.
    pub fn population(
        &self,
        settings: &Settings,
        journal: &Path,
        session: &Session,
    ) -> Result<Population, Failure> {
        let settings = settings.clone().with(|settings| {
            let cap = self.flags.layer().max_usd;
            (settings.caps.max_usd, settings.caps.max_tokens) = (cap, None);
        });
        let (context, mut notices) = (self.context(), Vec::new());
        let population = resume::population(
            &settings,
            journal,
            &self.flags,
            &context,
            session,
            &mut notices,
        )?;
        self.accept(&population, notices, session)?;
        Ok(population)
    }

    /// Prints the notices about the minds of a run that are new, and lets the minds spend from the account of all runs.
    pub fn accept(
        &self,
        population: &Population,
        notices: Vec<String>,
        session: &Session,
    ) -> Result<(), Failure> {
        for notice in notices {
            if self.notices.borrow_mut().insert(notice.clone()) {
                session.warn(&notice);
            }
        }
        self.share_account(population)
    }

    pub fn control_of(&self, population: &Population) -> RunControl {
        let mut control = self.control.clone();
        control.stop_unanswered = population.account().is_some();
        control
    }

    pub fn context(&self) -> ClientContext {
        ClientContext {
            clock: self.clock.clone(),
            account: self.account.borrow().clone(),
            words: ModelWords {
                without_key: self.without_key.clone(),
                ..ModelWords::default()
            },
        }
    }

    /// Keeps the account of the first run with a model in the ledger, for all runs.
    fn share_account(&self, population: &Population) -> Result<(), Failure> {
        if self.account.borrow().is_none()
            && let Some(client) = population.account()
        {
            population.keep_ledger(&self.ledger)?;
            *self.account.borrow_mut() = Some(client.clone());
        }
        Ok(())
    }
}

/// Returns an error with its causes in one line.
pub fn in_words(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        line = format!("{line}: {error}");
        source = error.source();
    }
    line
}

/// Returns the mind, for which calls have the outcomes of a journal.
pub fn with_recorded(mind: Box<dyn Mind>, recorded: Option<&RecordedReplies>) -> Box<dyn Mind> {
    match recorded {
        Some(recorded) => Box::new(RecordedMind::new(recorded.clone(), mind)),
        None => mind,
    }
}

impl EndOfRuns {
    /// Prints what failed and what stopped.
    pub fn report(&self, session: &Session) {
        for (run, failure) in &self.failed {
            let line = in_words(failure.error());
            session.warn(&format!("{run}: {}", escape(&line)));
        }
        for why in &self.stopped {
            session.warn(&escape(why));
        }
    }

    /// Names the runs in the folder `runs` that cannot be read, but for those whose failure was printed when they were to be
    /// continued. `study` is the word for all runs.
    pub fn report_unreadable(
        &self,
        unreadable: &[UnreadableRun],
        runs: &Path,
        study: &str,
        session: &Session,
    ) {
        for UnreadableRun { run, reason, .. } in unreadable {
            let path = shown(&runs.join(run));
            if !self.failed.iter().any(|(failed, _)| *failed == path) {
                session.warn(&format!("{path}: {}", escape(reason)));
            }
        }
        if !unreadable.is_empty() {
            session.warn(&format!(
                "runs that cannot be read, and that no result counts: {}; the {study} makes a run again once its folder is moved away",
                unreadable.len()
            ));
        }
    }

    pub fn exit(&self) -> Exit {
        match self {
            end if !end.failed.is_empty() => Exit::Failed,
            end if !end.stopped.is_empty() => Exit::Interrupted,
            end if end.with_errors > 0 => Exit::SomeFailed,
            _ => Exit::Done,
        }
    }
}
