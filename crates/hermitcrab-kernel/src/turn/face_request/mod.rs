//! Requests of a face outside of the conversation: they are not on record, and all are counted.

mod answer;
mod message;
mod params;

use pscale_blocks::EditAuthor;
use pscale_blocks::store::Origins;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Turn, TurnMessages, TurnSettings};
use crate::dispatch::TurnContext;
use crate::{BrainError, EventSink, ToolError};

pub(crate) use answer::AnswerFormat;
use params::ToolChoice;

/// The face that asks.
pub(crate) struct FaceCaller {
    /// The author of what tools write: they are run in that name, and the model is asked again until it is done. `None`: calls
    /// are not run.
    pub by: Option<EditAuthor>,
    /// No person is at the face.
    pub unprompted: bool,
    /// The places outside that its messages may come from.
    pub from: Origins,
}

/// Asks a model, and runs the tools that it calls if the caller says so.
pub(crate) async fn ask(
    context: TurnContext<'_>,
    params: Value,
    form: AnswerFormat,
    caller: FaceCaller,
    events: &EventSink,
    cancel: &CancellationToken,
) -> Result<Value, ToolError> {
    let choice = match caller.by {
        Some(_) => ToolChoice::OwnOnly,
        None => ToolChoice::Any,
    };
    // A face alone starts no other program.
    if !caller.unprompted {
        if params["tools"].is_null() && choice == ToolChoice::OwnOnly {
            context.list_chosen_servers(events, cancel).await;
        }
        let named = params["tools"].as_array().into_iter().flatten();
        let named: Vec<_> = named.filter_map(params::name).map(str::to_owned).collect();
        (context.list_servers(&named, false, events, cancel)).await?;
    }
    let (messages, request) = params::read(context, params, choice)?;
    let settings = TurnSettings::of_face(context, request, caller.by);
    let messages = TurnMessages::of_face(messages, &caller.from);
    let mut turn = Turn::new(context, messages, &settings, events, cancel);
    turn.facts.unprompted = caller.unprompted;
    let turn = turn.run().await?;
    match (turn.stopped, &turn.reply) {
        (None, Some(reply)) => Ok(answer::of(reply, form, &turn.usage)),
        (stopped, _) => Err(stopped.unwrap_or_else(|| BrainError::Cancelled.into())),
    }
}
