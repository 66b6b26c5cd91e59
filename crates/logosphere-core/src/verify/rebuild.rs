//! The verification of a journal: it is rebuilt from its observations and compared with the original.

use std::io::{self, BufRead, Write};

use serde_json::Value;

use super::compare::first_difference;
use super::process::Process;
use crate::config::ConfigError;
use crate::format::with_signature;
use crate::journal::{
    CallError, Entry, Event, ExperimentStart, Line, MindInvocation, ReadError, Reader,
    RunInterrupted, RunResumed, encode,
};
use crate::verify::state::{Outcome, RunState, StateError, Step};

/// The counts of a verified journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct VerifyReport {
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
    /// The chain of the last line: the hash that fixes the whole journal.
    pub head: String,
    /// The number of the last line, from 0.
    pub last_seq: u64,
    /// The lines with an earlier time than the line before. Clocks may be set back.
    pub back_in_time: Vec<u64>,
    /// The lines of a type that this version does not know; they are accepted unchanged.
    pub unknown: Vec<u64>,
}

/// The error of a journal that its run cannot have written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The journal cannot be read, or a line was altered.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An event does not follow from those before it.
    #[error("line {number} ({kind})")]
    State {
        /// The line, from 1.
        number: u64,
        /// The type of the event.
        kind: &'static str,
        /// The error.
        #[source]
        source: StateError,
    },
    /// The settings are not allowed for a run.
    #[error("line {number} ({kind}): no run has such settings")]
    Settings {
        /// The line, from 1.
        number: u64,
        /// The type of the event.
        kind: &'static str,
        /// The error.
        #[source]
        source: ConfigError,
    },
    /// An event differs from the one that follows from those before it.
    #[error("line {number} ({kind}): {field}: expected {expected}, found {found}")]
    Differs {
        /// The line, from 1.
        number: u64,
        /// The type of the event.
        kind: &'static str,
        /// The field that is different, such as `parse.reason`.
        field: String,
        /// The expected value.
        expected: String,
        /// The value in the journal.
        found: String,
    },
    /// The rebuilt journal cannot be written.
    #[error("cannot write the rebuilt journal")]
    Write(#[source] io::Error),
}

/// Verifies a journal: rebuilds it and compares every byte.
///
/// Only external facts (times, answers, tokens, attempts) are taken from the journal; everything else is computed
/// again.
///
/// # Errors
/// See [`VerifyError`].
pub fn verify(journal: impl BufRead) -> Result<VerifyReport, VerifyError> {
    verify_to(journal, io::sink())
}

/// Verifies a journal as [`verify`] does, and writes the rebuilt journal to `out`.
///
/// # Errors
/// See [`VerifyError`].
pub fn verify_to(journal: impl BufRead, mut out: impl Write) -> Result<VerifyReport, VerifyError> {
    let mut reader = Reader::new(journal);
    let (entry, found) = reader.start()?;
    let start = rebuilt_start(&found);
    let settings = &start.effective.settings;
    let stamp = with_signature("", &settings.init_signature);
    let bare =
        (start.seeds.iter()).find(|seed| settings.stamp_seeds && !seed.text.ends_with(&stamp));
    if let Some(seed) = bare {
        return Err(VerifyError::Differs {
            number: entry.number,
            kind: "experiment_start",
            field: format!("seeds[{}].text", seed.id),
            expected: format!("a text that ends with {stamp:?} (stamp_seeds)"),
            found: format!("{:?}", seed.text.chars().take(200).collect::<String>()),
        });
    }
    let state = RunState::new(&start).map_err(|source| VerifyError::State {
        number: entry.number,
        kind: "experiment_start",
        source,
    })?;
    let mut rebuild = Rebuild {
        process: Process::default(),
        chain: start.run_id.clone(),
        state,
        bytes: Vec::new(),
        last: None,
        report: VerifyReport::default(),
    };
    let start = Event::ExperimentStart(Box::new(start));
    rebuild.hold(&entry, &start)?;
    rebuild.check_settings(entry.number, start.kind())?;
    out.write_all(&rebuild.bytes).map_err(VerifyError::Write)?;
    while let Some(entry) = reader.next_entry()? {
        rebuild.next(&entry)?;
        out.write_all(&rebuild.bytes).map_err(VerifyError::Write)?;
    }
    out.flush().map_err(VerifyError::Write)?;
    Ok(VerifyReport {
        lines: reader.lines(),
        head: reader.chain().to_owned(),
        last_seq: reader.lines().saturating_sub(1),
        messages: rebuild.state.pool().len(),
        ended: rebuild.state.next() == Step::Done,
        ..rebuild.report
    })
}

