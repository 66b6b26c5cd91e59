//! The state of a run.

use std::collections::VecDeque;
use std::sync::Arc;

use llm_types::Usd;

use super::error::StateError;
use crate::config::{ModelSettings, RetentionSetting, Settings};
use crate::format::{Reason, Rules, SystemPrompt};
use crate::journal::{
    AttemptFacts, Event, ExperimentEnd, ExperimentStart, MindInvocation, OwnTotals, Protocol,
    RequestTemplate, RoundEnd, RoundStart, RunResumed, TokenTotals, dollars, may_cost, usd,
};
use crate::pool::{ActiveView, MessageId, MindId, Origin, Pool, Retention, Round};

/// The number of last answers that `loss_above` considers.
const LOSS_WINDOW: usize = 50;

/// The state of a run after some of its events.
#[derive(Debug, Clone)]
pub struct RunState {
    pub(super) rules: Rules,
    pub(super) settings: Settings,
    pub(super) system: SystemPrompt,
    /// For each entry of the minds.
    models: Vec<Arc<ModelSettings>>,
    pub(super) template: RequestTemplate,
    pub(super) pool: Pool,
    /// The last round that began.
    pub(super) round: Round,
    pub(super) open: Option<OpenRound>,
    ended: bool,
    tokens: TokenTotals,
    cost: Option<Usd>,
    protocol: Protocol,
    errors: u64,
    /// Attempts without an answer that the provider may bill.
    broken: u64,
    /// The tokens of the longest prompt.
    longest_prompt: u64,
    /// The number of rounds without a message up to now, in a row.
    silent_rounds: u32,
    /// The number of calls that failed up to now, in a row.
    failures: u64,
    /// Whether each of the last answers was lost.
    losses: VecDeque<bool>,
    /// The number of calls.
    calls: u64,
    /// The id of the run: that of the last fork.
    pub(super) run_id: String,
    /// The totals at the last fork.
    pub(super) forked: Option<OwnTotals>,
}

/// A round that has begun and not ended.
#[derive(Debug, Clone)]
pub(super) struct OpenRound {
    /// The active pool when it began.
    pub(super) view: ActiveView,
    next_mind: MindId,
    ids: Vec<MessageId>,
    texts: Vec<String>,
    protocol: Protocol,
}

/// The next step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// The next round begins.
    Begin,
    /// A mind is called.
    Call {
        /// The mind, from 0.
        mind: MindId,
    },
    /// The round ends.
    EndRound,
    /// The run ends for this reason.
    End(&'static str),
    /// The run has ended.
    Done,
}

impl RunState {
    /// Returns the state of a run that has just begun.
    ///
    /// # Errors
    /// The pool refuses a seed message.
    pub fn new(start: &ExperimentStart) -> Result<Self, StateError> {
        let keep = match start.effective.settings.keep {
            RetentionSetting::All => Retention::All,
            RetentionSetting::Active => Retention::Active,
        };
        Self::keeping(start, keep)
    }

    /// Returns the state of a run that has just begun, with a pool that keeps these messages.
    pub(crate) fn keeping(start: &ExperimentStart, keep: Retention) -> Result<Self, StateError> {
        let settings = start.effective.settings.clone();
        let mut pool = Pool::new(settings.m_active_pool, keep).mode(settings.parse_mode);
        for seed in &start.seeds {
            pool.add(&seed.text, Origin::Seed)?;
        }
        Ok(Self {
            rules: Rules::of(start.schema_version),
            system: settings.prompt(),
            models: settings.entries().into_iter().map(Arc::new).collect(),
            template: start.request_template.clone(),
            pool,
            settings,
            round: Round::default(),
            open: None,
            ended: false,
            tokens: TokenTotals::default(),
            cost: None,
            protocol: Protocol::default(),
            errors: 0,
            broken: 0,
            longest_prompt: 0,
            silent_rounds: 0,
            failures: 0,
            losses: VecDeque::new(),
            calls: 0,
            run_id: start.run_id.clone(),
            forked: None,
        })
    }

    /// Returns the key of a call in the protocol meter: its outcome, or a more exact reason of its loss.
    pub fn meter_key(&self, call: &MindInvocation) -> Reason {
        call.meter_key(self.rules)
    }

    /// Returns the id of the run: that of its last fork, else that of its start.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Returns the settings after all changes.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the constant part of every request of a mind.
    pub fn template_of(&self, mind: MindId) -> &RequestTemplate {
        self.template.of_entry(self.settings.entry_of(mind.0))
    }

    /// Returns the part of the requests of a mind that follows from the settings.
    pub(super) fn model_of(&self, mind: MindId) -> &Arc<ModelSettings> {
        &self.models[self.settings.entry_of(mind.0)]
    }

    /// Returns the pool.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Returns the protocol meter of all answers.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// Returns the tokens of all calls so far.
    pub fn tokens(&self) -> TokenTotals {
        self.tokens
    }

    /// Returns the cost so far; `None` if no price is known.
    pub fn cost(&self) -> Option<Usd> {
        self.cost
    }

