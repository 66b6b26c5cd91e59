//! `run`: begins a run in an experiment's directory.

use bin_support::{Exit, Failure, Session};

use crate::begin::{RunTarget, run_in};
use crate::estimate;
use crate::flags::{ExperimentArg, RunFlags};
use crate::status::StatusForm;

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub experiment: ExperimentArg,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Print an estimate of the run instead: the command `estimate` of an earlier release.
    #[arg(long, hide = true)]
    pub dry_run: bool,
    #[command(flatten)]
    pub flags: RunFlags,
}

pub fn execute(args: &RunArgs, session: &mut Session) -> Result<Exit, Failure> {
    let flags = &args.flags;
    let directory = args.experiment.directory(flags, session)?;
    if args.dry_run {
        let directory = directory.as_deref();
        let estimate = estimate::of_run(directory, &flags.settings, None, session)?;
        return estimate.print(args.json, session);
    }
    let place = match &directory {
        // Named as an experiment it has its seeds; named as a place for one it is given what it lacks.
        Some(path) if flags.output_dir.is_none() => RunTarget::Experiment(path),
        Some(path) => RunTarget::Directory(path),
        None => RunTarget::New("run"),
    };
    let form = StatusForm::of(args.json);
    run_in(place, flags, form, session).map(|(exit, _)| exit)
}
