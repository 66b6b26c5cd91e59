//! The command `popper lab play`.

use std::io::{self, BufRead, Read as _, Write as _};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, SeedFlag, Session};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use popper_discovery::lab::{Baseline, LONGEST_LINE};

use super::table;
use crate::episode::{RecordedEpisode, sealed};
use crate::error::Error;
use crate::input::{name, shell_word};

#[derive(Debug, clap::Args)]
pub struct LabPlayArgs {
    /// Sealed file of `popper lab new`; players must not be able to read it.
    #[arg(value_name = "NAME.sealed.json")]
    pub sealed: PathBuf,
    /// File for the record of the episode, which must be new.
    ///
    /// A line and its answer are in it before the answer is on stdout, so it has every answer that a player has seen, whatever ends
    /// the program.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Continue the episode of --log, which has no end yet.
    #[arg(long, requires = "log", conflicts_with = "baseline")]
    pub resume: bool,
    /// Shipped player that plays instead of stdin: random, enumerative or version-space.
    #[arg(long, value_name = "PLAYER", value_parser = baselines(), hide_possible_values = true)]
    pub baseline: Option<Baseline>,
    #[command(flatten)]
    pub seed: SeedFlag,
    /// Print the score of --baseline as JSON on one line.
    #[arg(long, requires = "baseline")]
    pub json: bool,
}

fn baselines() -> impl TypedValueParser<Value = Baseline> {
    let names = Baseline::ALL.map(Baseline::name);
    PossibleValuesParser::new(names).map(|name| {
        let named = |baseline: &Baseline| baseline.name() == name;
        let found = Baseline::ALL.into_iter().find(named);
        found.unwrap_or(Baseline::Random)
    })
}

pub fn execute(args: &LabPlayArgs, session: &mut Session) -> Result<Exit, Failure> {
    let sealed = sealed(&args.sealed)?;
    let mut played = match &args.log {
        Some(path) if args.resume => {
            let resumed = RecordedEpisode::resume(path, sealed)?;
            if resumed.episode().is_ended() {
                let message = "the episode has ended; `popper lab score` scores it";
                return Err(Failure::usage(Error::unfit(&name(path), message)));
            }
            let left = resumed.episode().left();
            session.status(&format!("continuing with {left} cells left"));
            resumed
        }
        Some(path) => RecordedEpisode::begin(path, sealed)?,
        None => RecordedEpisode::without_log(sealed),
    };
    if let Some(baseline) = args.baseline {
        let contract = played.episode().contract().clone();
        baseline.play(&contract, args.seed.seed, &mut |line| {
            played.line(line.as_bytes()).map(|answer| answer.line)
        })?;
        table::print(&played.episode().score(), args.json, session)?;
    } else {
        serve(&mut played, session)?;
    }
    if let Some(path) = &args.log {
        next_step(path, &args.sealed, played.episode().is_ended(), session);
    }
    Ok(Exit::Done)
}

/// Names the command that continues or scores the episode.
fn next_step(log: &Path, sealed: &Path, is_ended: bool, session: &Session) {
    let (log, sealed) = (shell_word(log), shell_word(sealed));
    if is_ended {
        session.status(&format!("next: popper lab score {log} --sealed {sealed}"));
    } else {
        session.status(&format!(
            "the episode has no end; continue: popper lab play {sealed} --log {log} --resume"
        ));
    }
}

/// Answers the lines of stdin until its end.
fn serve(played: &mut RecordedEpisode, session: &mut Session) -> Result<(), Failure> {
    let mut lines = io::stdin().lock();
    say(&played.episode().contract().line(), session)?;
    let failed = |source| {
        Failure::usage(Error::Read {
            name: "stdin".to_owned(),
            source,
        })
    };
    while let Some(line) = next_line(&mut lines).map_err(failed)? {
        say(&played.line(&line)?.line, session)?;
    }
    Ok(())
}

fn say(line: &str, session: &mut Session) -> Result<(), Failure> {
    writeln!(session.results.untrusted(), "{line}")?;
    // The player waits for the answer.
    Ok(session.results.flush()?)
}

/// The next line without its end. Of a line that is too long one byte more than the limit is kept, so that the episode refuses it.
fn next_line(lines: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = LONGEST_LINE as u64 + 2;
    let length = lines.by_ref().take(most).read_until(b'\n', &mut line)?;
    if length == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
        if line.ends_with(b"\r") {
            line.pop();
        }
    } else if length as u64 == most {
        lines.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_kept_up_to_the_limit_and_the_next_one_is_whole() {
        let long = "x".repeat(LONGEST_LINE + 40);
        let text = format!("a\r\n{long}\n\n{}\nb", "y".repeat(LONGEST_LINE));
        let mut input = text.as_bytes();
        let mut lengths = Vec::new();
        while let Some(line) = next_line(&mut input).unwrap() {
            lengths.push(line.len());
        }
        assert_eq!(lengths, [1, LONGEST_LINE + 2, 0, LONGEST_LINE, 1]);
    }
}
