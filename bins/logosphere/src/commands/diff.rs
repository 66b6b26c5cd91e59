//! `diff`: compares what happened in two runs.

use std::io::Write as _;
use std::path::PathBuf;

use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::verify::{Comparison, compare};

use crate::error::Error;
use crate::journal_file::{exit_of, open, path};
use crate::subject::look_up;

#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// A journal, or an experiment's directory or name.
    #[arg(value_name = "A")]
    pub left: PathBuf,
    /// The journal to compare it with.
    #[arg(value_name = "B")]
    pub right: PathBuf,
}

pub fn execute(args: &DiffArgs, session: &mut Session) -> Result<Exit, Failure> {
    let sides = [look_up(&args.left)?, look_up(&args.right)?];
    let compared = compare(open(&sides[0])?, open(&sides[1])?).map_err(|(side, source)| {
        let path = path(&sides[side]);
        Failure::new(exit_of(&source), Error::Journal { path, source })
    })?;
    match compared {
        Comparison::Equal(events) => {
            writeln!(session.results, "equal: {events} events")?;
            Ok(Exit::Done)
        }
        Comparison::Different(difference) => {
            writeln!(
                session.results,
                "different in {}",
                escape(&difference.field)
            )?;
            for (side, (line, value)) in sides
                .iter()
                .zip(difference.lines.into_iter().zip(&difference.values))
            {
                let line = line.map_or("at its end".to_owned(), |line| format!("line {line}"));
                let side = escape(&side.display().to_string());
                writeln!(session.results, "  {side}, {line}: {}", escape(value))?;
            }
            Ok(Exit::CheckFailed)
        }
    }
}
