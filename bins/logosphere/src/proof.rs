//! The verification of a journal, and its result as text or JSON.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use bin_support::{Exit, Failure, Session, escape};
use logosphere_core::verify::leak::Finding;
use logosphere_core::verify::legacy_log::{LegacyReport, verify_legacy};
use logosphere_core::verify::{VerifyReport, verify};

use crate::error::Error;
use crate::journal_file::{does_not_hold, open};
use crate::leaks;

/// Verifies the journal of an experiment and prints the result. `expected` is the head that it must have.
pub fn check(
    given: &Path,
    expected: Option<&str>,
    json: bool,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let report = verify(open(given)?).map_err(|error| does_not_hold(given, error))?;
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
    let VerifyReport {
        lines,
        rounds,
        calls,
        messages,
        ended,
        head,
        last_seq,
        ..
    } = report;
    if let Some(expected) = expected.filter(|expected| *expected != head) {
        let expected = expected.to_owned();
        let error = Error::OtherHead {
            expected,
            head,
            last_seq,
        };
        return Err(Failure::new(Exit::CheckFailed, error));
    }
    let leaks = leaks::of_start(given)?;
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
    report.print(json, session)
}

/// Verifies a journal of the Python program of 2026-01-02 and prints the result.
pub fn check_old(
    given: &Path,
    init: &Path,
    json: bool,
    session: &mut Session,
) -> Result<Exit, Failure> {
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
        ..
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

/// The result of a journal that verifies.
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
    /// The leaks in the first event.
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
                "equal, but minds received more than messages"
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
