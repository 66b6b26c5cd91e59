//! `run`: begins a run in an experiment's directory.

use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, Session};

use crate::begin::{RunTarget, run_in};
use crate::estimate;
use crate::flags::RunFlags;
use crate::subject::look_up;

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The experiment's directory.
    #[arg(value_name = "EXP", conflicts_with = "output_dir")]
    pub experiment: Option<PathBuf>,
    #[command(flatten)]
    pub flags: RunFlags,
}

impl RunArgs {
    /// Returns the directory, whether it is given as an argument or as a flag.
    pub fn directory(&self) -> Option<&PathBuf> {
        self.experiment.as_ref().or(self.flags.output_dir.as_ref())
    }
}

pub fn execute(
    directory: Option<&Path>,
    flags: &RunFlags,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let directory = match directory {
        Some(path) if flags.output_dir.is_none() => Some(look_up(path)?),
        other => other.map(Path::to_owned),
    };
    let directory = directory.as_deref();
    if flags.dry_run {
        return estimate::dry_run(directory, &flags.settings, session);
    }
    let place = match directory {
        // Named as an experiment it has its seeds; named as a place for one it is given what it lacks.
        Some(path) if flags.output_dir.is_none() => RunTarget::Experiment(path),
        Some(path) => RunTarget::Directory(path),
        None => RunTarget::New("run"),
    };
    run_in(place, flags, session).map(|(exit, _)| exit)
}
