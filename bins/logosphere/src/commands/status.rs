//! `status`: prints how far a run has come.

use bin_support::runs::RunArg;
use bin_support::{Exit, Failure, Session};
use logosphere_core::experiment::Experiment;
use logosphere_core::verify::ResumedRun;

use crate::folders;
use crate::journal_file;
use crate::setup::{failure, shown};
use crate::status::{RunPhase, RunStatus, StatusForm, is_in_use};

#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub run: RunArg,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &StatusArgs, session: &mut Session) -> Result<Exit, Failure> {
    let experiment = Experiment::open(&folders::recorded(&args.run, session)?).map_err(failure)?;
    let (journal, is_in_use) = (experiment.journal(), is_in_use(&experiment));
    let run = ResumedRun::open(&journal, &experiment.spool())
        .map_err(|error| journal_file::not_resumable(error, &journal))?;
    let phase = RunPhase::of(&run.state, is_in_use);
    let status = RunStatus::new(experiment.path(), &journal, &run.state, phase);
    status.print(StatusForm::of(args.json), session)?;
    let directory = shown(experiment.path());
    session.status(&match phase {
        RunPhase::Running => format!("next: logosphere report {directory} --watch"),
        RunPhase::Stopped => format!("next: logosphere resume {directory}"),
        RunPhase::Ended => format!("next: logosphere report {directory}"),
    });
    Ok(Exit::Done)
}