/// Returns the first event, built from its settings, its seed messages and its template alone.
fn rebuilt_start(found: &ExperimentStart) -> ExperimentStart {
    ExperimentStart {
        schema_version: found.schema_version,
        ..ExperimentStart::new(
            found.effective.clone(),
            found.run_id.clone(),
            found.seeds.iter().map(|seed| seed.text.clone()),
            found.request_template.clone(),
        )
    }
}

struct Rebuild {
    state: RunState,
    process: Process,
    chain: String,
    /// The last rebuilt line.
    bytes: Vec<u8>,
    last: Option<jiff::Timestamp>,
    report: VerifyReport,
}

impl Rebuild {
    fn next(&mut self, entry: &Entry) -> Result<(), VerifyError> {
        let Some(line) = &entry.line else {
            self.report.unknown.push(entry.number);
            self.bytes.clone_from(&entry.bytes);
            self.bytes.push(b'\n');
            // The reader has checked its chain.
            self.chain = chain_at_end(&entry.bytes);
            return Ok(());
        };
        let expected = self.expected(&line.event, entry.number)?;
        self.hold(entry, &expected)?;
        let out_of_order = |source| VerifyError::State {
            number: entry.number,
            kind: expected.kind(),
            source,
        };
        let allowed = self.process.allows(&expected, &self.state);
        allowed.map_err(out_of_order)?;
        self.process.take(&expected, &self.state);
        let ended_after =
            (self.state.next() == Step::Done).then_some(self.state.settings().max_rounds);
        self.apply(&expected, entry.number)?;
        if let Event::RunResumed(_) | Event::Forked(_) | Event::Intervention(_) = &expected {
            self.check_settings(entry.number, expected.kind())?;
        }
        if let Event::RunResumed(_) = &expected {
            // A run that has ended can be resumed with more rounds only.
            if ended_after.is_some_and(|rounds| self.state.settings().max_rounds <= rounds) {
                return Err(out_of_order(StateError::Order {
                    expected: "more rounds, or nothing,".to_owned(),
                    found: expected.kind(),
                }));
            }
        }
        Ok(())
    }

    /// Refuses settings that a run cannot have.
    fn check_settings(&self, number: u64, kind: &'static str) -> Result<(), VerifyError> {
        let checked = self.state.settings().validate();
        checked.map_err(|source| VerifyError::Settings {
            number,
            kind,
            source,
        })
    }

    fn apply(&mut self, event: &Event, number: u64) -> Result<(), VerifyError> {
        match event {
            Event::RoundEnd(_) => self.report.rounds += 1,
            Event::MindInvocation(_) => self.report.calls += 1,
            _ => {}
        }
        let kind = event.kind();
        let failed = |source| VerifyError::State {
            number,
            kind,
            source,
        };
        self.state.apply(event).map_err(failed)
    }

