//! A face asks the model beside the conversation: nothing of it goes on record, all of it is counted.

mod answer;
mod message;
mod params;

use llm_client::{Message, Role, StopReason, Usage};
use pscale_blocks::{EditAuthor, O200k};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::conversation::window::{self, WindowLimits};
use crate::dispatch::calls;
use crate::dispatch::{Caller, Facts, clean};
use crate::kernel::may_block;
use crate::kernel::{Inner, author};
use crate::{BrainError, BrainReply, BrainRequest, EventSink, Fault, Kernel, ToolOutcome, table};

use answer::Form;
use params::{Params, ToolChoice};

impl Kernel {
    /// Asks a model in plain words, without tools.
    ///
    /// `messages` is a text, or a list of `{role, content}`. `opts` may have `model` (`default`, `fast`, or an id of the
    /// settings), `system` and `max_tokens`. The answer is `{role, content, model, stop_reason, usage}`, the content as
    /// one text. What it says comes to `events` as it is said.
    ///
    /// Fields that are not known are left out, those of sampling, too. The budgets of the turn and the day hold, the
    /// window is that of a conversation, and one such request is under way at a time. Faults: `bad_arguments`,
    /// `too_large`, `unknown_model`, `budget`, `model`, `stopped`.
    pub async fn call_llm(
        &self,
        messages: Value,
        opts: Value,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        let mut params = match opts {
            Value::Object(opts) => Value::Object(opts),
            Value::Null => serde_json::json!({}),
            _ => return Fault::new("bad_arguments", "opts is an object").into(),
        };
        params["messages"] = messages;
        params["tools"] = serde_json::json!([]);
        let inner = &self.inner;
        let form = Form::Text;
        let answer = inner.ask_once(params, form, self.unprompted, &events, &cancel);
        inner.told(may_block(answer).await)
    }

    /// One request as the provider defines it.
    ///
    /// `params` has `messages` and may have `model`, `system`, `max_tokens`, `thinking` and `tools`. Whether a model
    /// thinks is a setting of the person's; `{type: "disabled"}` switches it off where it can be. A tool is the name of
    /// one of the kernel's, or `{name, description, input_schema}` of the face's own; none are offered if none are named.
    /// The answer is `{role, content, model, stop_reason, usage}`, the content as a list of blocks; the calls in it are
    /// not run. All else is as with [`Kernel::call_llm`].
    pub async fn call_api(
        &self,
        params: Value,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        let inner = &self.inner;
        let form = Form::Blocks;
        let answer = inner.ask_once(params, form, self.unprompted, &events, &cancel);
        inner.told(may_block(answer).await)
    }

    /// As [`Kernel::call_api`], and the tools that the model calls are run in the name of `by` until it is done; the last
    /// reply is the answer, with the tokens of all.
    ///
    /// Tools are the kernel's only. Without `tools` the model has those of the conversation, with `[]` none. After as many
    /// requests as a turn may have it is asked to answer without any.
    pub async fn call_with_tools(
        &self,
        params: Value,
        by: EditAuthor,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        let answer = (self.inner).ask_on(params, by, self.unprompted, &events, &cancel);
        self.inner.told(may_block(answer).await)
    }
}

