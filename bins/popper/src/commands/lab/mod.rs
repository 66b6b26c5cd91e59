//! The command `popper lab`: explanations of a sealed universe, and their score.

mod new;
mod play;
mod score;
mod table;

use bin_support::{Exit, Failure, Session};

use crate::examples;

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
