//! The command `popper lab score`.

use std::path::PathBuf;

use bin_support::{Exit, Failure, Session};
use popper_discovery::lab::{EpisodeLog, LabContract, LabError};

use super::table;
use crate::episode::{failure, sealed};
use crate::error::Error;
use crate::input::{Text, bytes, name};

#[derive(Debug, clap::Args)]
pub struct LabScoreArgs {
    /// Log of `popper lab play`; - for stdin.
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// Sealed file of the universe.
    #[arg(long, value_name = "FILE")]
    pub sealed: PathBuf,
    /// Public file that the sealed file must belong to, where the log is not your own.
    #[arg(long, value_name = "FILE")]
    pub public: Option<PathBuf>,
    /// Print the score as JSON on one line: the bytes of the answer to `end`.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &LabScoreArgs, session: &mut Session) -> Result<Exit, Failure> {
    let universe = sealed(&args.sealed)?;
    if let Some(path) = &args.public {
        let file = Text::read(path).map_err(Failure::usage)?;
        let contract: LabContract = file.json().map_err(Failure::usage)?;
        universe
            .check(&contract, "the public file")
            .map_err(|error| failure(&file.name, &error))?;
    }
    let (name, bytes) = (name(&args.log), bytes(&args.log).map_err(Failure::usage)?);
    let log = EpisodeLog::read(bytes).map_err(|error| failure(&name, &error))?;
    let episode = log.replay(universe).map_err(|error| match error {
        // The log was read; an answer in it is not what the universe gives.
        LabError::Log { .. } => Failure::new(Exit::CheckFailed, Error::unfit(&name, error)),
        error => failure(&name, &error),
    })?;
    table::print(&episode.score(), args.json, session)?;
    Ok(Exit::Done)
}
