//! One turn: ask, run the tools that are called, ask again, until there is an answer for the person.

mod calls;
pub(crate) mod face_request;
mod messages;
mod reply;
mod request;
mod settings;

use llm_client::{Block, Message, Role, ToolSpec, Usage};
use pscale_blocks::store::Origins;
pub(crate) use request::preview;
pub use request::{PromptLimit, PromptPreview, PromptTokens};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::config::{UsageTotals, timestamp};
use crate::conversation::window::WindowLimits;
use crate::conversation::{self, Author, ConversationRecord, Utterance};
use crate::dispatch::{TurnContext, TurnFacts};
use crate::faces::{Notes, ShellError};
use crate::prompt::{MARKS, Phase};
use crate::{BrainError, BrainReply, BrainRequest, ErrorKind, EventSink, KernelError, ToolError};
pub(crate) use messages::TurnMessages;
use settings::TurnPrompt;
pub(crate) use settings::TurnSettings;

/// The longest message of the person in characters.
pub const MAX_INPUT: usize = 60_000;

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

/// A turn of the conversation: `by` says `input`, which may come from the places `from`; the end is the model's answer.
pub(crate) async fn say(
    context: TurnContext<'_>,
    record: &mut ConversationRecord,
    (by, from): (Author, Origins),
    input: String,
    events: &EventSink,
    cancel: &CancellationToken,
) -> Result<TurnReport, KernelError> {
    // No key is ever on record, nor sent to a model.
    let text = by.says(context.files.gates().written(&input));
    let settings = TurnSettings::of_conversation(context, Phase::Call);
    let messages = TurnMessages::of_conversation(record);
    context.list_chosen_servers(events, cancel).await;
    let mut turn = Turn::new(context, messages, &settings, events, cancel);
    if let Some((notes, of_notes)) = turn.tell() {
        let notes = Message::new(Role::User, vec![notes]);
        let notes = Utterance::new(Author::Kernel, notes);
        turn.messages.push(notes.with_from(of_notes));
    }
    let said = Utterance::new(by, Message::user(text));
    turn.messages.push(said.with_from(from));
    Ok(turn.run().await?.report())
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
    pub settings: &'a TurnSettings,
    pub messages: TurnMessages<'a>,
    pub events: &'a EventSink,
    pub cancel: &'a CancellationToken,
    pub facts: TurnFacts,
    /// Lines about the face in these messages: they wait again if the messages go.
    told: Notes,
    /// The text of the model for the person so far.
    text: String,
    model: String,
    /// The last reply.
    reply: Option<BrainReply>,
    /// The usage of all replies.
    usage: Usage,
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
    stopped: Option<ToolError>,
    safe_face: Option<Vec<ShellError>>,
}

/// The next step after a reply.
enum NextStep {
    Ask,
    Done,
}

