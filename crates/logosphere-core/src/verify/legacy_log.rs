//! Journals of the Python program of 2026-01-02, which have local times, and neither line numbers nor a chain. The checks
//! cover the fields that follow from earlier ones.

use std::fmt::Debug;
use std::io::{self, BufRead};

use serde::Deserialize;

use super::transcript::{EndedRound, Message, MindCall, Transcript};
use crate::format::{ParseMode, parse};
use crate::pool::{MessageId, MindId, Round};

/// The counts of a verified old journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LegacyReport {
    /// The number of lines.
    pub lines: u64,
    /// The number of rounds that ended.
    pub rounds: u32,
    /// The number of calls.
    pub calls: u64,
    /// The number of messages, including seed messages.
    pub messages: u64,
    /// Whether the run has ended.
    pub ended: bool,
}

/// The error of a journal that the old program cannot have written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LegacyError {
    /// The journal cannot be read.
    #[error("line {line}: cannot be read")]
    Io {
        /// The line, from 1.
        line: u64,
        /// The error of the system.
        #[source]
        source: io::Error,
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
        mind_id: MindId,
        input_messages: Vec<String>,
        thinking: String,
        transmitted: Vec<String>,
        completed: bool,
        #[serde(default)]
        signature: String,
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
    #[serde(default)]
    n_minds: u32,
    #[serde(default)]
    model: String,
    k_samples: usize,
    m_active_pool: usize,
}

/// Verifies an old journal with the `init.md` that it began with.
///
/// The checks cover the parsed answers, the added messages and the sizes of the pool. Every message that a mind read must
/// have been readable.
///
/// # Errors
/// See [`LegacyError`].
pub fn verify_legacy(journal: impl BufRead, init: &str) -> Result<LegacyReport, LegacyError> {
    Ok(checked(journal, init)?.report)
}

fn checked(journal: impl BufRead, init: &str) -> Result<Check, LegacyError> {
    let mut check = Check::default();
    for line in journal.lines() {
        check.line += 1;
        let number = check.line;
        let line = line.map_err(|source| LegacyError::Io {
            line: number,
            source,
        })?;
        let event = serde_json::from_str(&line).map_err(|source| LegacyError::Form {
            line: number,
            source,
        })?;
        check.event(event, init)?;
    }
    check.report.lines = check.line;
    check.report.messages = check.pool.len() as u64;
    check.line += 1;
    if check.config.is_none() {
        return Err(check.order("experiment_start"));
    }
    Ok(check)
}

impl Transcript {
    /// Reads an old journal with the `init.md` that it began with, and checks it as [`verify_legacy`] does.
    ///
    /// The journal does not record which of several equal messages was read; the oldest possible one is used.
    ///
    /// # Errors
    /// See [`LegacyError`].
    pub fn read_legacy(journal: impl BufRead, init: &str) -> Result<Self, LegacyError> {
        let check = checked(journal, init)?;
        let config = check.config.unwrap_or_default();
        let mut run = check.run;
        let of_seeds = |text: &String| Message {
            text: text.clone(),
            round: Round::default(),
            call: None,
        };
        let mut messages: Vec<Message> = check.pool[..run.seeds].iter().map(of_seeds).collect();
        for (number, call) in run.calls.iter_mut().enumerate() {
            call.model.clone_from(&config.model);
            messages.extend(call.added.iter().map(|&id| Message {
                text: check.pool[id.index()].clone(),
                round: call.round,
                call: Some(number),
            }));
        }
        run.minds = config.n_minds;
        run.samples = config.k_samples;
        run.active = config.m_active_pool;
        run.messages = messages;
        Ok(run)
    }
}

#[derive(Default)]
struct Check {
    line: u64,
    config: Option<Config>,
    pool: Vec<String>,
    round: Option<Round>,
    /// The size of the pool when the open round began.
    open: Option<usize>,
    tokens: u64,
    report: LegacyReport,
    /// The transcript; messages and settings are added at the end.
    run: Transcript,
}

