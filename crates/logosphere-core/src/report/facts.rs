//! The facts of a journal besides its messages.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::config::Settings;
use crate::format::{Note, Reason, Rules};
use crate::journal::{
    CallError, ExperimentEnd, ExperimentStart, Intervention, MindInvocation, Protocol, RoundEnd,
    RunInterrupted, RunResumed, TokenTotals, dollars,
};
use crate::pool::{Retention, Round};
use crate::verify::state::RunState;
use crate::verify::{Fold, Observer, ResumeError, Transcript};

/// The facts of a journal besides its messages.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunFacts {
    /// The first event.
    pub start: ExperimentStart,
    /// The settings at the end.
    pub settings: Settings,
    /// The time of the first event as it is written.
    pub began: String,
    /// The time of the last event as it is written.
    pub ended: String,
    /// The end of the run.
    pub end: RunEnd,
    /// The number of times that it was resumed.
    pub resumed: u64,
    /// The protocol meter of all answers.
    pub protocol: Protocol,
    /// The protocol meter of each model that answered, by the index of its entry in `minds` and its id.
    pub by_model: BTreeMap<(usize, String), Protocol>,
    /// The number of silent answers that may have been intended as messages.
    pub suspects: u64,
    /// The number of answers with each note.
    pub notes: BTreeMap<Note, u64>,
    /// The rounds that ended.
    pub rounds: Vec<RoundFacts>,
    /// The number of calls that failed after all their attempts, by class.
    pub failures: BTreeMap<&'static str, u64>,
    /// The number of attempts after the first of their calls.
    pub retries: u64,
    /// The tokens of all calls.
    pub tokens: TokenTotals,
    /// Whether some token counts are estimates.
    pub estimated: bool,
    /// The cost in US dollars; `None` if no price is known.
    pub cost_usd: Option<f64>,
    /// The number of lines of the journal.
    pub lines: u64,
    /// The chain of the last line.
    pub chain: String,
}

/// A round that ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RoundFacts {
    /// The round, from 1.
    pub round: Round,
    /// The protocol meter of the round.
    pub protocol: Protocol,
    /// Tokens of the run so far.
    pub tokens: TokenTotals,
    /// US dollars of the run so far; `None` if no price is known.
    pub cost_usd: Option<f64>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunEnd {
    /// The run ended for this reason.
    Ended(String),
    /// The run was interrupted and can be resumed.
    Interrupted(RunInterrupted),
    /// The journal has no end: the run is in progress or was killed.
    Open,
}

impl RunFacts {
    /// Reads a journal to its end or to an incomplete last line.
    ///
    /// # Errors
    /// See [`Transcript::read`].
    pub fn read(journal: impl BufRead) -> Result<(Self, Transcript), ResumeError> {
        let fold = Fold::keeping(journal, Retention::Active)?.until_torn();
        let mut seen = FactCollector {
            transcript: Transcript::begin(fold.start()),
            end: RunEnd::Open,
            resumed: 0,
            by_model: BTreeMap::new(),
            suspects: 0,
            notes: BTreeMap::new(),
            rounds: Vec::new(),
            failures: BTreeMap::new(),
            retries: 0,
            estimated: false,
        };
        let run = fold.run(&mut seen)?;
        let facts = Self {
            start: *run.start,
            settings: run.state.settings().clone(),
            began: run.began,
            ended: run.ended,
            end: seen.end,
            resumed: seen.resumed,
            protocol: run.state.protocol().clone(),
            by_model: seen.by_model,
            suspects: seen.suspects,
            notes: seen.notes,
            rounds: seen.rounds,
            failures: seen.failures,
            retries: seen.retries,
            tokens: run.state.tokens(),
            estimated: seen.estimated,
            cost_usd: run.state.cost().map(dollars),
            lines: run.lines,
            chain: run.chain,
        };
        Ok((facts, seen.transcript))
    }

    pub(super) fn rules(&self) -> Rules {
        Rules::of(self.start.schema_version)
    }

    /// Returns the number of answers: calls that did not fail.
    pub fn answers(&self) -> u64 {
        self.protocol.compliant + self.protocol.tolerated + self.protocol.lost
    }
}

/// The facts that the state of a run does not keep.
struct FactCollector {
    transcript: Transcript,
    end: RunEnd,
    resumed: u64,
    by_model: BTreeMap<(usize, String), Protocol>,
    suspects: u64,
    notes: BTreeMap<Note, u64>,
    rounds: Vec<RoundFacts>,
    failures: BTreeMap<&'static str, u64>,
    retries: u64,
    estimated: bool,
}

impl Observer for FactCollector {
    fn on_call(&mut self, call: &MindInvocation, number: u64, state: &RunState) {
        self.transcript.on_call(call, number, state);
        let model = match call.model_answered.as_str() {
            "" => &call.model_asked,
            _ => &call.model_answered,
        };
        let entry = state.settings().entry_of(call.mind_id.0);
        let of_model = self.by_model.entry((entry, model.clone())).or_default();
        of_model.count(state.meter_key(call), call.parse.end);
        let notes = &call.parse.notes;
        let suspect = call.parse.reason == Reason::Silence && notes.contains(&Note::NearDelimiter);
        self.suspects += u64::from(suspect);
        for note in notes {
            *self.notes.entry(*note).or_default() += 1;
        }
        self.retries += (call.attempts.len() as u64).saturating_sub(1);
        self.estimated |= call.tokens.estimated;
    }

    fn on_round(&mut self, end: &RoundEnd, state: &RunState) {
        self.transcript.on_round(end, state);
        self.rounds.push(RoundFacts {
            round: end.round,
            protocol: end.protocol.clone(),
            tokens: end.tokens_total,
            cost_usd: end.cost_usd_total,
        });
    }

    fn on_intervention(&mut self, event: &Intervention, state: &RunState) {
        self.transcript.on_intervention(event, state);
    }

    fn on_error(&mut self, error: &CallError) {
        *self.failures.entry(error.class.as_str()).or_default() += 1;
    }

    fn on_interrupt(&mut self, stop: &RunInterrupted, _: &RunState) {
        self.end = RunEnd::Interrupted(stop.clone());
    }

    fn on_resume(&mut self, _: &RunResumed, _: &RunState) {
        self.end = RunEnd::Open;
        self.resumed += 1;
    }

    fn on_end(&mut self, end: &ExperimentEnd) {
        self.end = RunEnd::Ended(end.stop_reason.clone());
    }
}
