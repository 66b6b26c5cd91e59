//! The verification of a journal, and its result as text or JSON.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use bin_support::{Exit, Failure, OutputTarget, Session, escape};
use logosphere_core::verify::leak::Finding;
use logosphere_core::verify::{VerifyReport, verify, verify_to};

use crate::error::Error;
use crate::journal_file::{does_not_hold, kept, open};
use crate::leaks;

/// The wishes of the user besides the result.
#[derive(Clone, Copy, Default)]
pub struct Expected<'a> {
    /// The head that the journal must have.
    pub head: Option<&'a str>,
    /// The file for the rebuilt journal.
    pub rebuilt: Option<&'a OutputTarget>,
}

/// Verifies the journal of an experiment and prints the result.
pub fn check(
    given: &Path,
    expected: Expected<'_>,
    json: bool,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let report = verified(given, expected.rebuilt, session)?;
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
    if let Some(expected) = expected.head.filter(|expected| *expected != head) {
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
        schema_version: 1,
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
    // The rebuilt journal alone is on stdout.
    if matches!(expected.rebuilt, Some(OutputTarget::Stdout)) {
        session.status(report.text().trim_end());
        return Ok(report.exit());
    }
    report.print(json, session)
}

/// Verifies the journal of an experiment, and prints nothing.
pub fn proven(given: &Path, session: &mut Session) -> Result<VerifyReport, Failure> {
    verified(given, None, session)
}

/// Verifies a journal, and writes the rebuilt one to a file.
fn verified(
    given: &Path,
    rebuilt: Option<&OutputTarget>,
    session: &mut Session,
) -> Result<VerifyReport, Failure> {
    let journal = open(given)?;
    let report = match rebuilt {
        None => verify(journal),
        Some(out) => {
            let output = out.begin(kept(given))?;
            let mut report = Ok(VerifyReport::default());
            // The rebuilt part is kept even if it differs: it shows the first difference.
            output.finish(session, |out| {
                report = verify_to(journal, out);
                Ok(())
            })?;
            report
        }
    };
    report.map_err(|error| does_not_hold(given, error))
}

/// The result of a journal that verifies.
#[derive(serde::Serialize)]
struct Verified {
    schema_version: u32,
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
    fn exit(&self) -> Exit {
        if self.holds {
            Exit::Done
        } else {
            Exit::CheckFailed
        }
    }

    fn print(&self, json: bool, session: &mut Session) -> Result<Exit, Failure> {
        if json {
            session.results.json_line(self)?;
        } else {
            session.results.write_all(self.text().as_bytes())?;
        }
        Ok(self.exit())
    }

    /// Returns the result in lines.
    fn text(&self) -> String {
        let mut text = String::new();
        for leak in &self.leaks {
            let _ = writeln!(text, "{}", escape(&leak.to_string()));
        }
        let verdict = if self.holds {
            "holds"
        } else {
            "equal, but minds received more than messages"
        };
        let rest = if self.ended {
            ""
        } else {
            "; the run has not ended"
        };
        let Self {
            lines,
            rounds,
            calls,
            messages,
            ..
        } = self;
        let _ = writeln!(
            text,
            "{verdict}: {lines} lines, {rounds} rounds, {calls} calls, {messages} messages{rest}"
        );
        if let (Some(head), Some(seq)) = (&self.head, self.last_seq) {
            let _ = writeln!(text, "head {head} (seq {seq})");
        }
        text
    }
}