    /// Returns the expected event, given the external facts of the one that was found.
    fn expected(&self, found: &Event, number: u64) -> Result<Event, VerifyError> {
        let state = &self.state;
        let (round, next_mind) = state.next_call();
        Ok(match (found, state.next()) {
            (Event::RoundStart(_), Step::Begin) => Event::RoundStart(state.round_start()),
            (Event::MindInvocation(call), Step::Call { mind }) => {
                let planned = state.plan(mind);
                let event = state.invocation(planned, outcome(call), call.latency_ms);
                Event::MindInvocation(Box::new(event))
            }
            (Event::RoundEnd(_), Step::EndRound) => Event::RoundEnd(state.round_end()),
            (Event::ExperimentEnd(_), Step::End(reason)) => {
                Event::ExperimentEnd(Box::new(state.end(reason)))
            }
            (Event::RunInterrupted(found), _) => Event::RunInterrupted(RunInterrupted {
                round,
                next_mind,
                ..found.clone()
            }),
            (Event::RunResumed(found), _) => {
                let settings = serde_json::to_value(state.settings()).unwrap_or_default();
                let mut changed = found.changed.clone();
                for (setting, [old, _]) in &mut changed {
                    *old = (setting.split('.'))
                        .try_fold(&settings, |place, name| place.get(name))
                        .cloned()
                        .unwrap_or_default();
                }
                Event::RunResumed(RunResumed {
                    round,
                    next_mind,
                    changed,
                    ..found.clone()
                })
            }
            (Event::Forked(found), _) => {
                Event::Forked(state.forked(found.clone(), number - 2, &self.chain))
            }
            (Event::Intervention(found), _) => {
                let event = state.intervention(found.change.clone());
                Event::Intervention(Box::new(event))
            }
            (Event::Error(found), Step::Call { mind }) => Event::Error(CallError {
                round,
                mind_id: mind,
                ..found.clone()
            }),
            (found, _) => {
                return Err(VerifyError::State {
                    number,
                    kind: found.kind(),
                    source: state.unexpected(found.kind()),
                });
            }
        })
    }

    /// Builds the line of an event and compares it with the one in the journal.
    fn hold(&mut self, entry: &Entry, expected: &Event) -> Result<(), VerifyError> {
        let Some(Line { timestamp, .. }) = &entry.line else {
            return Ok(());
        };
        let kind = expected.kind();
        let differs = |field: &str, expected: String, found: String| VerifyError::Differs {
            number: entry.number,
            kind,
            field: field.to_owned(),
            expected,
            found,
        };
        match timestamp.parse::<jiff::Timestamp>() {
            Ok(now) if format!("{now:.3}") == *timestamp => {
                if self.last.is_some_and(|last| now < last) {
                    self.report.back_in_time.push(entry.number);
                }
                self.last = Some(now);
            }
            _ => {
                let form = "a time such as 2026-01-02T03:04:05.678Z";
                return Err(differs("timestamp", form.to_owned(), timestamp.clone()));
            }
        }
        self.bytes.clear();
        let seq = entry.number - 1;
        self.chain = encode(&mut self.bytes, timestamp, seq, expected, &self.chain);
        if self.bytes.strip_suffix(b"\n") == Some(&entry.bytes) {
            return Ok(());
        }
        let value = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap_or(Value::Null);
        let (mut ours, mut theirs) = (value(&self.bytes), value(&entry.bytes));
        for line in [&mut ours, &mut theirs] {
            // It differs because something else does.
            line.as_object_mut().map(|fields| fields.remove("chain"));
        }
        Err(match first_difference(&ours, &theirs) {
            Some((field, expected, found)) => differs(&field, expected, found),
            None => differs(
                "(spelling)",
                "the fields in the order and spelling of the form".to_owned(),
                "others".to_owned(),
            ),
        })
    }
}

/// Returns the external facts of a call.
fn outcome(call: &MindInvocation) -> Outcome {
    match call.reply() {
        Some(reply) => Outcome::Reply(reply),
        None => Outcome::Failed(call.attempts.clone()),
    }
}

fn chain_at_end(line: &[u8]) -> String {
    let value: Value = serde_json::from_slice(line).unwrap_or(Value::Null);
    value["chain"].as_str().unwrap_or_default().to_owned()
}