    /// Returns the number of calls that failed after all their attempts.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Returns an upper bound of the tokens of attempts without an answer. Their cost is unknown.
    pub fn lost_tokens(&self) -> TokenTotals {
        let tokens = |each: u64| self.broken.saturating_mul(each);
        TokenTotals {
            prompt: tokens(self.longest_prompt),
            completion: tokens(u64::from(self.settings.token_limit)),
        }
    }

    /// Returns whether one more failed call stops the run: three times as many in a row as there are minds.
    pub(crate) fn is_failing_too_often(&self) -> bool {
        self.failures + 1 >= 3 * u64::from(self.settings.n_minds)
    }

    /// Returns whether one more failed call leaves the open round without any answer.
    pub(crate) fn is_last_without_answer(&self) -> bool {
        self.open.as_ref().is_some_and(|open| {
            let failed = open.protocol.by_reason.get(&Reason::CallFailed);
            let failed = failed.copied().unwrap_or_default() + 1;
            failed == u64::from(self.settings.n_minds)
        })
    }

    /// Returns the last round that began; 0 before the first one.
    pub fn round(&self) -> Round {
        self.round
    }

    /// Returns the next step.
    pub fn next(&self) -> Step {
        match &self.open {
            Some(open) if open.next_mind.0 < self.settings.n_minds => Step::Call {
                mind: open.next_mind,
            },
            Some(_) => Step::EndRound,
            None if self.ended => Step::Done,
            None => match self.stop_reason(&self.settings) {
                Some(reason) => Step::End(reason),
                None => Step::Begin,
            },
        }
    }

    /// Returns the round and the mind of the next call.
    pub fn next_call(&self) -> (Round, MindId) {
        match self.next() {
            Step::Call { mind } => (self.round, mind),
            Step::EndRound | Step::End(_) | Step::Begin | Step::Done => {
                (self.round.next(), MindId::default())
            }
        }
    }

