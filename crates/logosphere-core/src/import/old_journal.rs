//! Journals of the Python program of 2026-01-02, which have local times, and neither line numbers nor a chain. The checks
//! cover the fields that follow from earlier ones.

use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;

use serde::Deserialize;

use super::links::MOST_READS;
use super::message::ForeignMessage;
use super::reference::parse_reference;
use crate::pool::Round;

/// The number of characters of a value that an error shows.
const SHOWN: usize = 500;

/// The error of a journal that the old program cannot have written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OldJournalError {
    /// A line is too long, is not UTF-8, or has a number that is too large or too many reads.
    #[error("line {line}: {problem}")]
    Line {
        /// The line, from 1.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// A line is not an event of an old journal.
    #[error("line {line}: is not an event of an old journal")]
    Form {
        /// The line, from 1.
        line: u64,
        /// The error of the JSON parser.
        #[source]
        source: serde_json::Error,
    },
    /// An event is not the expected one.
    #[error("line {line}: expected {expected}")]
    Order {
        /// The line, from 1; the number after the last line if an event is missing at the end.
        line: u64,
        /// The expected event.
        expected: &'static str,
    },
    /// A field differs from the value that follows from earlier events.
    #[error("line {line}: {field}: expected {expected}, found {found}")]
    Differs {
        /// The line, from 1.
        line: u64,
        /// The name of the field.
        field: &'static str,
        /// The expected value.
        expected: String,
        /// The value in the journal.
        found: String,
    },
}

