//! The runs of a fork: the shared part of the parent's journal, continued as it was and with changes.

use std::process;

use bin_support::{Exit, Failure, Session};
use logosphere_core::experiment::{Experiment, ExperimentLock};
use logosphere_core::journal::{
    FileJournal, ForkArm, Forked, InterventionChange, MemJournal, fork_seed,
};
use logosphere_core::study::UnreadableRun;
use logosphere_core::study::fork::{ForkError, ForkFolder, ForkPlan, Replicate, SharedPart};
use logosphere_core::{Effective, Orchestrator, RecordedReplies, Settings, Transcript};

use crate::many_runs::{ManyRuns, OpenedRun, with_recorded};
use crate::setup::{SOFTWARE, failure, run_id, shown};
use crate::sweeping::{ended, reason};

/// The runs of a fork in its folder.
pub struct ForkRuns<'a> {
    pub folder: &'a ForkFolder,
    pub plan: &'a ForkPlan,
    pub parent: &'a Experiment,
    pub shared: &'a SharedPart,
    /// The answers of the parent's own calls after the point.
    pub recorded: &'a RecordedReplies,
    pub runs: &'a ManyRuns,
}

/// The arms, in the order in which their runs are made.
pub const ARMS: [ForkArm; 2] = [ForkArm::Unchanged, ForkArm::Treated];

/// The runs of a fork that have ended.
#[derive(Default)]
pub struct ReadFork {
    pub replicates: Vec<Replicate>,
    pub unreadable: Vec<UnreadableRun>,
    /// The runs that a rule ended before their first call after the point, with the rule.
    pub stopped: Vec<(ForkArm, &'static str)>,
}

/// A run of an arm.
#[derive(Debug, Clone, Copy)]
pub struct RunOfArm {
    pub arm: ForkArm,
    pub replicate: u32,
}

impl ForkRuns<'_> {
    /// Begins or continues a run.
    pub fn open(
        &self,
        run: RunOfArm,
        session: &Session,
    ) -> Result<(OpenedRun, ExperimentLock), Failure> {
        let RunOfArm { arm, replicate } = run;
        let experiment = self.folder.prepare(self.parent, arm, replicate);
        let experiment = experiment.map_err(fork_failure)?;
        let lock = experiment.lock(process::id()).map_err(failure)?;
        let is_parent = arm == ForkArm::Unchanged && replicate == 0;
        let recorded = is_parent.then_some(self.recorded);
        if let Some(begun) = experiment.begun_as_fork().map_err(failure)? {
            let opened = self.runs.resumed(&experiment, begun, recorded, session)?;
            return Ok((opened, lock));
        }
        let changes = match arm {
            ForkArm::Unchanged => &[][..],
            ForkArm::Treated => &self.plan.changes,
        };
        let settings = settings_after(self.shared, changes, self.plan.max_rounds)?;
        let journal = self.parent.journal();
        let population = self.runs.population(&settings, &journal, session)?;
        let (mind, _) = population.mind(&settings)?;
        let mind = with_recorded(mind, recorded);
        let seed = fork_seed(self.shared.run.state.settings().seed, replicate);
        let settings = settings.with(|settings| settings.seed = seed);
        let mut effective = Effective::new(settings, SOFTWARE);
        let start = &self.shared.run.start.effective;
        effective.config_sha256.clone_from(&start.config_sha256);
        effective.init_sha256.clone_from(&start.init_sha256);
        experiment.write_effective(&effective).map_err(failure)?;
        let shared = &self.shared.run;
        let opening = MemJournal::resumed(&self.shared.bytes, shared.lines, &shared.chain);
        let id = run_id(&self.runs.clock, false)?;
        let forked = Forked::new(id, arm, replicate, self.plan.max_rounds);
        let (clock, control) = (self.runs.clock.clone(), self.runs.control_of(&population));
        let mut run = Orchestrator::fork(shared.clone(), forked, mind, opening, clock, control)?;
        run.intervene_all(changes.to_vec())?;
        // The opening is written as a whole, so a killed process leaves a fork with its changes or none.
        let run = run.in_journal(|opening| -> Result<_, Failure> {
            experiment.write_journal(&opening.bytes).map_err(failure)?;
            let (journal, spool) = (experiment.journal(), experiment.spool());
            let durability = effective.settings.durability;
            let (lines, chain) = (opening.lines(), opening.chain().to_owned());
            Ok(FileJournal::open(
                &journal, &spool, durability, lines, chain,
            )?)
        })?;
        Ok((OpenedRun::Open(Box::new(run)), lock))
    }

    /// Reads the runs that have ended.
    pub fn read(&self) -> ReadFork {
        let mut read = ReadFork::default();
        for replicate in 0..self.plan.replicates {
            let [control, treated] =
                ARMS.map(|arm| self.read_run(RunOfArm { arm, replicate }, &mut read));
            if let (Some(control), Some(treated)) = (control, treated) {
                read.replicates.push(Replicate { control, treated });
            }
        }
        read
    }

    fn read_run(&self, run: RunOfArm, read: &mut ReadFork) -> Option<Transcript> {
        let path = self.folder.run(run.arm, run.replicate);
        match ended(&path, Experiment::begun_as_fork) {
            Ok(found) => {
                let (begun, transcript) = found?;
                let (state, own) = (&begun.state, begun.state.own_totals());
                if let Some(rule) = state.stop_reason(state.settings())
                    && own.calls + own.errors == 0
                {
                    read.stopped.push((run.arm, rule));
                }
                Some(transcript)
            }
            Err(failure) => {
                let name = path.strip_prefix(self.folder.path()).unwrap_or(&path);
                let unreadable = UnreadableRun::new(shown(name), reason(&failure));
                read.unreadable.push(unreadable);
                None
            }
        }
    }

    /// Checks that the runs that have begun are those of their arms and replicates. Nothing is written.
    pub fn check(folder: &ForkFolder, plan: &ForkPlan, shared: &SharedPart) -> Result<(), Failure> {
        folder.check_plan(plan).map_err(fork_failure)?;
        for replicate in 0..plan.replicates {
            for arm in ARMS {
                let checked = folder.check(plan, shared, arm, replicate);
                checked.map_err(fork_failure)?;
            }
        }
        Ok(())
    }

    /// Returns the name of a run for messages.
    pub fn name(&self, run: RunOfArm) -> String {
        shown(&self.folder.run(run.arm, run.replicate))
    }
}

/// Returns the settings of a fork after these changes.
fn settings_after(
    shared: &SharedPart,
    changes: &[InterventionChange],
    max_rounds: u32,
) -> Result<Settings, Failure> {
    let mut state = shared.run.state.clone();
    for change in changes {
        let event = state.intervention(change.clone());
        let event = logosphere_core::journal::Event::Intervention(Box::new(event));
        state.apply(&event).map_err(Failure::usage)?;
    }
    let settings = state.settings().clone();
    let settings = settings.with(|settings| settings.max_rounds = max_rounds);
    settings.validate().map_err(Failure::usage)?;
    Ok(settings)
}

/// Returns the failure of a fork, with the exit code of a usage error if the input is wrong.
pub fn fork_failure(error: ForkError) -> Failure {
    if error.is_other_run() {
        Failure::new(Exit::CheckFailed, error)
    } else if error.is_usage() {
        Failure::usage(error)
    } else {
        error.into()
    }
}
