use std::io::{self, BufRead};

use serde::Deserialize;

use super::event::{Event, ExperimentStart, Line, SCHEMA_VERSION};
use super::line;
use super::line::{Head, before_chain, chain, decode, decode_in_order};

/// A reader of a journal, which checks each line against the chain.
pub struct Reader<R> {
    input: R,
    /// The number of the next line, from 1.
    number: u64,
    seq: u64,
    chain: String,
    line: Vec<u8>,
}

/// A line of a journal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The number of the line, from 1.
    pub number: u64,
    /// The bytes, without the line end.
    pub bytes: Vec<u8>,
    /// The event; `None` for a type that this version does not know.
    pub line: Option<Line>,
}

/// The error of a journal that cannot be read or was altered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read.
    #[error("line {number}: cannot be read")]
    Io {
        /// The line, from 1.
        number: u64,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The journal has no line.
    #[error("the journal is empty")]
    Empty,
    /// A line is damaged.
    #[error("line {number}{}: {damage}", named(kind))]
    Damaged {
        /// The line, from 1.
        number: u64,
        /// The type of the line; empty if it is unknown.
        kind: String,
        /// The kind of damage.
        damage: CorruptionKind,
    },
}

impl ReadError {
    /// Returns whether the file is intact but of an older program or a newer version.
    pub fn is_foreign(&self) -> bool {
        matches!(
            self,
            Self::Damaged {
                damage: CorruptionKind::OldProgram | CorruptionKind::SchemaVersion { .. },
                ..
            }
        )
    }
}

/// Returns ` (round_start)`; empty without a type.
fn named(kind: &str) -> String {
    if kind.is_empty() {
        String::new()
    } else {
        format!(" ({kind})")
    }
}

/// The damage of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CorruptionKind {
    /// The line end is missing, so the line is incomplete.
    #[error(
        "ends without a line feed, so it was not written to its end; `resume` moves it to another file"
    )]
    Torn,
    /// The file begins with a byte order mark.
    #[error("begins with a byte order mark: another program has rewritten the file")]
    Bom,
    /// Lines end with carriage return and line feed.
    #[error(
        "ends with carriage return and line feed: another program has rewritten the file (git's autocrlf?)"
    )]
    Crlf,
    /// The journal is one of the Python program.
    #[error(
        "a journal of the Python program of 2026-01-02; `logosphere import FILE --format reference --name NAME` converts it"
    )]
    OldProgram,
    /// The line is not an event.
    #[error("is not an event: {message}")]
    Form {
        /// The error of the JSON parser.
        message: String,
    },
    /// The first event is not `experiment_start`.
    #[error("is not experiment_start, with which a journal begins")]
    NoStart,
    /// A second run begins in the same file.
    #[error("is a second experiment_start: there is one run in a journal")]
    SecondStart,
    /// The format has an unknown version.
    #[error(
        "schema_version {found} is {}, which reads {}",
        if *found == 0 { "unknown to this program" } else { "newer than this program" },
        if *found == 0 { format!("1 to {SCHEMA_VERSION}") } else { format!("up to {SCHEMA_VERSION}") }
    )]
    SchemaVersion {
        /// The version.
        found: u32,
    },
    /// Lines are missing or in another order.
    #[error("has seq {found}, expected {expected}: lines are missing or were moved")]
    Seq {
        /// The expected number.
        expected: u64,
        /// The number in the line.
        found: u64,
    },
    /// The line, or one before it, was altered.
    #[error("has chain {found}, expected {expected}: this line was altered")]
    Chain {
        /// The chain computed from the bytes.
        expected: String,
        /// The chain in the line.
        found: String,
    },
}

impl<R: BufRead> Reader<R> {
    /// Returns a reader at the start of a journal. The first entry is an [`Event::ExperimentStart`] or an error.
    pub fn new(input: R) -> Self {
        Self {
            input,
            number: 0,
            seq: 0,
            chain: String::new(),
            line: Vec::new(),
        }
    }

    /// Returns the chain of the last line that was read.
    pub fn chain(&self) -> &str {
        &self.chain
    }

    /// Returns the number of lines that were read.
    pub fn lines(&self) -> u64 {
        self.number
    }

