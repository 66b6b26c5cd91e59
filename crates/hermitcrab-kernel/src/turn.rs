//! One turn: ask, run the tools that are called, ask again, until there is an answer for the person.

use llm_client::{Block, BlockKind, Message, Reply, Role, StopReason, ToolInput};
use pscale_blocks::{O200k, Provenance};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::conversation::{self, Conversation};
use crate::kernel::Inner;
use crate::prompt::Phase;
use crate::tools::run::{Caller, Facts};
use crate::window::{self, WindowLimits};
use crate::{
    BrainError, BrainReply, Event, EventSink, Face, Fault, KernelError, ShellError, Taken,
    ToolOutcome,
};

/// The longest message of the person in characters.
const MAX_INPUT: usize = 60_000;
/// How often a reply may pause in a turn.
const PAUSES: u32 = 5;
/// After so many equal calls of a tool the model is warned, and after so many the turn is closed.
const WARN_AT: u32 = 3;
const CLOSE_AT: u32 = 5;
/// Attempts to mend a shell that failed, in a turn and in a boot.
const REPAIRS: u32 = 5;
const BOOT_REPAIRS: u32 = 3;

/// What a turn came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnReport {
    /// What the model says to the person.
    pub text: String,
    /// Requests, pauses not counted.
    pub rounds: u32,
    /// The tools that were called, in order.
    pub tools: Vec<String>,
    /// What it took.
    pub usage: Taken,
    /// The model that answered last.
    pub model: String,
    /// Set when no model answers: what does.
    pub offline: Option<String>,
    /// Why the turn was closed before the model was done, in one line.
    pub stopped: Option<String>,
    /// Set when no shell could be mended: what was wrong with the last one. A host shows its own face then.
    pub safe_face: Option<Vec<ShellError>>,
}

impl Inner {
    pub(crate) async fn turn(
        &self,
        input: String,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, KernelError> {
        let size = input.chars().count();
        if size > MAX_INPUT {
            let limit = MAX_INPUT;
            return Err(KernelError::TooLong { size, limit });
        }
        if input.trim().is_empty() {
            return Err(KernelError::Empty);
        }
        let mut conversation = self.conversation.lock().await;
        // No key is ever on record, nor sent to a model.
        let message = Message::user(pscale_blocks::remove_keys(&input).0);
        let turn = Turn::new(self, &mut conversation, Phase::Call, events, cancel);
        turn.run(message).await
    }
}

/// A turn under way.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says whether something was done that is done once"
)]
pub(crate) struct Turn<'a> {
    pub inner: &'a Inner,
    pub conversation: &'a mut Conversation,
    pub phase: Phase,
    pub events: &'a EventSink,
    pub cancel: &'a CancellationToken,
    pub facts: Facts,
    /// Said in this turn and not on record yet: a round goes there whole, with its results.
    pending: Vec<Message>,
    /// Messages of this turn that are on record.
    stored: usize,
    /// What the model has said to the person.
    text: String,
    model: String,
    rounds: u32,
    pauses: u32,
    limits: WindowLimits,
    tools_off: bool,
    /// A cut reply was asked to go on.
    continued: bool,
    /// The next words follow the last ones directly.
    goes_on: bool,
    /// The model was asked for a last sentence.
    closing: bool,
    /// The window was made smaller.
    shrunk: bool,
    /// The model after which the chain goes on: it refused.
    after: Option<String>,
    stopped: Option<String>,
    safe_face: Option<Vec<ShellError>>,
}

/// What follows a reply.
enum Next {
    Ask,
    Done,
}

impl<'a> Turn<'a> {
    pub fn new(
        inner: &'a Inner,
        conversation: &'a mut Conversation,
        phase: Phase,
        events: &'a EventSink,
        cancel: &'a CancellationToken,
    ) -> Self {
        inner.begin_turn();
        Self {
            inner,
            conversation,
            phase,
            events,
            cancel,
            facts: Facts::default(),
            pending: Vec::new(),
            stored: 0,
            text: String::new(),
            model: inner.brain.info().model,
            rounds: 0,
            pauses: 0,
            limits: WindowLimits::default(),
            tools_off: false,
            continued: false,
            goes_on: false,
            closing: false,
            shrunk: false,
            after: None,
            stopped: None,
            safe_face: None,
        }
    }