    /// Returns the rule that keeps another round from beginning under these settings.
    pub fn stop_reason(&self, settings: &Settings) -> Option<&'static str> {
        let stop = &settings.stop;
        let lost = self.losses.iter().filter(|lost| **lost).count();
        if self.round.0 >= settings.max_rounds {
            Some("max_rounds")
        } else if stop
            .silence_rounds
            .is_some_and(|most| self.silent_rounds >= most && most > 0)
        {
            Some("silence_rounds")
        } else if stop.loss_above.is_some_and(|share| {
            self.losses.len() == LOSS_WINDOW && lost as f64 > share * LOSS_WINDOW as f64
        }) {
            Some("loss_above")
        } else if stop.fixed_pool && self.round.0 > 0 && self.is_fixed() {
            Some("fixed_pool")
        } else {
            None
        }
    }

    /// Returns whether all messages that can be read are equal. A single message does not count.
    fn is_fixed(&self) -> bool {
        let mut texts = self.pool.active().map(|id| self.pool.text(id));
        let first = texts.next();
        self.pool.active_len() > 1 && texts.all(|text| Some(text) == first)
    }

    /// Returns the event of a round that begins now.
    pub fn round_start(&self) -> RoundStart {
        RoundStart {
            round: self.round.next(),
            pool_size: self.pool.len(),
            active_pool_size: self.pool.active_len() as u64,
        }
    }

    /// Returns the event of the end of the open round.
    pub fn round_end(&self) -> RoundEnd {
        let (ids, texts, protocol) = match &self.open {
            Some(open) => (open.ids.clone(), open.texts.clone(), open.protocol.clone()),
            None => Default::default(),
        };
        RoundEnd {
            round: self.round,
            messages_added: ids.len() as u64,
            pool_delta: texts,
            added_ids: ids,
            protocol,
            tokens_total: self.tokens,
            cost_usd_total: self.cost.map(dollars),
        }
    }

    /// Returns the event of the end of the run.
    pub fn end(&self, stop_reason: &str) -> ExperimentEnd {
        ExperimentEnd {
            total_rounds: self.round.0,
            final_pool_size: self.pool.len(),
            total_tokens: self.tokens.completion,
            stop_reason: stop_reason.to_owned(),
            tokens: self.tokens,
            cost_usd: self.cost.map(dollars),
            protocol: self.protocol.clone(),
            errors: self.errors,
            own: self.own(),
        }
    }

    /// Applies an event.
    ///
    /// # Errors
    /// The event does not follow from those before it. The state is then unusable.
    pub fn apply(&mut self, event: &Event) -> Result<(), StateError> {
        match event {
            Event::RoundStart(start) => self.begin_round(start),
            Event::MindInvocation(call) => self.take_call(call),
            Event::RoundEnd(end) => self.end_round(end),
            Event::ExperimentEnd(_) => match self.next() {
                Step::End(_) => {
                    self.ended = true;
                    Ok(())
                }
                _ => Err(self.unexpected(event.kind())),
            },
            Event::RunResumed(resumed) => self.resume(resumed),
            Event::Forked(forked) => self.fork(forked),
            Event::Intervention(change) => self.intervene(change),
            Event::Error(error) => {
                self.count_broken(&error.attempts);
                Ok(())
            }
            // It changes nothing of what happens next.
            Event::RunInterrupted(_) => Ok(()),
            Event::ExperimentStart(_) => Err(self.unexpected(event.kind())),
        }
    }

    pub(crate) fn unexpected(&self, found: &'static str) -> StateError {
        let expected = match self.next() {
            Step::Begin => format!("round_start {}", self.round.next()),
            Step::Call { mind } => {
                format!("mind_invocation of mind {mind} in round {}", self.round)
            }
            Step::EndRound => format!("round_end {}", self.round),
            Step::End(reason) => format!("experiment_end ({reason})"),
            Step::Done => "run_resumed, or nothing,".to_owned(),
        };
        StateError::Order { expected, found }
    }

    fn begin_round(&mut self, start: &RoundStart) -> Result<(), StateError> {
        if self.next() != Step::Begin || start.round != self.round.next() {
            return Err(self.unexpected("round_start"));
        }
        self.round = start.round;
        let view = self.pool.snapshot();
        self.pool.pin(view.clone());
        self.open = Some(OpenRound {
            view,
            next_mind: MindId::default(),
            ids: Vec::new(),
            texts: Vec::new(),
            protocol: Protocol::default(),
        });
        Ok(())
    }

    fn take_call(&mut self, call: &MindInvocation) -> Result<(), StateError> {
        let due = Step::Call { mind: call.mind_id };
        if self.next() != due || call.round != self.round {
            return Err(self.unexpected("mind_invocation"));
        }
        let first = self.pool.len();
        let mut ids = Vec::with_capacity(call.transmitted.len());
        for text in &call.transmitted {
            ids.push(self.pool.add(text, Origin::Mind)?);
        }
        if ids != call.added_ids {
            return Err(StateError::Ids {
                expected: ids,
                found: call.added_ids.clone(),
            });
        }
        if let Some(id) = call.sampled_ids.iter().find(|id| id.0 >= first) {
            return Err(StateError::Sampled { id: *id });
        }
        let (prompt, completion) = (call.tokens.prompt, call.tokens.completion);
        let rules = self.rules;
        self.tokens.prompt = rules.add_tokens(self.tokens.prompt, prompt);
        self.tokens.completion = rules.add_tokens(self.tokens.completion, completion);
        self.longest_prompt = self.longest_prompt.max(prompt);
        if let Some(cost) = call.cost_usd {
            let total = self.cost.get_or_insert_default();
            *total = total.saturating_add(usd(cost));
        }
        let key = call.meter_key(rules);
        if key == Reason::CallFailed {
            self.errors += 1;
            self.failures += 1;
        } else {
            // Those of a failed call are in its error event.
            self.count_broken(&call.attempts);
            self.failures = 0;
            self.losses.push_back(key.is_loss());
            if self.losses.len() > LOSS_WINDOW {
                self.losses.pop_front();
            }
        }
        self.calls += 1;
        self.protocol.count(key, call.parse.end);
        if let Some(open) = &mut self.open {
            open.protocol.count(key, call.parse.end);
            open.ids.extend(ids);
            open.texts.extend_from_slice(&call.transmitted);
            open.next_mind = open.next_mind.next();
        }
        Ok(())
    }

    fn count_broken(&mut self, attempts: &[AttemptFacts]) {
        let classes = attempts.iter().filter_map(|attempt| attempt.class);
        let broken = classes.filter(|class| may_cost(*class));
        self.broken = self.broken.saturating_add(broken.count() as u64);
    }

    fn end_round(&mut self, end: &RoundEnd) -> Result<(), StateError> {
        if self.next() != Step::EndRound || end.round != self.round {
            return Err(self.unexpected("round_end"));
        }
        if self.open.take().is_some_and(|open| open.ids.is_empty()) {
            self.silent_rounds += 1;
        } else {
            self.silent_rounds = 0;
        }
        self.pool.unpin();
        Ok(())
    }

    /// Resumes the run after an interruption, or after its end if it has more rounds now.
    fn resume(&mut self, resumed: &RunResumed) -> Result<(), StateError> {
        self.settings = self.settings.with_changes(&resumed.changed)?;
        self.begin_again();
        Ok(())
    }

    /// Begins again in another process or as a fork.
    pub(super) fn begin_again(&mut self) {
        self.ended = false;
        self.failures = 0;
    }

    /// Continues with these settings.
    pub(super) fn use_settings(&mut self, settings: Settings) {
        self.system = settings.prompt();
        self.models = settings.entries().into_iter().map(Arc::new).collect();
        self.settings = settings;
    }

    /// The totals of the run so far.
    pub(super) fn totals(&self) -> OwnTotals {
        OwnTotals {
            calls: self.calls,
            tokens: self.tokens,
            cost_usd: self.cost.map(dollars),
            errors: self.errors,
        }
    }
}