impl Inner {
    /// One request beside the conversation. What it takes counts in the turn and the day.
    pub(crate) async fn ask(
        &self,
        request: BrainRequest,
        words: &EventSink,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<BrainReply, Fault> {
        let stopped = || Fault::new("stopped", "it was stopped");
        let _turn = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped()),
            mine = self.asking.lock() => mine,
        };
        let model = self.brain.info().asked(&request).to_owned();
        match self.complete(request, words, cancel).await {
            Ok(answer) => {
                self.meter_reply(&answer, events);
                Ok(answer)
            }
            Err(error) => {
                self.meter_lost(&model, events);
                Err(match error {
                    BrainError::Cancelled => stopped(),
                    BrainError::Budget(line) => Fault::new("budget", line),
                    error => Fault::new("model", error.plain()),
                })
            }
        }
    }

    /// Asks once; calls in the answer are not run.
    async fn ask_once(
        &self,
        params: Value,
        form: Form,
        unprompted: bool,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<Value, Fault> {
        let params = Params::read(self, params, ToolChoice::Any)?;
        let tools = params.tools.clone().unwrap_or_default();
        let (messages, system) = shown(params.messages.clone(), None);
        let request = params.request(messages, system, tools);
        if unprompted {
            self.unprompted_request()?;
        }
        let answer = self.ask(request, events, events, cancel).await?;
        let usage = answer.reply.usage.clone();
        Ok(answer::of(&answer, form, &usage))
    }

    /// Asks, runs the tools that are called, asks again.
    async fn ask_on(
        &self,
        params: Value,
        by: EditAuthor,
        unprompted: bool,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<Value, Fault> {
        let params = Params::read(self, params, ToolChoice::OwnOnly)?;
        let tools = match &params.tools {
            Some(tools) => tools.clone(),
            None => self.active_tools(),
        };
        let names: Vec<String> = (tools.iter().filter_map(table::name_of))
            .map(str::to_owned)
            .collect();
        let is_offered = |name: &str| names.iter().any(|offered| offered == name);
        let mut messages = params.messages.clone();
        let current = messages.iter().rposition(window::starts_turn);
        let mut facts = Facts::default();
        facts.unprompted = unprompted;
        let mut taken = Usage::default();
        let rounds = self.config.settings.budgets.rounds;
        let mut round = 0;
        loop {
            round += 1;
            let (window, system) = shown(messages.clone(), current);
            let mut request = params.request(window, system, tools.clone());
            request.tools_off = round >= rounds;
            if unprompted {
                self.unprompted_request()?;
            }
            let answer = self.ask(request, events, events, cancel).await?;
            answer::add(&mut taken, &answer.reply.usage);
            let reply = &answer.reply;
            let mut message = reply.to_message();
            window::distinct_ids(&mut message, &messages);
            let has_calls = !calls(&message).is_empty();
            let pauses = reply.stop == StopReason::PauseTurn;
            if round >= rounds || !(has_calls || pauses) {
                return Ok(answer::of(&answer, Form::Blocks, &taken));
            }
            if !has_calls {
                // The provider goes on where it was.
                messages.push(message);
                continue;
            }
            let mut caller = Caller {
                by: author(&by),
                provenance: by.clone(),
                boot: false,
                facts: &mut facts,
                events,
                cancel,
            };
            let cut_off = reply.stop == StopReason::MaxTokens;
            let ran = self.run_calls(&message, cut_off, &is_offered, &mut caller);
            let results = ran.await;
            if results.repeated {
                let detail = "the same tool was called too often with the same arguments";
                return Err(Fault::new("repeated", detail));
            }
            messages.push(message);
            messages.push(Message::new(Role::User, results.blocks));
        }
    }

    /// An answer for the face; keys are taken out of it.
    fn told(&self, answer: Result<Value, Fault>) -> ToolOutcome {
        let mut outcome = ToolOutcome::from(answer.map(ToolOutcome::of));
        clean(&mut outcome.content, &|text| {
            self.config.redactor.clean(&text)
        });
        outcome
    }
}

/// The part of a face's own conversation that is sent, and the instructions in the midst of it.
fn shown(messages: Vec<Message>, current: Option<usize>) -> (Vec<Message>, Vec<llm_client::Block>) {
    let mut window = window::trim(messages, current, WindowLimits::default(), &O200k);
    // The kernel's own notice speaks of the block `history`, which holds nothing of this.
    if window.notice
        && let Some(first) = window
            .messages
            .first_mut()
            .and_then(|first| first.content.first_mut())
    {
        *first = llm_client::Block::text(window::LEFT_OUT);
    }
    (window.messages, window.system)
}
