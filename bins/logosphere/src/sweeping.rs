//! The runs of a sweep: each is begun, continued or left as it is.

use std::cell::{Cell as StdCell, RefCell};
use std::process;
use std::sync::Arc;

use bin_support::{Failure, Session, block_on};
use futures_util::stream::{self, StreamExt as _};
use llm_client::{Client, Timer};
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::{FileJournal, RunResumed};
use logosphere_core::sweep::{Cell, SweepFolder, SweepPlan};
use logosphere_core::{ExperimentStart, Orchestrator, RunControl, RunSummary, Transcript};

use crate::begin::effective;
use crate::commands::resume;
use crate::error::Error;
use crate::flags::{ChangeableFlags, SettingFlags};
use crate::journal_file;
use crate::population::{ClientContext, LEDGER, Population};
use crate::running::FileRun;
use crate::setup::{SOFTWARE, changes, failure, prepare, run_id, shown};

/// The runs of a plan in its folder.
pub struct SweepRuns<'a> {
    pub folder: &'a SweepFolder,
    pub plan: &'a SweepPlan,
    pub init: &'a [u8],
    /// The flags of each run, with the cap of the plan.
    pub flags: ChangeableFlags,
    pub clock: Arc<dyn Timer>,
    /// A client of the first run that called a model. All runs spend from its account.
    pub account: RefCell<Option<Client>>,
    /// Whether a run was stopped, so that no other begins.
    pub stopped: StdCell<bool>,
    pub control: RunControl,
}

/// A run of a cell.
#[derive(Debug, Clone)]
pub struct RunOfCell {
    pub cell: Cell,
    pub repeat: u32,
}

/// The end of the runs of a sweep in this process.
#[derive(Debug, Default)]
pub struct SweepEnd {
    /// The number of runs that have ended.
    pub ended: usize,
    /// The number of them with calls that failed for good.
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
    /// A signal came before it was begun.
    NotBegun,
}

