//! Commands that need nothing but a journal: replay, verify, diff.

use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, OutputFile, Session, printable};
use logosphere_core::{
    Comparison, ReplayError, ReplayReport, compare, replay as replay_journal, replay_to,
};

use crate::cli;
use crate::error::Error;

/// The journal that is meant: a file, or that of an experiment's directory.
pub fn path(given: &Path) -> PathBuf {
    if given.is_dir() {
        given.join("logs/experiment.jsonl")
    } else {
        given.to_owned()
    }
}

/// Opens a journal for reading.
pub fn open(given: &Path) -> Result<BufReader<File>, Failure> {
    let path = path(given);
    let file = File::open(&path).map_err(|source| Failure::usage(Error::Read { path, source }))?;
    Ok(BufReader::new(file))
}

pub fn replay(args: &cli::Replay, session: &mut Session) -> Result<Exit, Failure> {
    let journal = open(&args.journal)?;
    let replayed = match &args.out {
        None => replay_journal(journal),
        Some(out) => {
            let output = OutputFile::begin_beside(out, [path(&args.journal)])?;
            let mut replayed = Ok(ReplayReport::default());
            // What was made anew is kept all the same: it shows where the two part.
            output.finish(|file| {
                replayed = replay_to(journal, file);
                Ok(())
            })?;
            replayed
        }
    };
    match replayed {
        Ok(report) => {
            writeln!(
                session.results,
                "equal: {} lines, byte for byte",
                report.lines
            )?;
            Ok(Exit::Done)
        }
        Err(error) => Err(does_not_hold(error)),
    }
}

/// A journal that cannot be read is a failure, one that says something else a check that did not hold.
pub fn does_not_hold(error: ReplayError) -> Failure {
    match error {
        ReplayError::Write(_) => error.into(),
        error => Failure::new(Exit::CheckFailed, error),
    }
}

pub fn verify(args: &cli::Verify, session: &mut Session) -> Result<Exit, Failure> {
    let report = replay_journal(open(&args.journal)?).map_err(does_not_hold)?;
    for line in &report.back_in_time {
        session.notice(&format!(
            "line {line}: earlier than the line before it; a clock was set back"
        ));
    }
    for line in &report.unknown {
        session.notice(&format!(
            "line {line}: of a type that this version does not know; only its chain was checked"
        ));
    }
    if args.json {
        let ReplayReport {
            lines,
            rounds,
            calls,
            messages,
            ended,
            ..
        } = report;
        let report = serde_json::json!({
            "holds": true, "lines": lines, "rounds": rounds, "calls": calls, "messages": messages, "ended": ended,
        });
        writeln!(session.results, "{report}")?;
    } else {
        writeln!(
            session.results,
            "holds: {} lines, {} rounds, {} calls, {} messages{}",
            report.lines,
            report.rounds,
            report.calls,
            report.messages,
            if report.ended {
                ""
            } else {
                "; the run has not ended"
            }
        )?;
    }
    Ok(Exit::Done)
}

pub fn diff(args: &cli::Diff, session: &mut Session) -> Result<Exit, Failure> {
    let sides = [&args.left, &args.right];
    let compared = compare(open(sides[0])?, open(sides[1])?).map_err(|(side, source)| {
        let path = path(sides[side]);
        Failure::new(Exit::CheckFailed, Error::Journal { path, source })
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
                printable(&difference.field)
            )?;
            for (side, (line, value)) in sides
                .into_iter()
                .zip(difference.lines.into_iter().zip(&difference.values))
            {
                let line = line.map_or("at its end".to_owned(), |line| format!("line {line}"));
                let side = printable(&side.display().to_string());
                writeln!(session.results, "  {side}, {line}: {}", printable(value))?;
            }
            Ok(Exit::CheckFailed)
        }
    }
}