    /// Reads the next line; `None` at the end.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        self.line.clear();
        let number = self.number + 1;
        let read = self.input.read_until(b'\n', &mut self.line);
        match read.map_err(|source| ReadError::Io { number, source })? {
            0 if self.number == 0 => return Err(ReadError::Empty),
            0 => return Ok(None),
            _ => {}
        }
        self.number = number;
        let damaged = |kind: &str, damage| ReadError::Damaged {
            number,
            kind: kind.to_owned(),
            damage,
        };
        if self.line.last() != Some(&b'\n') {
            return Err(damaged("", CorruptionKind::Torn));
        }
        self.line.pop();
        if number == 1 && self.line.starts_with("\u{feff}".as_bytes()) {
            return Err(damaged("", CorruptionKind::Bom));
        }
        if self.line.last() == Some(&b'\r') {
            return Err(damaged("", CorruptionKind::Crlf));
        }
        let form = |kind: &str, message: String| {
            // The parser counts lines in one line of the journal, so its line number is dropped.
            let message = message.replace(" at line 1 column ", " at column ");
            damaged(kind, CorruptionKind::Form { message })
        };
        if number == 1 && is_legacy(&String::from_utf8_lossy(&self.line)) {
            return Err(damaged("experiment_start", CorruptionKind::OldProgram));
        }
        let (head, event) = if let Some((head, event)) = decode_in_order(&self.line) {
            (head, Some(event))
        } else {
            let head = serde_json::from_slice(&self.line);
            let head: Head = head.map_err(|error| form("", error.to_string()))?;
            (head, None)
        };
        let kind = head.r#type.clone();
        if (number == 1) != (kind == "experiment_start") {
            let damage = if number == 1 {
                CorruptionKind::NoStart
            } else {
                CorruptionKind::SecondStart
            };
            return Err(damaged(&kind, damage));
        }
        if head.seq != self.seq {
            let (expected, found) = (self.seq, head.seq);
            return Err(damaged(&kind, CorruptionKind::Seq { expected, found }));
        }
        let line = match event {
            Some(event) => Some(head.with(event)),
            None => decode(head, &self.line).map_err(|error| form(&kind, error))?,
        };
        if let Some(Line {
            event: Event::ExperimentStart(start),
            ..
        }) = &line
        {
            if !(1..=SCHEMA_VERSION).contains(&start.schema_version) {
                let found = start.schema_version;
                return Err(damaged(&kind, CorruptionKind::SchemaVersion { found }));
            }
            self.chain.clone_from(&start.run_id);
        }
        self.follow(number, &kind)?;
        self.seq += 1;
        Ok(Some(Entry {
            number,
            bytes: self.line.clone(),
            line,
        }))
    }

    /// Checks the line against the chain of the line before it.
    fn follow(&mut self, number: u64, kind: &str) -> Result<(), ReadError> {
        let damaged = |damage| ReadError::Damaged {
            number,
            kind: kind.to_owned(),
            damage,
        };
        let Some(before) = before_chain(&self.line) else {
            let message = "the chain is not its last field".to_owned();
            return Err(damaged(CorruptionKind::Form { message }));
        };
        let expected = chain(&self.chain, before);
        let found = line::chain_of(&self.line, before.len());
        if expected != found {
            return Err(damaged(CorruptionKind::Chain { expected, found }));
        }
        self.chain = expected;
        Ok(())
    }

    /// Reads the first line and its event.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn start(&mut self) -> Result<(Entry, Box<ExperimentStart>), ReadError> {
        let entry = self.next_entry()?.ok_or(ReadError::Empty)?;
        match &entry.line {
            Some(Line {
                event: Event::ExperimentStart(start),
                ..
            }) => {
                let start = start.clone();
                Ok((entry, start))
            }
            // Not reached: `next_entry` refuses any other first line.
            _ => Err(ReadError::Empty),
        }
    }
}

/// Returns whether a first line is that of a journal of the Python program, which has no version.
pub fn is_legacy(first_line: &str) -> bool {
    #[derive(Deserialize)]
    struct Start {
        r#type: String,
        schema_version: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str(first_line).is_ok_and(|start: Start| {
        start.r#type == "experiment_start" && start.schema_version.is_none()
    })
}
