//! One turn: ask, run the tools that are called, ask again, until there is an answer for the person.

mod calls;
pub(crate) mod face_request;
mod reply;
mod request;

use llm_client::{Block, Message, Role};
use pscale_blocks::O200k;
pub(crate) use request::preview;
pub use request::{PromptLimit, PromptPreview, PromptTokens};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::config::{UsageTotals, timestamp};
use crate::conversation::window::{self, WindowLimits};
use crate::conversation::{self, Author, ConversationRecord, Utterance};
use crate::dispatch::{TurnContext, TurnFacts};
use crate::faces::{Notes, ShellError};
use crate::prompt::Phase;
use crate::{BrainError, EventSink, Face, KernelError, ToolError};

/// The longest message of the person in characters.
pub const MAX_INPUT: usize = 60_000;
/// The number of attempts to repair a shell, in a turn and in a boot.
const REPAIRS: u32 = 5;
const BOOT_REPAIRS: u32 = 3;

/// The result of a turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TurnReport {
    /// The text of the model for the person.
    pub text: String,
    /// The number of requests, without pauses.
    pub rounds: u32,
    /// The tools that were called, in order.
    pub tools: Vec<String>,
    /// The usage of the turn.
    pub usage: UsageTotals,
    /// The model that answered last.
    pub model: String,
    /// The name of what answers in place of a model; `None` if a model answers.
    pub offline: Option<String>,
    /// The reason in one line, if the turn was closed before the model was done.
    pub stopped: Option<String>,
    /// The errors of the last shell, if no attempt could repair it; then the host shows its safe face.
    pub safe_face: Option<Vec<ShellError>>,
}

/// A turn of the conversation: `by` says `input`; the end is the model's answer.
pub(crate) async fn say(
    context: TurnContext<'_>,
    record: &mut ConversationRecord,
    by: Author,
    input: String,
    events: &EventSink,
    cancel: &CancellationToken,
) -> Result<TurnReport, KernelError> {
    // No key is ever on record, nor sent to a model.
    let text = by.says(pscale_blocks::store::remove_keys(&input).0.into_owned());
    let mut turn = Turn::new(context, record, Phase::Call, events, cancel);
    let notes = turn
        .tell()
        .map(|notes| Message::new(Role::User, vec![notes]));
    let notes = notes.map(|notes| Utterance::new(Author::Kernel, notes));
    let said = Utterance::new(by, Message::user(text));
    turn.run(notes.into_iter().chain([said]).collect()).await
}

/// Whether `input` can be said.
pub(crate) fn check_input(input: &str) -> Result<(), KernelError> {
    let size = input.chars().count();
    if size > MAX_INPUT {
        let limit = MAX_INPUT;
        return Err(KernelError::TooLong { size, limit });
    }
    if input.trim().is_empty() {
        return Err(KernelError::Empty);
    }
    Ok(())
}

/// A turn under way.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says whether something was done that is done once"
)]
pub(crate) struct Turn<'a> {
    pub context: TurnContext<'a>,
    pub record: &'a mut ConversationRecord,
    pub phase: Phase,
    pub events: &'a EventSink,
    pub cancel: &'a CancellationToken,
    pub facts: TurnFacts,
    /// Said in this turn and not on record yet: a round goes there whole, with its results.
    pending: Vec<Utterance>,
    /// Lines about the face in these messages: they wait again if the messages go.
    told: Notes,
    /// Messages of this turn that are on record.
    stored: usize,
    /// The text of the model for the person so far.
    text: String,
    model: String,
    rounds: u32,
    pauses: u32,
    limits: WindowLimits,
    tools_off: bool,
    /// A cut reply was asked to continue.
    continued: bool,
    /// The next words follow the last ones directly.
    goes_on: bool,
    /// The model was asked for a last sentence.
    closing: bool,
    /// The window was made smaller.
    shrunk: bool,
    /// The model that refused: the chain continues after it.
    after: Option<String>,
    stopped: Option<String>,
    safe_face: Option<Vec<ShellError>>,
}

/// The next step after a reply.
enum NextStep {
    Ask,
    Done,
}