impl SweepRuns<'_> {
    /// Makes all runs that have not ended, `jobs` at the same time.
    pub fn make(
        &self,
        runs: Vec<RunOfCell>,
        jobs: usize,
        session: &Session,
    ) -> Result<SweepEnd, bin_support::Error> {
        let bar = session.progress.bar("runs", runs.len());
        block_on(async {
            let bar = &bar;
            let made = stream::iter(runs).map(|run| async move {
                let name = shown(&self.folder.run(&run.cell, run.repeat));
                let state = self.one(&run, session).await;
                bar.inc(1);
                (name, state)
            });
            let mut made = made.buffer_unordered(jobs.max(1));
            let mut end = SweepEnd::default();
            while let Some((name, state)) = made.next().await {
                match state {
                    Ok(RunState::Ended { errors }) => {
                        end.ended += 1;
                        end.with_errors += usize::from(errors > 0);
                    }
                    Ok(RunState::Stopped(why)) => end.stopped.push(format!("{name}: {why}")),
                    Ok(RunState::NotBegun) => {}
                    Err(error) => end.failed.push((name, error)),
                }
            }
            end
        })
    }

    async fn one(&self, run: &RunOfCell, session: &Session) -> Result<RunState, Failure> {
        if self.stopped.get() || self.control.cancel.is_cancelled() {
            return Ok(RunState::NotBegun);
        }
        let (cell, repeat) = (&run.cell, run.repeat);
        let experiment = self.folder.prepare(self.plan, cell, repeat, self.init);
        let experiment = experiment.map_err(sweep_failure)?;
        let _lock = experiment.lock(process::id()).map_err(failure)?;
        let mut run = match self.begun(&experiment, session)? {
            Begun::Ended { errors } => return Ok(RunState::Ended { errors }),
            Begun::Run(run) => run,
        };
        match run.run(&mut |_| {}).await? {
            RunSummary::Ended { errors, .. } => Ok(RunState::Ended { errors }),
            RunSummary::Interrupted(why) => {
                self.stopped.set(true);
                Ok(RunState::Stopped(why.detail))
            }
        }
    }

    /// Begins or continues a run.
    fn begun(&self, experiment: &Experiment, session: &Session) -> Result<Begun, Failure> {
        let mut control = self.control.clone();
        match experiment.begun().map_err(failure)? {
            Some(resumption) if resumption.ended => Ok(Begun::Ended {
                errors: resumption.state.errors(),
            }),
            Some(resumption) => {
                let settings = resumption.state.settings();
                let changed = changes(&self.flags.layer(), settings)?;
                let settings = settings.with_changes(&changed).map_err(Failure::usage)?;
                let population = resume::population(
                    &settings,
                    &experiment.journal(),
                    &self.flags,
                    &self.context(),
                    session,
                    &mut Vec::new(),
                )?;
                control.stop_unanswered = !settings.is_offline();
                self.share_account(&population)?;
                let resumed = RunResumed::new(SOFTWARE, changed);
                let clock = self.clock.clone();
                let (run, torn) = resume::continued(
                    experiment,
                    resumption,
                    resumed,
                    &population,
                    clock,
                    control,
                )?;
                if let Some(notice) = torn {
                    session.warn(&notice);
                }
                Ok(Begun::Run(Box::new(run)))
            }
            None => {
                let flags = SettingFlags {
                    changeable: self.flags.clone(),
                    ..SettingFlags::default()
                };
                let ready = prepare(experiment, false, &flags, &self.context(), session)?;
                self.share_account(&ready.population)?;
                let (mind, _) = ready.population.mind(&ready.settings)?;
                let effective = effective(experiment, &ready)?;
                let settings = &effective.settings;
                control.stop_unanswered = !settings.is_offline();
                let (durability, stamp) = (settings.durability, settings.stamp_seeds);
                let seeds = ready.init.stored(stamp);
                let id = run_id(&self.clock, false)?;
                let start = ExperimentStart::new(effective, id, seeds, ready.template);
                let journal =
                    FileJournal::create(&experiment.journal(), &experiment.spool(), durability)?;
                let clock = self.clock.clone();
                let run = Orchestrator::start(start, mind, journal, clock, control)?;
                Ok(Begun::Run(Box::new(run)))
            }
        }
    }

    fn context(&self) -> ClientContext {
        ClientContext {
            clock: self.clock.clone(),
            account: self.account.borrow().clone(),
        }
    }

    /// Keeps the account of the first run with a model in the folder of the sweep, for all runs.
    fn share_account(&self, population: &Population) -> Result<(), Failure> {
        if self.account.borrow().is_none()
            && let Some(client) = population.account()
        {
            population.keep_ledger(&self.folder.path().join(LEDGER))?;
            *self.account.borrow_mut() = Some(client.clone());
        }
        Ok(())
    }

    /// Reads the runs of a cell that have ended, in the order of the repeats.
    pub fn read(&self, cell: &Cell) -> Result<Vec<Transcript>, Failure> {
        let mut runs = Vec::new();
        for repeat in 0..self.plan.repeats {
            let path = self.folder.run(cell, repeat);
            let Ok(experiment) = Experiment::open(&path) else {
                continue;
            };
            let begun = experiment.begun().map_err(failure)?;
            if begun.is_some_and(|run| run.ended) {
                let journal = journal_file::open(&path)?;
                let run = Transcript::read(journal).map_err(|source| {
                    let path = journal_file::path(&path);
                    Failure::usage(Error::Transcript { path, source })
                })?;
                runs.push(run);
            }
        }
        Ok(runs)
    }
}

/// A run that has ended, or that can continue.
enum Begun {
    Ended { errors: u64 },
    Run(Box<FileRun>),
}

/// Returns the failure of the folder of a sweep, with the exit code of a usage error if the input is wrong.
pub fn sweep_failure(error: logosphere_core::sweep::SweepError) -> Failure {
    if error.is_usage() {
        Failure::usage(error)
    } else {
        error.into()
    }
}