/// The events with the fields of the requirement.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OldEvent {
    ExperimentStart {
        config: Config,
        init_signature: String,
        num_seed_messages: u64,
    },
    RoundStart {
        round: Round,
        pool_size: u64,
        active_pool_size: u64,
    },
    MindInvocation {
        round: Round,
        #[serde(default)]
        mind_id: u32,
        input_messages: Vec<String>,
        thinking: String,
        transmitted: Vec<String>,
        /// Some versions of the program did not record it.
        completed: Option<bool>,
        signature: Option<String>,
        tokens_used: u64,
        raw_output: String,
    },
    RoundEnd {
        round: Round,
        messages_added: u64,
        pool_delta: Vec<String>,
    },
    ExperimentEnd {
        total_rounds: u32,
        final_pool_size: u64,
        total_tokens: u64,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
struct Config {
    k_samples: usize,
    m_active_pool: usize,
}

/// The reader of an old journal: checks each line and collects the messages.
#[derive(Default)]
pub(super) struct OldJournal {
    line: u64,
    config: Option<Config>,
    pool: Vec<String>,
    round: Option<Round>,
    /// The size of the pool when the open round began.
    open: Option<usize>,
    tokens: u64,
    rounds: u32,
    ended: bool,
    seeds: usize,
    /// The number of reads of all messages so far.
    kept_reads: usize,
    /// The number of calls that read a text which was not among the newest messages.
    pub(super) unknown_reads: u64,
    /// The messages that are known since the last line.
    pub(super) messages: Vec<ForeignMessage>,
}

impl OldJournal {
    /// Reads a line. `init` is the `init.md` that the run began with.
    pub(super) fn line(
        &mut self,
        number: u64,
        line: &str,
        init: &str,
    ) -> Result<(), OldJournalError> {
        self.line = number;
        let event = serde_json::from_str(line).map_err(|source| OldJournalError::Form {
            line: number,
            source,
        })?;
        self.event(event, init)
    }

    /// Returns the number of newest messages that a mind could read.
    pub(super) fn end(&mut self) -> Result<usize, OldJournalError> {
        self.line += 1;
        let active = self.config.as_ref().map(|config| config.m_active_pool);
        active.ok_or_else(|| self.order("experiment_start"))
    }

    /// Returns whether the last event of a run was read.
    pub(super) fn is_ended(&self) -> bool {
        self.ended
    }

    fn event(&mut self, event: OldEvent, init: &str) -> Result<(), OldJournalError> {
        match event {
            OldEvent::ExperimentStart {
                config,
                init_signature,
                num_seed_messages,
            } => self.begin(config, &init_signature, num_seed_messages, init),
            OldEvent::Unknown => Ok(()),
            _ if self.config.is_none() => Err(self.order("experiment_start")),
            _ if self.ended => Err(self.order("nothing after experiment_end")),
            OldEvent::RoundStart {
                round,
                pool_size,
                active_pool_size,
            } => self.begin_round(round, pool_size, active_pool_size),
            OldEvent::MindInvocation { round, .. } | OldEvent::RoundEnd { round, .. }
                if self.open.is_none() || self.round != Some(round) =>
            {
                Err(self.order("round_start of this round"))
            }
            OldEvent::MindInvocation {
                round,
                mind_id,
                input_messages,
                thinking,
                transmitted,
                completed,
                signature,
                tokens_used,
                raw_output,
            } => {
                let expected = self.samples();
                self.same(
                    "the number of input_messages",
                    &expected,
                    &input_messages.len(),
                )?;
                let parsed = parse_reference(&raw_output);
                self.same("thinking", &parsed.thinking, &thinking)?;
                self.same("transmitted", &parsed.messages, &transmitted)?;
                if let Some(completed) = completed {
                    self.same("completed", &parsed.completed, &completed)?;
                }
                if let Some(signature) = signature {
                    self.same("signature", &parsed.signature, &signature)?;
                }
                let reads = self.reads(&input_messages, transmitted.len())?;
                for (at, text) in transmitted.iter().enumerate() {
                    self.messages.push(ForeignMessage {
                        text: text.clone(),
                        id: Some(self.id(self.pool.len() + at)),
                        author: Some(format!("mind {mind_id}")),
                        reads: Some(reads.clone()),
                        round: Some(round),
                        ..ForeignMessage::default()
                    });
                }
                self.pool.extend(transmitted);
                self.tokens =
                    self.tokens
                        .checked_add(tokens_used)
                        .ok_or_else(|| OldJournalError::Line {
                            line: self.line,
                            problem: "tokens_used: the sum of the run is above 2^64 - 1".to_owned(),
                        })?;
                Ok(())
            }
            OldEvent::RoundEnd {
                messages_added,
                pool_delta,
                ..
            } => {
                let begin = self.open.take().unwrap_or(self.pool.len());
                let delta = self.pool[begin..].to_vec();
                self.same("messages_added", &(delta.len() as u64), &messages_added)?;
                self.same("pool_delta", &delta, &pool_delta)?;
                self.rounds += 1;
                Ok(())
            }
            OldEvent::ExperimentEnd {
                total_rounds,
                final_pool_size,
                total_tokens,
            } => {
                if self.open.is_some() {
                    return Err(self.order("round_end"));
                }
                self.same("total_rounds", &self.rounds, &total_rounds)?;
                self.same(
                    "final_pool_size",
                    &(self.pool.len() as u64),
                    &final_pool_size,
                )?;
                self.same("total_tokens", &self.tokens, &total_tokens)?;
                self.ended = true;
                Ok(())
            }
        }
    }

    fn begin_round(&mut self, round: Round, pool: u64, active: u64) -> Result<(), OldJournalError> {
        if self.open.is_some() {
            return Err(self.order("round_end"));
        }
        let expected = self.round.unwrap_or_default().next();
        self.same("round", &expected, &round)?;
        self.round = Some(round);
        self.open = Some(self.pool.len());
        self.same("pool_size", &(self.pool.len() as u64), &pool)?;
        self.same("active_pool_size", &(self.active().len() as u64), &active)
    }

    fn begin(
        &mut self,
        config: Config,
        init_signature: &str,
        num_seed_messages: u64,
        init: &str,
    ) -> Result<(), OldJournalError> {
        if self.config.is_some() {
            return Err(self.order("one experiment_start"));
        }
        // The old program read files in text mode, which converts CRLF to LF.
        let seeds = parse_reference(&init.replace("\r\n", "\n"));
        self.same("init_signature", &seeds.signature.as_str(), &init_signature)?;
        let count = seeds.messages.len() as u64;
        self.same("num_seed_messages", &count, &num_seed_messages)?;
        self.seeds = seeds.messages.len();
        for (at, text) in seeds.messages.iter().enumerate() {
            self.messages.push(ForeignMessage {
                text: text.clone(),
                id: Some(self.id(at)),
                reads: Some(Vec::new()),
                round: Some(Round::default()),
                ..ForeignMessage::default()
            });
        }
        self.pool = seeds.messages;
        self.config = Some(config);
        Ok(())
    }

    /// Returns the number of messages that a mind reads in a call.
    fn samples(&self) -> usize {
        let most = self.config.as_ref().map_or(0, |config| config.k_samples);
        most.min(self.active().len())
    }

    /// Returns the ids of the messages with these texts among the newest ones: of several equal ones the oldest that is left.
    /// Each of the `sent` messages of the call has them.
    fn reads(&mut self, input: &[String], sent: usize) -> Result<Vec<String>, OldJournalError> {
        let first = self.pool.len() - self.active().len();
        // The messages that are left with each text, the oldest first.
        let none_yet = input.iter().map(|text| (text.as_str(), VecDeque::new()));
        let mut equal: HashMap<&str, VecDeque<usize>> = none_yet.collect();
        for (at, text) in self.pool.iter().enumerate().skip(first) {
            if let Some(left) = equal.get_mut(text.as_str()) {
                left.push_back(at);
            }
        }
        let found: Vec<usize> = (input.iter())
            .filter_map(|text| equal.get_mut(text.as_str())?.pop_front())
            .collect();
        self.unknown_reads += u64::from(found.len() < input.len());
        self.kept_reads += found.len() * sent;
        if self.kept_reads > MOST_READS {
            let problem = format!(
                "gives {} reads, and the most are {MOST_READS}",
                self.kept_reads
            );
            let line = self.line;
            return Err(OldJournalError::Line { line, problem });
        }
        Ok(found.into_iter().map(|at| self.id(at)).collect())
    }

    /// Returns the id of the message at this index.
    fn id(&self, at: usize) -> String {
        match at.checked_sub(self.seeds) {
            None => format!("seed:{}", at + 1),
            Some(sent) => format!("message:{}", sent + 1),
        }
    }

    fn active(&self) -> &[String] {
        let active = self
            .config
            .as_ref()
            .map_or(0, |config| config.m_active_pool);
        &self.pool[self.pool.len().saturating_sub(active)..]
    }

    fn same<T: PartialEq + Debug>(
        &self,
        field: &'static str,
        expected: &T,
        found: &T,
    ) -> Result<(), OldJournalError> {
        if expected == found {
            return Ok(());
        }
        Err(OldJournalError::Differs {
            line: self.line,
            field,
            expected: shown(expected),
            found: shown(found),
        })
    }

    fn order(&self, expected: &'static str) -> OldJournalError {
        OldJournalError::Order {
            line: self.line,
            expected,
        }
    }
}

/// Returns a value for an error, cut.
fn shown(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