impl Check {
    fn event(&mut self, event: OldEvent, init: &str) -> Result<(), LegacyError> {
        match event {
            OldEvent::ExperimentStart {
                config,
                init_signature,
                num_seed_messages,
            } => self.begin(config, init_signature, num_seed_messages, init),
            OldEvent::Unknown => Ok(()),
            _ if self.config.is_none() => Err(self.order("experiment_start")),
            _ if self.report.ended => Err(self.order("nothing after experiment_end")),
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
                self.input(&input_messages)?;
                let parsed = parse(&raw_output, ParseMode::Legacy);
                self.same("thinking", &parsed.thinking, &thinking)?;
                self.same("transmitted", &parsed.messages, &transmitted)?;
                self.same("completed", &parsed.completed, &completed)?;
                self.same("signature", &parsed.signature, &signature)?;
                let first = self.pool.len();
                self.run.calls.push(MindCall {
                    round,
                    mind: mind_id,
                    sampled: self.read(&input_messages),
                    added: (first..)
                        .map(MessageId::at)
                        .take(transmitted.len())
                        .collect(),
                    reason: parsed.reason,
                    notes: parsed.notes,
                    raw: raw_output,
                    model: String::new(),
                    tokens: [0, tokens_used],
                    cost_usd: None,
                    latency_ms: 0,
                });
                self.pool.extend(transmitted);
                self.tokens += tokens_used;
                self.report.calls += 1;
                Ok(())
            }
            OldEvent::RoundEnd {
                round,
                messages_added,
                pool_delta,
            } => {
                let begin = self.open.take().unwrap_or(self.pool.len());
                let delta = self.pool[begin..].to_vec();
                self.same("messages_added", &(delta.len() as u64), &messages_added)?;
                self.same("pool_delta", &delta, &pool_delta)?;
                let pool_size = self.pool.len();
                self.run.rounds.push(EndedRound { round, pool_size });
                self.report.rounds += 1;
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
                self.same("total_rounds", &self.report.rounds, &total_rounds)?;
                self.same(
                    "final_pool_size",
                    &(self.pool.len() as u64),
                    &final_pool_size,
                )?;
                self.same("total_tokens", &self.tokens, &total_tokens)?;
                self.report.ended = true;
                Ok(())
            }
        }
    }

    fn begin_round(&mut self, round: Round, pool: u64, active: u64) -> Result<(), LegacyError> {
        if self.open.is_some() {
            return Err(self.order("round_end"));
        }
        if let Some(last) = self.round {
            self.same("round", &last.next(), &round)?;
        }
        self.round = Some(round);
        self.open = Some(self.pool.len());
        self.same("pool_size", &(self.pool.len() as u64), &pool)?;
        self.same("active_pool_size", &(self.active().len() as u64), &active)
    }

    fn begin(
        &mut self,
        config: Config,
        init_signature: String,
        num_seed_messages: u64,
        init: &str,
    ) -> Result<(), LegacyError> {
        if self.config.is_some() {
            return Err(self.order("one experiment_start"));
        }
        // The old program read files in text mode, which converts CRLF to LF.
        let seeds = parse(&init.replace("\r\n", "\n"), ParseMode::Legacy);
        self.same("init_signature", &seeds.signature, &init_signature)?;
        let count = seeds.messages.len() as u64;
        self.same("num_seed_messages", &count, &num_seed_messages)?;
        self.run.seeds = seeds.messages.len();
        self.run.init_signature = init_signature;
        self.pool = seeds.messages;
        self.config = Some(config);
        Ok(())
    }

    /// Checks that each text of the input was readable at least as often as the input has it.
    fn input(&self, input: &[String]) -> Result<(), LegacyError> {
        let active = self.active();
        let most = self.config.as_ref().map_or(0, |config| config.k_samples);
        let expected = most.min(active.len());
        self.same("the number of input_messages", &expected, &input.len())?;
        for text in input {
            let count = |texts: &[String]| texts.iter().filter(|other| *other == text).count();
            let there = count(active);
            if count(input) > there {
                let expected = format!("{there} messages that can be seen with this text");
                let found = format!("{} of {text:?}", count(input));
                return Err(self.differs("input_messages", expected, found));
            }
        }
        Ok(())
    }

    /// Returns the ids of the messages with these texts, all of which were readable.
    fn read(&self, input: &[String]) -> Vec<MessageId> {
        let first = self.pool.len() - self.active().len();
        let mut ids: Vec<MessageId> = Vec::with_capacity(input.len());
        for text in input {
            let equal = |id: &MessageId| self.pool[id.index()] == *text && !ids.contains(id);
            ids.extend((first..self.pool.len()).map(MessageId::at).find(equal));
        }
        ids
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
    ) -> Result<(), LegacyError> {
        if expected == found {
            return Ok(());
        }
        Err(self.differs(field, format!("{expected:?}"), format!("{found:?}")))
    }

    fn differs(&self, field: &'static str, expected: String, found: String) -> LegacyError {
        LegacyError::Differs {
            line: self.line,
            field,
            expected,
            found,
        }
    }

    fn order(&self, expected: &'static str) -> LegacyError {
        LegacyError::Order {
            line: self.line,
            expected,
        }
    }
}
