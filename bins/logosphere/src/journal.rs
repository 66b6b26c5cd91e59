//! Commands that need nothing but a journal: replay, verify, diff.

use std::fs::{self, File};
use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};

use bin_support::{Exit, Failure, OutputTarget, Session, escape};
use logosphere_core::experiment::Experiment;
use logosphere_core::journal::ReadError;
use logosphere_core::verify::leak::Finding;
use logosphere_core::verify::legacy_log::{LegacyReport, verify_legacy};
use logosphere_core::verify::{
    Comparison, ReplayError, ReplayReport, compare, replay as replay_journal, replay_to,
};

use crate::error::Error;
use crate::subject::look_up;
use crate::{args, leak};

/// The journal that is meant: a file, or that of an experiment's directory.
pub fn path(given: &Path) -> PathBuf {
    Experiment::journal_at(given)
}

/// Whether it is a device such as `/dev/zero`: a journal ends.
fn is_endless(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        std::fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// What an output of a command on this journal must not replace: the journal, and everything else that its experiment
/// cannot make again.
pub fn kept(given: &Path) -> Vec<PathBuf> {
    let journal = path(given);
    let experiment = (journal.ends_with("logs/experiment.jsonl"))
        .then(|| journal.parent()?.parent())
        .flatten()
        .and_then(|path| Experiment::open(path).ok());
    let files = experiment.into_iter().flat_map(|experiment| {
        let report = experiment.report();
        experiment
            .files()
            .into_iter()
            .filter(move |file| *file != report)
    });
    let mut kept: Vec<_> = files.collect();
    kept.push(journal);
    kept
}

/// Opens a journal for reading.
pub fn open(given: &Path) -> Result<BufReader<File>, Failure> {
    let path = path(given);
    if is_endless(&path) {
        return Err(Failure::usage(Error::Device { path }));
    }
    let file = File::open(&path).map_err(|source| Failure::usage(Error::Read { path, source }))?;
    Ok(BufReader::new(file))
}

pub fn replay(args: &args::Replay, session: &mut Session) -> Result<Exit, Failure> {
    let given = args.subject.find(session)?;
    let journal = open(&given)?;
    let replayed = match &args.out {
        None => replay_journal(journal),
        Some(out) => {
            let output = out.begin(kept(&given))?;
            let mut replayed = Ok(ReplayReport::default());
            // What was made anew is kept all the same: it shows where the two part.
            output.finish(session, |out| {
                replayed = replay_to(journal, out);
                Ok(())
            })?;
            replayed
        }
    };
    match replayed {
        Ok(report) => {
            let equal = format!("equal: {} lines, byte for byte", report.lines);
            match args.out {
                // The journal alone is on stdout.
                Some(OutputTarget::Stdout) => session.status(&equal),
                _ => writeln!(session.results, "{equal}")?,
            }
            Ok(Exit::Done)
        }
        Err(error) => Err(does_not_hold(&given, error)),
    }
}

/// A file that cannot be read is a failure, a journal that says something else a check that did not hold.
pub fn does_not_hold(given: &Path, source: ReplayError) -> Failure {
    let exit = match &source {
        ReplayError::Write(_) => Exit::Failed,
        ReplayError::Read(error) => exit_of(error),
        _ => Exit::CheckFailed,
    };
    let path = path(given);
    Failure::new(exit, Error::Replay { path, source })
}

/// A file that cannot be read is a failure, one of another program a wrong input, a damaged one a check that did not hold.
pub fn exit_of(error: &ReadError) -> Exit {
    match error {
        ReadError::Io { .. } => Exit::Failed,
        error if error.is_foreign() => Exit::Usage,
        _ => Exit::CheckFailed,
    }
}

pub fn verify(args: &args::Verify, session: &mut Session) -> Result<Exit, Failure> {
    let given = args.subject.find(session)?;
    if let (true, Some(init)) = (args.legacy, &args.init) {
        return legacy(&given, args.json, init, session);
    }
    let report = replay_journal(open(&given)?).map_err(|error| does_not_hold(&given, error))?;
    for line in &report.back_in_time {
        session.warn(&format!(
            "line {line}: earlier than the line before it; a clock was set back"
        ));
    }
    for line in &report.unknown {
        session.warn(&format!(
            "line {line}: of a type that this version does not know; only its chain was checked"
        ));
    }
    let ReplayReport {
        lines,
        rounds,
        calls,
        messages,
        ended,
        head,
        last_seq,
        ..
    } = report;
    if let Some(expected) = args.expect_head.as_ref().filter(|hex| **hex != head) {
        let expected = expected.clone();
        let error = Error::OtherHead {
            expected,
            head,
            last_seq,
        };
        return Err(Failure::new(Exit::CheckFailed, error));
    }
    let leaks = leak::of_start(&given)?;
    let report = Verified {
        holds: leaks.is_empty(),
        lines,
        rounds,
        calls,
        messages,
        ended,
        head: Some(head),
        last_seq: Some(last_seq),
        leaks,
    };
    report.print(args.json, session)
}

/// A journal of the program of 2026-01-02.
fn legacy(given: &Path, json: bool, init: &Path, session: &mut Session) -> Result<Exit, Failure> {
    let journal = open(given)?;
    let path = init.to_owned();
    let init =
        fs::read_to_string(init).map_err(|source| Failure::usage(Error::Read { path, source }))?;
    let report =
        verify_legacy(journal, &init).map_err(|error| Failure::new(Exit::CheckFailed, error))?;
    let LegacyReport {
        lines,
        rounds,
        calls,
        messages,
        ended,
    } = report;
    let report = Verified {
        holds: true,
        lines,
        rounds,
        calls,
        messages,
        ended,
        head: None,
        last_seq: None,
        leaks: Vec::new(),
    };
    report.print(json, session)
}

/// What a check says of a journal that is what its run must have written.
#[derive(serde::Serialize)]
struct Verified {
    holds: bool,
    lines: u64,
    rounds: u32,
    calls: u64,
    messages: u64,
    ended: bool,
    /// The chain of the last line and its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_seq: Option<u64>,
    /// What minds were told besides messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leaks: Vec<Finding>,
}

impl Verified {
    fn print(&self, json: bool, session: &mut Session) -> Result<Exit, Failure> {
        if json {
            serde_json::to_writer(&mut session.results, self)?;
            writeln!(session.results)?;
        } else {
            let Self {
                lines,
                rounds,
                calls,
                messages,
                ended,
                leaks,
                ..
            } = self;
            let rest = if *ended {
                ""
            } else {
                "; the run has not ended"
            };
            for leak in leaks {
                writeln!(session.results, "{}", escape(&leak.to_string()))?;
            }
            let verdict = if self.holds {
                "holds"
            } else {
                "equal, but minds were told more than messages"
            };
            writeln!(
                session.results,
                "{verdict}: {lines} lines, {rounds} rounds, {calls} calls, {messages} messages{rest}"
            )?;
            if let (Some(head), Some(seq)) = (&self.head, self.last_seq) {
                writeln!(session.results, "head {head} (seq {seq})")?;
            }
        }
        Ok(if self.holds {
            Exit::Done
        } else {
            Exit::CheckFailed
        })
    }
}

pub fn diff(args: &args::Diff, session: &mut Session) -> Result<Exit, Failure> {
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
