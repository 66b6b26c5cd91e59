//! Results as JSON, in a file or on stdout.

use std::io::{self, Write};

use bin_support::{Failure, Output, OutputTarget, Session};
use serde::Serialize;
use zer0gravity_engine::ExperimentResult;
use zer0gravity_engine::report::RunCost;

use crate::summary::Summary;

/// An object with the version of its form.
#[derive(Serialize)]
pub struct Versioned<T> {
    schema_version: u32,
    #[serde(flatten)]
    object: T,
}

impl<T: Serialize> Versioned<T> {
    pub fn new(object: T) -> Self {
        Self {
            schema_version: 1,
            object,
        }
    }
}

/// Writes `value` as JSON to a file, or to stdout; to stdout also where the file takes it no more.
pub fn json(output: Output, value: &impl Serialize, session: &mut Session) -> Result<(), Failure> {
    let file = match output {
        Output::Stdout => return Ok(session.results.json(value)?),
        Output::File(file) => file,
    };
    if let Err(error) = file.finish(|file| pretty(value, file)) {
        // What was paid for is not lost with a full disk.
        session.results.json(value)?;
        return Err(error.into());
    }
    Ok(())
}

/// The destinations of the results of `run` and `score`, and of their summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// The results as JSON to stdout or a file, the summary to stderr.
    Json,
    /// The summary goes to stdout, which a person reads.
    Summary,
}

impl Show {
    /// Reads the flags; without one, a terminal gets the summary and a pipe the results.
    pub fn of(json: bool, output: Option<&OutputTarget>, session: &Session) -> Self {
        Self::choose(json || output.is_some(), session.results.is_terminal())
    }

    fn choose(asked_for: bool, terminal: bool) -> Self {
        if terminal && !asked_for {
            Self::Summary
        } else {
            Self::Json
        }
    }
}

/// Writes the results, or the summary in their place, and the summary to stderr unless it is not wanted.
pub fn results(
    show: Show,
    output: Output,
    results: &[ExperimentResult],
    spent: Option<&RunCost>,
    summary: &Summary,
    quiet: bool,
    session: &mut Session,
) -> Result<(), Failure> {
    if show == Show::Summary {
        let text = summary.text(results, spent);
        session.results.write_all(text.as_bytes())?;
        session.status("results as JSON: --json or -o FILE");
        return Ok(());
    }
    json(output, &results, session)?;
    if !quiet {
        summary.print(results, spent);
    }
    Ok(())
}

/// Two spaces a level, and a newline at the end.
fn pretty(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z35_a_terminal_gets_the_summary_unless_json_is_asked_for() {
        for (asked_for, terminal, shown) in [
            (false, true, Show::Summary),
            (true, true, Show::Json),
            (false, false, Show::Json),
            (true, false, Show::Json),
        ] {
            assert_eq!(Show::choose(asked_for, terminal), shown);
        }
    }
}