impl<'a> Turn<'a> {
    /// A turn of the conversation begins new sums.
    pub fn new(
        context: TurnContext<'a>,
        messages: TurnMessages<'a>,
        settings: &'a TurnSettings,
        events: &'a EventSink,
        cancel: &'a CancellationToken,
    ) -> Self {
        let mut facts = TurnFacts::questioning();
        if messages.are_recorded() {
            context.spending.begin_turn();
            // Results of a face's request end in the face, which would keep the marks as text.
            facts.marks = MARKS;
        }
        Self {
            context,
            settings,
            messages,
            events,
            cancel,
            facts,
            told: Notes::default(),
            text: String::new(),
            model: context.brain.info().model,
            reply: None,
            usage: Usage::default(),
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

    /// Asks until the model is done or a limit is reached.
    pub async fn run(mut self) -> Result<Self, BrainError> {
        loop {
            match self.round().await {
                Ok(NextStep::Ask) => {}
                Ok(NextStep::Done) => return Ok(self),
                Err(error) => {
                    // What is whole stays; what was only asked is not on record.
                    self.forget();
                    return Err(error);
                }
            }
        }
    }

    /// The result of a turn of the conversation.
    pub fn report(self) -> TurnReport {
        TurnReport {
            text: self.text,
            rounds: self.rounds,
            tools: self.facts.used,
            usage: self.context.spending.usage().turn,
            model: self.model,
            offline: self.context.brain.info().offline,
            stopped: self.stopped.map(|fault| fault.detail),
            safe_face: self.safe_face,
        }
    }

    /// A message by the model, which may come from all that it was sent.
    fn model_says(&self, message: Message) -> Utterance {
        Utterance::new(Author::Model, message).with_from(self.facts.from.clone())
    }

    fn in_boot(&self) -> bool {
        matches!(self.settings.prompt, TurnPrompt::Blocks(Phase::Boot { .. }))
    }

    /// One request, and what its answer asks for.
    async fn round(&mut self) -> Result<NextStep, BrainError> {
        let most = self.settings.rounds;
        if self.cancel.is_cancelled() {
            return Ok(self.stop(BrainError::Cancelled.into()));
        }
        if self.rounds >= most {
            let budget = if self.in_boot() {
                "boot_rounds"
            } else {
                "rounds"
            };
            return Ok(self.limit(format!(
                "stopped after {most} rounds (budgets.{budget}); say \"continue\" to continue"
            )));
        }
        if self.facts.unprompted
            && let Err(fault) = self.context.spending.count_face_call()
        {
            return Ok(self.stop(fault));
        }
        let (window, of_messages) = (self.messages).window(self.context, self.limits, self.events);
        let (mut request, of_prompt) = self.settings.prompt.request(self.context, window);
        // The definitions of a server's tools are texts of the server.
        let names = request.tools.iter().filter_map(ToolSpec::name);
        let names: Vec<_> = names.map(str::to_owned).collect();
        let of_tools = self.context.toolbox.servers.origins(&names);
        self.facts.from = Origins::union([&of_messages, &of_prompt, &of_tools]);
        let is_last = self.rounds + 1 == most;
        request.tools_off = self.tools_off || is_last && self.settings.last_without_tools;
        request.after.clone_from(&self.after);
        let answer = match self.ask(request).await {
            Ok(answer) => answer,
            Err(error @ (BrainError::Cancelled | BrainError::Budget(_))) => {
                return Ok(self.stop(error.into()));
            }
            Err(error) if self.messages.have_paused_words() => {
                return Ok(self.stop(ToolError::new(
                    ErrorKind::Model,
                    format!(
                        "the provider paused, and the answer cannot be continued: {}",
                        error.plain()
                    ),
                )));
            }
            Err(error) => return Err(error),
        };
        self.model.clone_from(&answer.model);
        self.usage.add(&answer.reply.usage);
        let next = self.answered(&answer).await;
        self.reply = Some(answer);
        Ok(next)
    }

    async fn ask(&self, request: BrainRequest) -> Result<BrainReply, BrainError> {
        let (spending, brain, events) = (self.context.spending, self.context.brain, self.events);
        let _place = if self.settings.takes_any_reply {
            Some(spending.queue(self.cancel).await?)
        } else {
            None
        };
        (spending.ask(brain, request, events, events, self.cancel)).await
    }

    /// Ends the turn at a limit of the kernel or the provider.
    fn limit(&mut self, line: impl Into<String>) -> NextStep {
        self.stop(ToolError::new(ErrorKind::Stopped, line))
    }

    /// Ends the turn before the model is done. The messages are recorded.
    fn stop(&mut self, fault: ToolError) -> NextStep {
        // A question without any answer is not on record: the person asks it again, or another one.
        if self.messages.have_answer() {
            self.store();
        }
        self.forget();
        self.stopped = Some(fault);
        NextStep::Done
    }

    /// Takes the lines about the face that wait, as a piece of a message of the conversation, with the places outside that
    /// they may come from.
    fn tell(&mut self) -> Option<(Block, Origins)> {
        if !self.messages.are_recorded() {
            return None;
        }
        let notes = self.context.faces.notes().take();
        let told = (notes.text()).map(|text| (Block::text(text), notes.origins()));
        self.told.add_all(notes);
        told
    }

    /// Drops the messages that are not on record. Their lines about the face wait for the next message.
    fn forget(&mut self) {
        self.messages.forget();
        let mut told = std::mem::take(&mut self.told);
        let mut waiting = self.context.faces.notes();
        told.add_all(waiting.take());
        *waiting = told;
    }

    /// Records the messages. If the record cannot be written they stay in memory, with a notice for the person.
    fn store(&mut self) {
        self.told = Notes::default();
        if let Err(error) = self.messages.store(timestamp(self.context.clock)) {
            self.events.notice(format!(
                "{} cannot be written ({error}): what was said is in memory only, the next turn tries again",
                conversation::FILE
            ));
        }
    }
}