    /// Says `message` and goes on until the model is done or a limit is reached.
    pub async fn run(mut self, message: Message) -> Result<TurnReport, KernelError> {
        self.pending.push(message);
        loop {
            match self.round().await {
                Ok(Next::Ask) => {}
                Ok(Next::Done) => break,
                Err(error) => {
                    // What is whole stays; what was only asked is not on record.
                    self.pending.clear();
                    return Err(error);
                }
            }
        }
        let info = self.inner.brain.info();
        Ok(TurnReport {
            text: self.text,
            rounds: self.rounds,
            tools: self.facts.used,
            usage: self.inner.usage().turn,
            model: self.model,
            offline: info.offline,
            stopped: self.stopped,
            safe_face: self.safe_face,
        })
    }

    fn in_boot(&self) -> bool {
        self.phase != Phase::Call
    }

    fn wants_shell(&self) -> bool {
        matches!(
            self.phase,
            Phase::Boot {
                face: Face::Page,
                ..
            }
        )
    }

    /// One request, and what its answer asks for.
    async fn round(&mut self) -> Result<Next, KernelError> {
        let budgets = self.inner.config.settings.budgets;
        let most = if self.in_boot() {
            budgets.boot_rounds
        } else {
            budgets.rounds
        };
        if self.cancel.is_cancelled() {
            return Ok(self.stop("stopped".to_owned()));
        }
        if self.rounds >= most {
            return Ok(self.stop(format!(
                "stopped after {most} rounds (budgets.{}); say \"go on\" to continue",
                if self.in_boot() {
                    "boot_rounds"
                } else {
                    "rounds"
                }
            )));
        }
        let shown = self.window();
        let request = self
            .inner
            .request(self.phase, shown, self.tools_off, self.after.clone());
        if let Some(line) = self.inner.over_budget(&request) {
            return Ok(self.stop(line));
        }
        let answer = self
            .inner
            .brain
            .complete(request, self.events.clone(), self.cancel.clone())
            .await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(BrainError::Cancelled) => return Ok(self.stop("stopped".to_owned())),
            Err(error) => return Err(error.into()),
        };
        self.inner.meter_reply(&answer, self.events);
        self.model.clone_from(&answer.model);
        Ok(self.answered(answer).await)
    }

    /// What the model gets to see. Turns that it no longer sees move to the block `history`.
    fn window(&mut self) -> Vec<Message> {
        let all: Vec<_> = (self.conversation.messages().iter())
            .chain(&self.pending)
            .cloned()
            .collect();
        let current = self.conversation.messages().len() - self.stored;
        let mut window = window::trim(all, Some(current), self.limits, &O200k);
        if window.kept_from > 0 {
            self.inner
                .move_to_history(self.conversation, window.kept_from, self.events);
        }
        if self.conversation.has_moved()
            && !window.notice
            && let Some(first) = window.messages.first_mut()
        {
            first.content.insert(0, Block::text(window::NOTICE));
        }
        window.messages
    }

    async fn answered(&mut self, answer: BrainReply) -> Next {
        let reply = answer.reply;
        let mut message = reply.to_message();
        window::distinct_ids(&mut message, self.conversation.messages());
        let calls = calls(&message);
        let searched = |block: &Block| matches!(block.kind, BlockKind::ServerToolResult { .. });
        if message.content.iter().any(searched) {
            self.facts.web = Some("a search of the provider".to_owned());
        }
        let text = reply.text();
        // In a boot only what stands beside the face, or ends it, is a greeting.
        let is_answer = !self.in_boot()
            || calls.is_empty()
            || calls.iter().any(|call| call.name == "recompile");
        let before = self.text.len();
        if is_answer {
            self.hear(&text);
        }
        match &reply.stop {
            StopReason::PauseTurn if calls.is_empty() => self.paused(message),
            StopReason::Refusal => {
                self.text.truncate(before);
                self.refused(&reply, answer.model)
            }
            StopReason::ContextWindow if calls.is_empty() => self.shrink(),
            StopReason::MaxTokens => self.cut_off(message, calls, &text).await,
            _ if !calls.is_empty() => self.run_calls(message, calls, None).await,
            stop => {
                if let StopReason::Other(other) = stop {
                    self.events
                        .notice(format!("the reply ends for an unknown reason: {other}"));
                }
                self.ended(message, &text).await
            }
        }
    }

    /// What the model says beside its tools belongs to its answer. What goes on where it stopped is one text with it.
    fn hear(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !self.goes_on && !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.goes_on = false;
        self.text.push_str(text);
    }

    fn paused(&mut self, message: Message) -> Next {
        if self.pauses == PAUSES {
            self.pending.push(message);
            return self.stop(format!("stopped after {PAUSES} pauses of the provider"));
        }
        self.pauses += 1;
        self.goes_on = true;
        // The content goes back as it came.
        self.pending.push(message);
        Next::Ask
    }

    fn refused(&mut self, reply: &Reply, model: String) -> Next {
        let details = reply
            .stop_details
            .as_ref()
            .and_then(|raw| raw.to::<Value>().ok());
        let category = details
            .as_ref()
            .and_then(|details| details["category"].as_str())
            .map(|category| format!(" ({category})"))
            .unwrap_or_default();
        let line = format!("{model} declines to answer this{category}");
        self.events.notice(&line);
        let chain = &self.inner.config.settings.models;
        let is_last = chain.last().is_none_or(|last| last.id == model);
        if self.inner.config.settings.fallback_on_refusal && !is_last {
            self.rounds += 1;
            self.after = Some(model);
            return Next::Ask;
        }
        if self.text.trim().is_empty() {
            self.text.clone_from(&line);
        }
        self.pending.push(Message::assistant(format!("[{line}.]")));
        self.store();
        self.stopped = Some(line);
        Next::Done
    }

    /// The context window is full: with half as many turns it may do.
    fn shrink(&mut self) -> Next {
        if self.shrunk {
            return self.stop(
                "stopped: the model's context window is full; begin with a shorter message"
                    .to_owned(),
            );
        }
        self.shrunk = true;
        self.limits = WindowLimits {
            messages: self.limits.messages / 4,
            tokens: self.limits.tokens / 4,
        };
        Next::Ask
    }

    /// The reply is as long as allowed.
    async fn cut_off(&mut self, message: Message, calls: Vec<Call>, text: &str) -> Next {
        self.rounds += 1;
        if !calls.is_empty() {
            let last_is_call = matches!(
                message.content.last().map(|block| &block.kind),
                Some(BlockKind::ToolUse { .. })
            );
            let cut = last_is_call.then(|| calls.len() - 1);
            self.rounds -= 1;
            return self.run_calls(message, calls, cut).await;
        }
        let unclosed = text.matches("```").count() % 2 == 1;
        let ask = if unclosed {
            "[The component was cut off at the token limit. Send a smaller one with recompile, or change the \
             running one with patch_source.]"
        } else {
            "[Your answer was cut off at the token limit. Go on exactly where it stopped.]"
        };
        push_said(&mut self.pending, message);
        if self.continued {
            return self.stop("the answer was cut off at the token limit twice".to_owned());
        }
        self.continued = true;
        self.goes_on = true;
        self.pending.push(Message::user(ask));
        self.store();
        Next::Ask
    }

    /// Runs the calls of a reply, in order; `cut` is the one that was cut off.
    async fn run_calls(&mut self, message: Message, calls: Vec<Call>, cut: Option<usize>) -> Next {
        self.rounds += 1;
        self.continued = false;
        self.pending.push(message);
        let mut results = Vec::new();
        let mut repeated = false;
        for (index, call) in calls.into_iter().enumerate() {
            let outcome = if Some(index) == cut {
                Fault::new(
                    "cut_off",
                    "the reply ended at the token limit; the call was not run",
                )
                .hint("make it smaller")
                .into()
            } else if self.cancel.is_cancelled() {
                Fault::new("stopped", "the person stopped the turn").into()
            } else {
                let (outcome, again) = self.run_call(&call).await;
                repeated |= again;
                outcome
            };
            results.push(Block::tool_result(
                call.id,
                outcome.text(),
                outcome.is_error,
            ));
        }
        self.pending.push(Message::new(Role::User, results));
        self.store();
        if repeated {
            return self.stop(format!(
                "stopped: the same tool was called {CLOSE_AT} times with the same arguments"
            ));
        }
        let repairs = if self.in_boot() {
            BOOT_REPAIRS
        } else {
            REPAIRS
        };
        if self.facts.failed > repairs {
            self.safe_face = Some(std::mem::take(&mut self.facts.errors));
            return self.stop(format!(
                "no shell compiled in {} attempts: the safe face is shown",
                self.facts.failed
            ));
        }
        if self.in_boot() && self.facts.mounted > 0 {
            return Next::Done;
        }
        Next::Ask
    }

    /// Runs a call; answers whether it was made too often.
    async fn run_call(&mut self, call: &Call) -> (ToolOutcome, bool) {
        let input = match &call.input {
            Ok(input) => input.clone(),
            Err(text) => {
                let shown: String = text.chars().take(80).collect();
                let fault = Fault::new(
                    "bad_arguments",
                    format!("the arguments are no JSON: {shown}"),
                );
                self.facts.used.push(call.name.clone());
                return (fault.into(), false);
            }
        };
        let times = self.facts.called(&call.name, &input);
        if times >= WARN_AT {
            let fault = Fault::new(
                "repeated",
                format!(
                    "this is call {times} of {} with the same arguments in this turn",
                    call.name
                ),
            );
            return (
                fault
                    .hint("use the answer you have, or do something else")
                    .into(),
                times >= CLOSE_AT,
            );
        }
        self.events.send(Event::ToolStart {
            name: call.name.clone(),
            summary: summary(&input),
        });
        let begun = self.inner.clock.instant();
        let outcome = self.call_tool(&call.name, input).await;
        let took = self.inner.clock.instant().saturating_sub(begun);
        self.events.send(Event::ToolEnd {
            name: call.name.clone(),
            is_error: outcome.is_error,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
        (outcome, false)
    }

    /// Runs a tool in the name of the model, if it was offered.
    async fn call_tool(&mut self, name: &str, input: Value) -> ToolOutcome {
        let offered = self.inner.offered(self.phase);
        if crate::tool(name).is_some() && !offered.iter().any(|tool| tool == name) {
            return Fault::new("inactive", format!("{name} is not among your tools now"))
                .hint("choose it with set_tools first")
                .into();
        }
        let mut caller = Caller {
            by: self.model.clone(),
            provenance: Provenance::Model {
                id: self.model.clone(),
                web: self.facts.web.clone(),
            },
            boot: self.phase != Phase::Call,
            facts: &mut self.facts,
            events: self.events,
            cancel: self.cancel,
        };
        self.inner.run_tool(name, input, &mut caller).await
    }

    /// The model is done, or says so.
    async fn ended(&mut self, message: Message, text: &str) -> Next {
        self.rounds += 1;
        let silent = text.trim().is_empty();
        push_said(&mut self.pending, message);
        if self.phase == Phase::Call {
            if silent && !self.facts.used.is_empty() && !self.closing {
                self.closing = true;
                self.tools_off = true;
                self.pending.push(Message::user(
                    "[Say to the person in one sentence what you did.]",
                ));
                return Next::Ask;
            }
            if silent && self.closing {
                self.hear(&format!("done: {}", self.facts.used.join(", ")));
            }
            if silent && self.facts.used.is_empty() {
                self.events.notice("the model answered nothing");
                self.stopped = Some("the model answered nothing; say it in another way".to_owned());
            }
            self.store();
            return Next::Done;
        }
        self.booted_in_words(text).await
    }

    /// A boot ends in words: in a terminal they are the greeting, for a page there may be a component in them.
    async fn booted_in_words(&mut self, text: &str) -> Next {
        self.store();
        if !self.wants_shell() {
            return Next::Done;
        }
        if text.contains("```") {
            let outcome = self.call_tool("recompile", json!({ "jsx": text })).await;
            if !outcome.is_error {
                self.text = outside_fences(text);
                return Next::Done;
            }
            if self.facts.failed > BOOT_REPAIRS {
                self.safe_face = Some(std::mem::take(&mut self.facts.errors));
                self.stopped = Some("no shell compiled: the safe face is shown".to_owned());
                return Next::Done;
            }
            self.pending.push(Message::user(format!(
                "[Your component did not become the face: {}. Answer with one fenced jsx component.]",
                outcome.text()
            )));
            return Next::Ask;
        }
        if self.closing {
            self.stopped = Some("the model wrote no face: the safe face is shown".to_owned());
            self.safe_face = Some(Vec::new());
            return Next::Done;
        }
        self.closing = true;
        self.tools_off = true;
        self.pending.push(Message::user(
            "[No face is running. Answer with one component in a jsx fence.]",
        ));
        Next::Ask
    }

    /// Ends the turn at a limit: open calls get an answer, and what was said goes on record.
    fn stop(&mut self, line: String) -> Next {
        let fault = Fault::new("stopped", line.as_str());
        window::close_open(&mut self.pending, &fault);
        // A question without any answer is not on record: the person asks it again, or another one.
        if self
            .pending
            .iter()
            .any(|message| message.role == Role::Assistant)
        {
            self.store();
        }
        self.pending.clear();
        self.stopped = Some(line);
        Next::Done
    }

    /// Puts what was said on record. If that cannot be written it stays in memory, and the person is told.
    fn store(&mut self) {
        let now = self.inner.clock.now();
        let pending = std::mem::take(&mut self.pending);
        self.stored += pending.len();
        if let Err(error) = self.conversation.add(&self.inner.keeper, now, pending) {
            self.events.notice(format!(
                "{} cannot be written ({error}): what was said is in memory only, the next turn tries again",
                conversation::FILE
            ));
        }
    }
}

/// A call of a tool.
struct Call {
    id: String,
    name: String,
    /// The arguments, or the text that is none.
    input: Result<Value, String>,
}

fn calls(message: &Message) -> Vec<Call> {
    let blocks = message.content.iter();
    blocks
        .filter_map(|block| match &block.kind {
            BlockKind::ToolUse { id, name, input } => Some(Call {
                id: id.clone(),
                name: name.clone(),
                input: match input {
                    ToolInput::Json(raw) => raw.to().map_err(|_| raw.get().to_owned()),
                    ToolInput::Invalid(text) => Err(text.clone()),
                },
            }),
            _ => None,
        })
        .collect()
}

/// A reply goes on record if it says something: thoughts alone are no message.
fn push_said(pending: &mut Vec<Message>, message: Message) {
    let says = |block: &Block| match &block.kind {
        BlockKind::Text { text } => !text.trim().is_empty(),
        BlockKind::Thinking { .. } | BlockKind::RedactedThinking => false,
        _ => true,
    };
    if message.content.iter().any(says) {
        pending.push(message);
    }
}

/// Arguments in a few words.
fn summary(input: &Value) -> String {
    const MOST: usize = 60;
    let parts = input
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let first: String = text
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(MOST)
                .collect();
            format!("{name}: {first}")
        });
    let all: Vec<_> = parts.collect();
    all.join(", ").chars().take(2 * MOST).collect()
}

/// A reply without its code.
fn outside_fences(text: &str) -> String {
    let parts = text.split("```").step_by(2).map(str::trim);
    let words: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    words.join("\n")
}
