use std::fmt::{self, Write as _};
use std::io;

use super::message::quoted;
use super::old_journal::OldJournalError;
use crate::verify::Exposure;

/// The number of bad messages or columns that an error names.
const NAMED: usize = 20;

/// The error of an import.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A file cannot be read.
    #[error("{file}: cannot be read")]
    Read {
        /// The name of the file.
        file: String,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// A CSV file lacks a column, or has two with this name.
    #[error(
        "{file}: {} {}; the columns are {}; --map FIELD=COLUMN names another one",
        if *is_double { "two columns are named" } else { "found no column" },
        quoted(column),
        listed(columns)
    )]
    Column {
        /// The name of the file.
        file: String,
        /// The column.
        column: String,
        /// Whether there are two of it.
        is_double: bool,
        /// The columns of the header.
        columns: Vec<String>,
    },
    /// Messages are not in order.
    #[error("{0}\n--skip-bad leaves them out")]
    Bad(InputProblems),
    /// A file of the Python program, or the header of a CSV file, is not in its form.
    #[error("{file}: line {line}: {problem}")]
    Form {
        /// The name of the file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// A journal is not one that the Python program can have written.
    #[error("{file}: not read as a journal of the Python program of 2026-01-02")]
    OldJournal {
        /// The name of the file.
        file: String,
        /// The first line that differs.
        #[source]
        source: OldJournalError,
    },
    /// There is no message, or only bad ones.
    #[error("the files contain no message{}", left_out(*skipped))]
    Empty {
        /// The number of bad messages that were left out.
        skipped: u64,
    },
    /// A key that was given for a field is not in the files.
    #[error("--map {field}={key}: no line of JSON has this key")]
    NoKey {
        /// The name of the field.
        field: &'static str,
        /// The key.
        key: String,
    },
    /// A field has two columns.
    #[error("--map names two columns for the field {field}; name one")]
    DoubleMap {
        /// The name of the field.
        field: &'static str,
    },
    /// Columns were named for files that have no columns.
    #[error("--map is for JSON lines and CSV; leave it out with --format reference")]
    UnusedMap,
    /// Rounds are not in the files.
    #[error(
        "--round recorded: not all messages have a round in the files; use messages:N, 1h or 1d"
    )]
    NoRounds,
    /// More reads are assumed than are kept.
    #[error("--reads {reads}: gives more than {most} reads; use {fits}")]
    ManyReads {
        /// The assumption.
        reads: Exposure,
        /// The largest number of reads of all messages.
        most: usize,
        /// An assumption that gives no more.
        fits: Exposure,
    },
    /// Reads are not in the files.
    #[error("--reads recorded: no message has the field reads; use thread, window:M or none")]
    NoReads,
    /// Rounds need times that the files lack.
    #[error("--round {round}: {count} messages at the start have no time; use messages:N")]
    NoTimes {
        /// The rule of rounds.
        round: String,
        /// The number of messages without a time.
        count: usize,
    },
    /// Rounds are shorter than what is measured.
    #[error("--round {round}: gives {rounds} rounds, and the most are {most}; use {fits}")]
    ManyRounds {
        /// The rule of rounds.
        round: String,
        /// The number of rounds.
        rounds: u64,
        /// The largest number of rounds.
        most: u64,
        /// The shortest rule of the same unit that gives no more; a number of messages in place of recorded rounds.
        fits: String,
    },
    /// The import was stopped.
    #[error("stopped")]
    Stopped,
}

/// The messages that are not in order: the first ones, and their number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InputProblems {
    /// The first 20, each with file, line and reason.
    pub first: Vec<String>,
    /// The number of all of them.
    pub count: u64,
}

impl InputProblems {
    /// Adds a bad message.
    pub(super) fn add(&mut self, file: &str, line: u64, problem: &str) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(format!("{file} line {line}: {problem}"));
        }
    }
}

impl fmt::Display for InputProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.count == 1 {
            "1 bad message"
        } else {
            "bad messages: "
        })?;
        if self.count > 1 {
            write!(f, "{}", self.count)?;
        }
        for problem in &self.first {
            write!(f, "\n{problem}")?;
        }
        match self.count.saturating_sub(self.first.len() as u64) {
            0 => Ok(()),
            more => {
                f.write_char('\n')?;
                write!(f, "and {more} more")
            }
        }
    }
}

/// Returns the first names of columns, and the number of the others.
fn listed(columns: &[String]) -> String {
    let named = columns.iter().take(NAMED).map(|column| quoted(column));
    let mut text = named.collect::<Vec<_>>().join(", ");
    if let more @ 1.. = columns.len().saturating_sub(NAMED) {
        let _ = write!(text, " and {more} more");
    }
    text
}

fn left_out(skipped: u64) -> String {
    match skipped {
        0 => String::new(),
        1 => "; 1 bad one was left out".to_owned(),
        _ => format!("; {skipped} bad ones were left out"),
    }
}
