//! The state of a run, computed from its events alone, and the events that follow from it.
//!
//! Running, resuming and verifying share it. A run applies the events that it writes. A resumed run first applies the
//! events of the journal. A verification compares each event of the journal with the expected one.

use std::collections::VecDeque;
use std::sync::Arc;

use llm_types::Usd;

use crate::config::{
    ForgedSignaturePolicy, ModelSettings, RetentionSetting, Scheduling, Settings, SettingsError,
};
use crate::format::{Reason, Rules, SystemPrompt, format_prompt, parse_in_run};
use crate::journal::{
    AttemptFacts, Event, ExperimentEnd, ExperimentStart, MindInvocation, MindReply, ParseFacts,
    Protocol, RequestTemplate, RoundEnd, RoundStart, RunResumed, TokenTotals, dollars, may_cost,
    usd,
};
use crate::mind::MindInput;
use crate::pool::{
    ActiveView, MessageId, MindId, Origin, Pool, PoolError, Retention, Round, sample_rng,
};

/// The number of last answers that `loss_above` considers.
const LOSS_WINDOW: usize = 50;

/// The state of a run after some of its events.
#[derive(Debug, Clone)]
pub struct RunState {
    rules: Rules,
    settings: Settings,
    system: SystemPrompt,
    model: Arc<ModelSettings>,
    template: RequestTemplate,
    pool: Pool,
    /// The last round that began.
    round: Round,
    open: Option<OpenRound>,
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
}

/// A round that has begun and not ended.
#[derive(Debug, Clone)]
struct OpenRound {
    /// The active pool when it began.
    view: ActiveView,
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

/// A call before it is made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallPlan {
    /// The round, from 1.
    pub round: Round,
    /// The mind, from 0.
    pub mind: MindId,
    /// The ids of the messages to read, in the order of the prompt.
    pub sampled: Vec<MessageId>,
    /// The texts of these messages.
    pub texts: Vec<String>,
    /// The input of the mind.
    pub input: MindInput,
    /// SHA-256 of the whole prompt.
    pub prompt_sha256: String,
    /// The request's body.
    pub body: Vec<u8>,
    /// The SHA-256 of the request's body.
    pub request_sha256: String,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// An answer.
    Reply(MindReply),
    /// A failure, with its attempts.
    Failed(Vec<AttemptFacts>),
}

/// The error of an event that does not follow from those before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The pool refuses a message.
    #[error("a message cannot be in the pool")]
    Pool(#[from] PoolError),
    /// The event is not the expected one.
    #[error("{found} where {expected} should be")]
    Order {
        /// The expected event.
        expected: String,
        /// The type of the event.
        found: &'static str,
    },
    /// The ids of an event are not those of its messages.
    #[error("added_ids {found:?} of messages that have the ids {expected:?}")]
    Ids {
        /// The ids of the messages.
        expected: Vec<MessageId>,
        /// The ids in the event.
        found: Vec<MessageId>,
    },
    /// A message was read before it was sent.
    #[error("sampled_ids contains {id}, which had not been sent yet")]
    Sampled {
        /// The id of the message.
        id: MessageId,
    },
    /// A resumed run changes a setting that cannot change.
    #[error(transparent)]
    Setting(#[from] SettingsError),
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
            model: settings.model_settings().into(),
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
        })
    }

    /// Returns the key of a call in the protocol meter: its outcome, or a more exact reason of its loss.
    pub fn meter_key(&self, call: &MindInvocation) -> Reason {
        call.meter_key(self.rules)
    }

    /// Returns the settings after all changes.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the constant part of every request.
    pub fn template(&self) -> &RequestTemplate {
        &self.template
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

    /// Returns the next call of a mind in the open round: its sample and its request.
    pub fn plan(&self, mind: MindId) -> CallPlan {
        let settings = &self.settings;
        let mut rng = sample_rng(settings.seed, self.round, mind);
        let sampled = match (&self.open, settings.scheduling) {
            (Some(open), Scheduling::Snapshot) => open.view.sample(settings.k_samples, &mut rng),
            _ => self.pool.sample(settings.k_samples, &mut rng),
        };
        let texts: Vec<String> = (sampled.iter())
            .filter_map(|id| self.pool.text(*id).map(str::to_owned))
            .collect();
        let prompt = format_prompt(&self.system, texts.iter().map(String::as_str));
        let body = self.template.fill(prompt.user());
        CallPlan {
            round: self.round,
            mind,
            sampled,
            texts,
            prompt_sha256: prompt.sha256(),
            request_sha256: crate::format::sha256_hex(&body),
            body,
            input: MindInput::new(prompt, self.model.clone()),
        }
    }

    /// Returns the event of a round that begins now.
    pub fn round_start(&self) -> RoundStart {
        RoundStart {
            round: self.round.next(),
            pool_size: self.pool.len(),
            active_pool_size: self.pool.active_len() as u64,
        }
    }

    /// Returns the event of a call.
    pub fn invocation(
        &self,
        planned: CallPlan,
        outcome: Outcome,
        latency_ms: u64,
    ) -> MindInvocation {
        let settings = &self.settings;
        let failed = matches!(outcome, Outcome::Failed(_));
        let reply = match outcome {
            Outcome::Reply(reply) => reply,
            Outcome::Failed(attempts) => MindReply {
                attempts,
                ..MindReply::default()
            },
        };
        let rules = self.rules;
        let (mode, signature) = (settings.parse_mode, &settings.init_signature);
        let mut parsed = parse_in_run(&reply.text, mode, signature, rules);
        if matches!(
            reply.finish_reason.as_deref(),
            Some("max_tokens" | "context_window")
        ) {
            parsed = parsed.truncated();
        }
        if settings.impersonation == ForgedSignaturePolicy::Discard
            && parsed.signature == settings.init_signature
        {
            parsed = parsed.discard_impersonation();
        }
        let over_cap = settings.message_cap(rules).apply(&mut parsed);
        if failed {
            parsed.reason = Reason::CallFailed;
        }
        let mut attempts = reply.attempts;
        if !rules.records_finish {
            for attempt in &mut attempts {
                attempt.notes.clear();
            }
        }
        let first = self.pool.len();
        let added_ids = (first..)
            .map(MessageId)
            .take(parsed.messages.len())
            .collect();
        let echoed_ids = (planned.sampled.iter().zip(&planned.texts))
            .filter(|(_, text)| parsed.messages.contains(text))
            .map(|(id, _)| *id)
            .collect();
        MindInvocation {
            round: planned.round,
            mind_id: planned.mind,
            input_messages: planned.texts,
            thinking: parsed.thinking,
            transmitted: parsed.messages,
            completed: parsed.completed,
            signature: parsed.signature,
            tokens_used: reply.tokens.completion,
            raw_output: reply.text,
            sampled_ids: planned.sampled,
            added_ids,
            echoed_ids,
            parse: ParseFacts {
                mode: settings.parse_mode,
                end: parsed.end,
                reason: parsed.reason,
                notes: parsed.notes,
                lost_blocks: parsed.lost_blocks,
                lost_chars: parsed.lost_chars,
                over_cap,
            },
            prompt_sha256: planned.prompt_sha256,
            request_sha256: planned.request_sha256,
            model_asked: settings.model.clone(),
            model_answered: reply.model,
            finish_reason: reply.finish_reason,
            finish_raw: rules.records_finish.then_some(reply.finish_raw),
            tokens: reply.tokens,
            cost_usd: reply.cost.map(dollars),
            latency_ms,
            attempts,
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
        self.ended = false;
        self.failures = 0;
        Ok(())
    }
}
