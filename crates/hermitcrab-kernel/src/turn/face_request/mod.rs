//! Requests of a face outside of the conversation: they are not on record, and all are counted.

mod answer;
mod message;
mod params;

use llm_client::{Message, Role, StopReason, ToolSpec, Usage};
use pscale_blocks::{EditAuthor, O200k};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::conversation::window::{self, WindowLimits};
use crate::dispatch::{ToolCaller, TurnContext, TurnFacts, author, calls};
use crate::{EventSink, ToolError};

pub(crate) use answer::AnswerFormat;
use params::{Params, ToolChoice};

/// Asks once; calls in the answer are not run.
pub(crate) async fn ask_once(
    context: TurnContext<'_>,
    params: Value,
    form: AnswerFormat,
    unprompted: bool,
    events: &EventSink,
    cancel: &CancellationToken,
) -> Result<Value, ToolError> {
    let params = Params::read(context, params, ToolChoice::Any)?;
    let tools = params.tools.clone().unwrap_or_default();
    let (messages, system) = shown(params.messages.clone(), None);
    let request = params.request(messages, system, tools);
    if unprompted {
        context.spending.count_face_call()?;
    }
    let answer = (context
        .spending
        .ask(context.brain, request, events, events, cancel))
    .await?;
    let usage = answer.reply.usage.clone();
    Ok(answer::of(&answer, form, &usage))
}

/// Asks, runs the tools that are called, asks again.
pub(crate) async fn ask_on(
    context: TurnContext<'_>,
    params: Value,
    by: EditAuthor,
    unprompted: bool,
    events: &EventSink,
    cancel: &CancellationToken,
) -> Result<Value, ToolError> {
    let params = Params::read(context, params, ToolChoice::OwnOnly)?;
    let tools = match &params.tools {
        Some(tools) => tools.clone(),
        None => context.active_tools(),
    };
    let names: Vec<String> = (tools.iter().filter_map(ToolSpec::name))
        .map(str::to_owned)
        .collect();
    let is_offered = |name: &str| names.iter().any(|offered| offered == name);
    let mut messages = params.messages.clone();
    let current = messages.iter().rposition(window::starts_turn);
    let mut facts = TurnFacts::default();
    facts.unprompted = unprompted;
    let mut taken = Usage::default();
    let rounds = context.config.settings.budgets.rounds;
    let mut round = 0;
    loop {
        round += 1;
        let (window, system) = shown(messages.clone(), current);
        let mut request = params.request(window, system, tools.clone());
        request.tools_off = round >= rounds;
        if unprompted {
            context.spending.count_face_call()?;
        }
        let answer = (context
            .spending
            .ask(context.brain, request, events, events, cancel))
        .await?;
        answer::add(&mut taken, &answer.reply.usage);
        let reply = &answer.reply;
        let mut message = reply.to_message();
        window::cut_names(&mut message);
        window::distinct_ids(&mut message, &messages);
        let has_calls = !calls(&message).is_empty();
        let pauses = reply.stop == StopReason::PauseTurn;
        if round >= rounds || !(has_calls || pauses) {
            return Ok(answer::of(&answer, AnswerFormat::Blocks, &taken));
        }
        if !has_calls {
            // The provider goes on where it was.
            messages.push(message);
            continue;
        }
        let mut caller = ToolCaller {
            by: author(&by),
            provenance: by.clone(),
            boot: false,
            facts: &mut facts,
            events,
            cancel,
        };
        let cut_off = reply.stop == StopReason::MaxTokens;
        let ran = context.run_calls(&message, cut_off, &is_offered, &mut caller);
        let results = ran.await;
        if results.repeated {
            let detail = "the same tool was called too often with the same arguments";
            return Err(ToolError::new("repeated", detail));
        }
        messages.push(message);
        messages.push(Message::new(Role::User, results.blocks));
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
