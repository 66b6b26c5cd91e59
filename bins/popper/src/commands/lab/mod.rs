//! The command `popper lab`: explanations of a sealed universe, and their score.

mod new;
mod play;
mod score;
mod table;

use std::path::Path;

use bin_support::{Exit, Failure, Session};
use popper_discovery::lab::{LabError, SealedUniverse};

use crate::error::Error;
use crate::examples;
use crate::input::{Text, name};

#[derive(Debug, clap::Subcommand)]
pub enum LabArgs {
    /// Draw a universe and seal it
    ///
    /// Writes NAME.public.json, which players may see, and NAME.sealed.json, which they may not. stdout gets the commitment: the
    /// sha256 of tier, salt and definition that the public file has, too.
    #[command(after_help = examples::LAB_NEW)]
    New(new::LabNewArgs),
    /// Play an episode: JSON lines on stdin and stdout
    ///
    /// The first line of stdout is the public file on one line. Then each line of stdin gets one line:
    /// {"experiment": {"start": "..", "steps": k}}, {"predict": [{"id": "q01.4", "state": ".."}]}, {"laws": [..]} or {"end": true}. With
    /// --baseline a shipped player plays, and stdout gets the score.
    #[command(after_help = examples::LAB_PLAY)]
    Play(play::LabPlayArgs),
    /// Score the log of an episode
    ///
    /// The log is played again in the sealed universe. Exit code 4 if the sealed file is not that of the log, or if the log was
    /// edited. The log of an episode without an end is scored as it is.
    #[command(after_help = examples::LAB_SCORE)]
    Score(score::LabScoreArgs),
}

pub fn execute(command: &LabArgs, session: &mut Session) -> Result<Exit, Failure> {
    match command {
        LabArgs::New(args) => new::execute(args, session),
        LabArgs::Play(args) => play::execute(args, session),
        LabArgs::Score(args) => score::execute(args, session),
    }
}

/// Reads a sealed file.
fn sealed(path: &Path) -> Result<SealedUniverse, Failure> {
    let file = Text::read(path).map_err(Failure::usage)?;
    SealedUniverse::from_json(&file.text).map_err(|error| failure(&file.name, &error))
}

/// An error about a file of the lab: exit code 4 for files that do not belong together, 2 for files that cannot be read.
fn failure(name: &str, error: &LabError) -> Failure {
    let exit = match error {
        LabError::Mismatch { .. } | LabError::Edited { .. } => Exit::CheckFailed,
        _ => Exit::Usage,
    };
    Failure::new(exit, Error::unfit(name, error))
}

/// The error for a file that must be new.
fn exists(path: &Path) -> Failure {
    Failure::usage(Error::LabFileExists { name: name(path) })
}
