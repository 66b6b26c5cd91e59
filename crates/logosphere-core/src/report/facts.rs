//! What a journal says of a run beside its messages.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::event::{Event, Line, MindInvocation, Protocol, RunInterrupted, TokenTotals};
use crate::journal::{Damage, Entry, ReadError, Reader};
use crate::parser::{Note, Reason};
use crate::resume::ResumeError;
use crate::rules::Rules;
use crate::{ExperimentStart, Settings, Transcript};

/// What a journal says of a run beside its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFacts {
    /// How it began.
    pub start: ExperimentStart,
    /// The settings, as they were at the end.
    pub settings: Settings,
    /// When the first event was written, as it is written.
    pub began: String,
    /// The same of the last.
    pub ended: String,
    /// How it ended.
    pub end: RunEnd,
    /// How often it was gone on with.
    pub resumed: u64,
    /// How well all answers kept to the format.
    pub protocol: Protocol,
    /// The same for each model that answered.
    pub by_model: BTreeMap<String, Protocol>,
    /// Silences that may have been meant as messages.
    pub suspects: u64,
    /// How often each note was made.
    pub notes: BTreeMap<Note, u64>,
    /// Each round that ended.
    pub rounds: Vec<RoundFacts>,
    /// Calls that failed for good, by the kind of failure.
    pub failures: BTreeMap<&'static str, u64>,
    /// Tries beyond the first of their calls.
    pub retries: u64,
    /// Tokens.
    pub tokens: TokenTotals,
    /// Some of them nobody counted who knows.
    pub estimated: bool,
    /// Dollars, if any price is known.
    pub cost_usd: Option<f64>,
    /// Lines of the journal.
    pub lines: u64,
    /// What ties the last of them to all before it.
    pub chain: String,
}

/// A round that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundFacts {
    /// Which, from 1.
    pub round: u32,
    /// How well its answers kept to the format.
    pub protocol: Protocol,
    /// Tokens of the run so far.
    pub tokens: TokenTotals,
    /// Dollars of the run so far, if any price is known.
    pub cost_usd: Option<f64>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// For this reason.
    Ended(String),
    /// It stopped and can go on.
    Interrupted(RunInterrupted),
    /// The journal does not say: the run is under way, or was cut off.
    Open,
}

impl RunFacts {
    /// Reads a journal, to its end or to a last line that was not written to its end.
    ///
    /// # Errors
    /// As of [`Transcript::read`].
    pub fn read(journal: impl BufRead) -> Result<(Self, Transcript), ResumeError> {
        let mut reader = Reader::new(journal);
        let (entry, start) = reader.start()?;
        let mut transcript = Transcript::begin(&start);
        let began = entry.line.map(|line| line.timestamp);
        let began = began.unwrap_or_default();
        let mut facts = Self {
            settings: start.effective.settings.clone(),
            start: *start,
            ended: began.clone(),
            began,
            end: RunEnd::Open,
            resumed: 0,
            protocol: Protocol::default(),
            by_model: BTreeMap::new(),
            suspects: 0,
            notes: BTreeMap::new(),
            rounds: Vec::new(),
            failures: BTreeMap::new(),
            retries: 0,
            tokens: TokenTotals::default(),
            estimated: false,
            cost_usd: None,
            lines: entry.number,
            chain: String::new(),
        };
        loop {
            let entry = match reader.next_entry() {
                Ok(None)
                | Err(ReadError::Damaged {
                    damage: Damage::Torn,
                    ..
                }) => break,
                Ok(Some(entry)) => entry,
                Err(error) => return Err(error.into()),
            };
            let Entry { number, line, .. } = entry;
            facts.lines = number;
            // Types that this version does not know say nothing to it.
            let Some(line) = line else { continue };
            facts.take(&line);
            let taken = transcript.take(line.event, facts.rules());
            taken.map_err(|source| ResumeError::State { number, source })?;
        }
        reader.chain().clone_into(&mut facts.chain);
        Ok((facts, transcript))
    }

    fn take(&mut self, line: &Line) {
        self.ended.clone_from(&line.timestamp);
        match &line.event {
            Event::MindInvocation(call) => self.take_call(call),
            Event::RoundEnd(end) => self.rounds.push(RoundFacts {
                round: end.round,
                protocol: end.protocol.clone(),
                tokens: end.tokens_total,
                cost_usd: end.cost_usd_total,
            }),
            Event::ExperimentEnd(end) => self.end = RunEnd::Ended(end.stop_reason.clone()),
            Event::RunInterrupted(stop) => self.end = RunEnd::Interrupted(stop.clone()),
            Event::RunResumed(resumed) => {
                self.end = RunEnd::Open;
                self.resumed += 1;
                // `verify` reports a change that cannot be.
                if let Ok(settings) = self.settings.with_changes(&resumed.changed) {
                    self.settings = settings;
                }
            }
            Event::Error(error) => *self.failures.entry(error.class.as_str()).or_default() += 1,
            Event::ExperimentStart(_) | Event::RoundStart(_) => {}
        }
    }

    fn take_call(&mut self, call: &MindInvocation) {
        let rules = self.rules();
        let key = call.meter_key(rules);
        self.protocol.count(key, call.parse.end);
        let model = match call.model_answered.as_str() {
            "" => &call.model_asked,
            _ => &call.model_answered,
        };
        let of_model = self.by_model.entry(model.clone()).or_default();
        of_model.count(key, call.parse.end);
        let notes = &call.parse.notes;
        let suspect = call.parse.reason == Reason::Silence && notes.contains(&Note::NearDelimiter);
        self.suspects += u64::from(suspect);
        for note in notes {
            *self.notes.entry(*note).or_default() += 1;
        }
        self.retries += (call.attempts.len() as u64).saturating_sub(1);
        self.tokens.prompt = rules.add_tokens(self.tokens.prompt, call.tokens.prompt);
        self.tokens.completion = rules.add_tokens(self.tokens.completion, call.tokens.completion);
        self.estimated |= call.tokens.estimated;
        if let Some(cost) = call.cost_usd {
            *self.cost_usd.get_or_insert(0.0) += cost;
        }
    }

    pub(super) fn rules(&self) -> Rules {
        Rules::of(self.start.schema_version)
    }

    /// Answers: calls that did not fail.
    pub fn answers(&self) -> u64 {
        self.protocol.compliant + self.protocol.tolerated + self.protocol.lost
    }
}
