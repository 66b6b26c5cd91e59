//! The runs of a sweep: each is begun, continued or left as it is.

use std::path::Path;
use std::process;

use bin_support::{Exit, Failure, Session};
use logosphere_core::experiment::{Experiment, ExperimentError, ExperimentLock};
use logosphere_core::journal::FileJournal;
use logosphere_core::study::UnreadableRun;
use logosphere_core::study::sweep::{Cell, SweepError, SweepFolder, SweepPlan};
use logosphere_core::verify::ResumedRun;
use logosphere_core::{ExperimentStart, LocalMind, Orchestrator, Settings, Transcript};

use crate::begin::effective;
use crate::error::Error;
use crate::flags::SettingFlags;
use crate::journal_file;
use crate::many_runs::{ManyRuns, OpenedRun, in_words};
use crate::setup::{failure, prepare, run_id};

/// The runs of a plan in its folder.
pub struct SweepRuns<'a> {
    pub folder: &'a SweepFolder,
    pub plan: &'a SweepPlan,
    pub init: &'a [u8],
    pub runs: &'a ManyRuns,
}

/// A run of a cell.
#[derive(Debug, Clone)]
pub struct RunOfCell {
    pub cell: Cell,
    pub repeat: u32,
}

impl SweepRuns<'_> {
    /// Begins or continues a run.
    pub fn open(
        &self,
        run: &RunOfCell,
        session: &Session,
    ) -> Result<(OpenedRun, ExperimentLock), Failure> {
        let experiment = self
            .folder
            .prepare(self.plan, &run.cell, run.repeat, self.init);
        let experiment = experiment.map_err(sweep_failure)?;
        let lock = experiment.lock(process::id()).map_err(failure)?;
        if let Some(begun) = experiment.begun().map_err(failure)? {
            let settings = &begun.start.effective.settings;
            let checked = self
                .folder
                .check(self.plan, &run.cell, run.repeat, settings);
            checked.map_err(sweep_failure)?;
            let opened = self.runs.resumed(&experiment, begun, None, session)?;
            return Ok((opened, lock));
        }
        let flags = SettingFlags {
            changeable: self.runs.flags.clone(),
            ..SettingFlags::default()
        };
        let context = self.runs.context();
        let ready = prepare(&experiment, false, &flags, &context, session)?;
        let notices = ready.notices.clone();
        self.runs.accept(&ready.population, notices, session)?;
        let (mind, _) = ready.population.mind(&ready.settings)?;
        let effective = effective(&experiment, &ready)?;
        let settings = &effective.settings;
        let (durability, stamp) = (settings.durability, settings.stamp_seeds);
        let seeds = ready.init.stored(stamp);
        let id = run_id(&self.runs.clock, false)?;
        let start = ExperimentStart::new(effective, id, seeds, ready.template);
        let journal = FileJournal::create(&experiment.journal(), &experiment.spool(), durability)?;
        let control = self.runs.control_of(&ready.population);
        let clock = self.runs.clock.clone();
        let run = Orchestrator::start(start, mind, journal, clock, control)?;
        Ok((OpenedRun::Open(Box::new(run)), lock))
    }

    /// Reads the runs of a cell that have ended, in the order of the repeats, and names those that cannot be read.
    pub fn read(&self, cell: &Cell) -> Result<(Vec<Transcript>, Vec<UnreadableRun>), Failure> {
        let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
        for repeat in 0..self.plan.repeats {
            let path = self.folder.run(cell, repeat);
            let (begun, run) = match ended(&path, Experiment::begun) {
                Ok(Some(ended)) => ended,
                Ok(None) => continue,
                Err(failure) => {
                    let why = reason(&failure);
                    unreadable.push(UnreadableRun::new(run_name(cell, repeat), why));
                    continue;
                }
            };
            let settings = &begun.start.effective.settings;
            let checked = self.folder.check(self.plan, cell, repeat, settings);
            checked.map_err(sweep_failure)?;
            runs.push(run);
        }
        Ok((runs, unreadable))
    }
}

/// Reads the run in a folder, with the state that it ended in; `None` if there is none that has ended. `begun` finds it.
pub fn ended(
    path: &Path,
    begun: impl Fn(&Experiment) -> Result<Option<ResumedRun>, ExperimentError>,
) -> Result<Option<(ResumedRun, Transcript)>, Failure> {
    let Ok(experiment) = Experiment::open(path) else {
        return Ok(None);
    };
    let begun = begun(&experiment).map_err(failure)?;
    let Some(begun) = begun.filter(|run| run.ended) else {
        return Ok(None);
    };
    let run = Transcript::read(journal_file::open(path)?).map_err(|source| {
        let path = journal_file::path(path);
        Failure::usage(Error::Transcript { path, source })
    })?;
    Ok(Some((begun, run)))
}

/// Returns the remedy of a plan whose model has no key.
pub fn without_key() -> String {
    let mind = LocalMind::DEFAULT;
    format!("give the plan scripted minds: mind = \"{mind}\" below [base]")
}

/// Returns the name of a run, which is the path of its folder in that of all cells.
pub fn run_name(cell: &Cell, repeat: u32) -> String {
    format!("{}/r{repeat:03}", cell.key)
}

/// Returns why a run cannot be read, without the path of its journal.
pub fn reason(failure: &Failure) -> String {
    let error = failure.error();
    in_words(error.source().unwrap_or(error))
}

/// Returns the settings of the runs of a cell, but for the random seed.
pub fn settings_of(cell: &Cell) -> Result<Settings, Failure> {
    let settings = cell.layer.clone().settings(0);
    settings.map_err(|source| {
        let key = cell.key.clone();
        sweep_failure(SweepError::Settings { key, source })
    })
}

/// Returns the failure of the folder of a sweep, with the exit code of a usage error if the input is wrong.
pub fn sweep_failure(error: SweepError) -> Failure {
    if error.is_other_run() {
        Failure::new(Exit::CheckFailed, error)
    } else if error.is_usage() {
        Failure::usage(error)
    } else {
        error.into()
    }
}