impl<'a> Turn<'a> {
    pub fn new(
        context: TurnContext<'a>,
        record: &'a mut ConversationRecord,
        phase: Phase,
        events: &'a EventSink,
        cancel: &'a CancellationToken,
    ) -> Self {
        context.spending.begin_turn();
        Self {
            context,
            record,
            phase,
            events,
            cancel,
            facts: TurnFacts::default(),
            pending: Vec::new(),
            told: Notes::default(),
            stored: 0,
            text: String::new(),
            model: context.brain.info().model,
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

    /// Begins with `first` and continues until the model is done or a limit is reached.
    pub async fn run(mut self, first: Vec<Utterance>) -> Result<TurnReport, KernelError> {
        self.pending = first;
        loop {
            match self.round().await {
                Ok(NextStep::Ask) => {}
                Ok(NextStep::Done) => break,
                Err(error) => {
                    // What is whole stays; what was only asked is not on record.
                    self.forget();
                    return Err(error);
                }
            }
        }
        let info = self.context.brain.info();
        Ok(TurnReport {
            text: self.text,
            rounds: self.rounds,
            tools: self.facts.used,
            usage: self.context.spending.usage().turn,
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
    async fn round(&mut self) -> Result<NextStep, KernelError> {
        let budgets = self.context.config.settings.budgets;
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
                "stopped after {most} rounds (budgets.{}); say \"continue\" to continue",
                if self.in_boot() {
                    "boot_rounds"
                } else {
                    "rounds"
                }
            )));
        }
        let shown = self.window();
        let context = self.context;
        let after = self.after.clone();
        let request = request::request(context, self.phase, shown, self.tools_off, after);
        let answer = (context.spending).complete(context.brain, request, self.events, self.cancel);
        let answer = match answer.await {
            Ok(answer) => answer,
            Err(error) => {
                let spending = &context.spending;
                spending.record_failed_call(context.brain, &self.model, &error, self.events);
                return match error {
                    BrainError::Cancelled => Ok(self.stop("stopped".to_owned())),
                    BrainError::Budget(line) => Ok(self.stop(line)),
                    error if self.has_paused_words() => Ok(self.stop(format!(
                        "the provider paused, and the answer cannot be continued: {}",
                        error.plain()
                    ))),
                    error => Err(error.into()),
                };
            }
        };
        (context.spending).record_reply(context.brain, &answer, self.events);
        self.model.clone_from(&answer.model);
        Ok(self.answered(answer).await)
    }

    /// Whether the last words are an answer in which the provider paused: it is paid for, and whole as far as it goes.
    fn has_paused_words(&self) -> bool {
        let last = self.pending.last().map(|said| &said.message);
        last.is_some_and(|last| {
            last.role == Role::Assistant
                && (last.content.last()).is_some_and(|block| block.as_text().is_some())
        })
    }

    /// The messages that the model sees. Turns that it no longer sees move to the block `history`.
    fn window(&mut self) -> Vec<Message> {
        let pending = self.pending.iter().map(|said| &said.message);
        let all: Vec<_> = (self.record.messages().chain(pending)).cloned().collect();
        let current = self.record.messages().len() - self.stored;
        let mut window = window::trim(all, Some(current), self.limits, &O200k);
        let in_history = window.kept_from == 0 || self.move_to_history(window.kept_from);
        let store = &*self.context.toolbox.store;
        let earlier = window.notice || self.record.has_moved();
        if earlier && let Some(first) = window.messages.first_mut() {
            if window.notice {
                first.content.remove(0);
            }
            let notice = if in_history {
                self.context.history.notice(store)
            } else {
                window::LEFT_OUT.to_owned()
            };
            first.content.insert(0, Block::text(notice));
        }
        self.show_last_turn(&mut window.messages);
        window.messages
    }

    fn move_to_history(&mut self, count: usize) -> bool {
        let (store, now) = (&*self.context.toolbox.store, timestamp(self.context.clock));
        let history = self.context.history;
        (self.record).move_to_history(history, store, now, count, self.events)
    }

    /// A turn that alone is too large for the window would be forgotten by the very next one: a few words of it stay.
    fn show_last_turn(&self, messages: &mut [Message]) {
        let is_alone = self.record.messages().len() == self.stored;
        if let (true, Some(last)) = (is_alone, self.record.last_moved())
            && let Some(first) = messages.first_mut()
        {
            let words = format!("[The turn before, clipped: {last}]");
            first
                .content
                .insert(1.min(first.content.len()), Block::text(words));
        }
    }

    /// Ends the turn at a limit: open calls get an answer, and the messages are recorded.
    fn stop(&mut self, line: String) -> NextStep {
        let fault = ToolError::new("stopped", line.as_str());
        self.close_open(&fault);
        // A question without any answer is not on record: the person asks it again, or another one.
        if (self.pending.iter()).any(|said| said.message.role == Role::Assistant) {
            self.store();
        }
        self.forget();
        self.stopped = Some(line);
        NextStep::Done
    }

    /// Answers every open call of the last reply with `fault`.
    fn close_open(&mut self, fault: &ToolError) {
        let said = std::mem::take(&mut self.pending).into_iter();
        let (mut by, mut messages): (Vec<_>, Vec<_>) =
            said.map(|said| (said.by, said.message)).unzip();
        window::close_open(&mut messages, fault);
        let last = (messages.iter()).rposition(|message| message.role == Role::Assistant);
        if let Some(last) = last.filter(|_| messages.len() > by.len()) {
            by.insert(last + 1, Author::Kernel);
        }
        let said = by.into_iter().zip(messages);
        self.pending = said
            .map(|(by, message)| Utterance::new(by, message))
            .collect();
    }

    /// Takes the lines about the face that wait, as a piece of a message.
    fn tell(&mut self) -> Option<Block> {
        let notes = self.context.faces.notes().take();
        let text = notes.text();
        self.told.add_all(notes);
        text.map(Block::text)
    }

    /// Drops the messages that are not on record. Their lines about the face wait for the next message.
    fn forget(&mut self) {
        self.pending.clear();
        let mut told = std::mem::take(&mut self.told);
        let mut waiting = self.context.faces.notes();
        told.add_all(waiting.take());
        *waiting = told;
    }

    /// Records the messages. If the record cannot be written they stay in memory, with a notice for the person.
    fn store(&mut self) {
        let now = timestamp(self.context.clock);
        let pending = std::mem::take(&mut self.pending);
        self.stored += pending.len();
        self.told = Notes::default();
        if let Err(error) = self.record.add(now, pending) {
            self.events.notice(format!(
                "{} cannot be written ({error}): what was said is in memory only, the next turn tries again",
                conversation::FILE
            ));
        }
    }
}
