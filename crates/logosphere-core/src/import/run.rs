//! An `imported.jsonl` as the run that analyses read.

use std::collections::HashMap;
use std::io::BufRead;

use super::list_members::ListMembers;
use super::message::check_values;
use super::record::{ImportHeader, ImportedMessage, RoundRule, SCHEMA_VERSION, UNKNOWN_AUTHOR};
use super::rounds::MOST_ROUNDS;
use super::source::SourceLines;
use crate::pool::{MessageId, MindId, Round};
use crate::verify::{EndedRound, Exposure, Message, MindCall, Transcript};

/// The smallest number of messages of a window if neither the import nor its rounds give one.
const LEAST_WINDOW: usize = 15;

/// The error of a file that is not an `imported.jsonl`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportedFileError {
    /// The file cannot be read.
    #[error("cannot be read")]
    Io(#[from] std::io::Error),
    /// The file is of a newer program.
    #[error("schema_version {found} is newer than this program")]
    Newer {
        /// The version.
        found: u32,
    },
    /// A line differs from the form.
    #[error("line {line}: {problem}; import the files again")]
    Form {
        /// The line, from 1.
        line: u64,
        /// The problem.
        problem: String,
    },
}

/// Imported messages as a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ImportedRun {
    /// The first line of the file.
    pub header: ImportHeader,
    /// The run: authors are minds, and messages that an author wrote one after another from the same reads are one call.
    pub transcript: Transcript,
    /// The names of the authors; the index is the number of the mind.
    pub authors: Vec<String>,
}

impl ImportedRun {
    /// Returns whether the beginning of a file is that of an `imported.jsonl`.
    pub fn is_begun_by(beginning: &[u8]) -> bool {
        beginning.starts_with(b"{\"type\":\"import\",")
    }

    /// Reads an `imported.jsonl`.
    ///
    /// # Errors
    /// See [`ImportedFileError`].
    pub fn read(file: impl BufRead) -> Result<Self, ImportedFileError> {
        let mut lines = SourceLines::new(file);
        let form = |line, problem: &dyn ToString| ImportedFileError::Form {
            line,
            problem: problem.to_string(),
        };
        let first = lines.next_line()?.ok_or_else(|| form(1, &"is missing"))?;
        let text = first.text().map_err(|problem| form(1, &problem))?;
        if !Self::is_begun_by(text.as_bytes()) {
            return Err(form(1, &"is not that of imported messages"));
        }
        let header: ImportHeader = serde_json::from_str(text).map_err(|error| form(1, &error))?;
        if header.schema_version > SCHEMA_VERSION {
            let found = header.schema_version;
            return Err(ImportedFileError::Newer { found });
        }
        if header.schema_version < SCHEMA_VERSION {
            let found = header.schema_version;
            let problem = format!("schema_version: expected {SCHEMA_VERSION}, found {found}");
            return Err(form(1, &problem));
        }
        if let Some(metrics) = &header.reference_metrics {
            metrics.check().map_err(|problem| form(1, &problem))?;
        }
        let mut run = RunBuilder::default();
        let mut last = 1;
        while let Some(line) = lines.next_line()? {
            last = line.number;
            let text = line.text().map_err(|problem| form(last, &problem))?;
            if !text.starts_with("{\"type\":\"message\",") {
                return Err(form(last, &"is not a message"));
            }
            let message = serde_json::from_str(text).map_err(|error| form(last, &error))?;
            run.add(message).map_err(|problem| form(last, &problem))?;
        }
        let found = run.messages.len() as u64;
        if found != header.messages {
            let problem = format!("expected {} messages, found {found}", header.messages);
            return Err(form(last, &problem));
        }
        Ok(run.end(header))
    }
}

/// The parts of a run that messages are added to.
#[derive(Default)]
struct RunBuilder {
    seeds: usize,
    messages: Vec<Message>,
    calls: Vec<MindCall>,
    rounds: Vec<EndedRound>,
    round: Round,
    numbers: HashMap<String, u32>,
    authors: Vec<String>,
    members: ListMembers,
}

impl RunBuilder {
    fn add(&mut self, message: ImportedMessage) -> Result<(), String> {
        let id = MessageId::at(self.messages.len());
        check_values(&message.text, [&message.source_id, &message.author])?;
        let links = message.parents.iter().chain(&message.reads);
        if message.id != id {
            return Err("the ids are not 0, 1, 2 and so on".to_owned());
        }
        if links.into_iter().any(|link| *link >= id) {
            return Err("a parent or a read is not older than its message".to_owned());
        }
        self.check_list("parent", &message.parents)?;
        self.check_list("read", &message.reads)?;
        if message.round < self.round {
            return Err("the rounds go back".to_owned());
        }
        if u64::from(message.round.0) > MOST_ROUNDS {
            let round = message.round;
            return Err(format!("round {round}: the most are {MOST_ROUNDS}"));
        }
        let is_seed = message.round == Round::default();
        while self.round < message.round {
            if self.round > Round::default() {
                self.rounds.push(EndedRound::new(self.round, id.index()));
            }
            self.round = self.round.next();
        }
        let call = if is_seed {
            self.seeds += 1;
            None
        } else {
            Some(self.call(&message, id))
        };
        let mut added = Message::new(message.text, message.round, call);
        added.given_parents = message.parents;
        self.messages.push(added);
        Ok(())
    }

    fn check_list(&mut self, name: &str, list: &[MessageId]) -> Result<(), String> {
        self.members.begin();
        match list.iter().find(|id| !self.members.insert(id.index())) {
            None => Ok(()),
            Some(double) => Err(format!("expected each {name} once, found {double} twice")),
        }
    }

    /// Adds a message to the last call, or to a new one, and returns the index of the call.
    fn call(&mut self, message: &ImportedMessage, id: MessageId) -> usize {
        let next = self.authors.len() as u32;
        let known = self.numbers.get(&message.author).copied();
        let mind = known.unwrap_or_else(|| {
            self.numbers.insert(message.author.clone(), next);
            self.authors.push(message.author.clone());
            next
        });
        let is_same = |call: &&mut MindCall| {
            call.mind.0 == mind
                && call.round == message.round
                && call.sampled == message.reads
                && !call.sampled.is_empty()
                && message.author != UNKNOWN_AUTHOR
        };
        if let Some(call) = self.calls.last_mut().filter(is_same) {
            call.added.push(id);
        } else {
            let mut call = MindCall::new(message.round, MindId(mind));
            call.sampled.clone_from(&message.reads);
            call.added.push(id);
            self.calls.push(call);
        }
        self.calls.len() - 1
    }

    fn end(mut self, header: ImportHeader) -> ImportedRun {
        if self.round > Round::default() {
            let all = self.messages.len();
            self.rounds.push(EndedRound::new(self.round, all));
        }
        let written = self.messages.len() - self.seeds;
        let active = match (header.active, header.exposure, header.round) {
            (Some(active), ..) => active,
            (_, Exposure::Window(size), _) => size.get(),
            (_, _, RoundRule::Messages(size)) => size.get() as usize,
            _ => written.div_ceil(self.rounds.len().max(1)).max(LEAST_WINDOW),
        };
        let samples = self.calls.iter().map(|call| call.sampled.len()).max();
        let transcript = Transcript {
            minds: self.authors.len() as u32,
            samples: samples.unwrap_or_default(),
            active,
            seeds: self.seeds,
            messages: self.messages,
            calls: self.calls,
            rounds: self.rounds,
            exposure: header.exposure,
            ..Transcript::default()
        };
        ImportedRun {
            header,
            transcript,
            authors: self.authors,
        }
    }
}
