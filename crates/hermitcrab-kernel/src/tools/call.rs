//! The tools that a reply calls.

use llm_client::{Block, BlockKind, Message, ToolInput};
use pscale_blocks::Provenance;
use serde_json::Value;

use super::run::Caller;
use crate::kernel::Inner;
use crate::{Event, Fault, ToolOutcome};

/// After so many equal calls of a tool the model is warned, and after so many it is stopped.
const WARN_AT: u32 = 3;
pub(crate) const CLOSE_AT: u32 = 5;

/// A call of a tool.
pub(crate) struct Call {
    pub id: String,
    pub name: String,
    /// The arguments, or the text that is none.
    input: Result<Value, String>,
}

pub(crate) fn calls(message: &Message) -> Vec<Call> {
    let blocks = message.content.iter();
    blocks
        .filter_map(|block| match &block.kind {
            BlockKind::ToolUse { id, name, input } => Some(Call {
                id: id.clone(),
                name: name.clone(),
                input: match input {
                    ToolInput::Json(raw) => raw.to().map_err(|_| raw.get().to_owned()),
                    ToolInput::Invalid(text) => no_object(text).ok_or_else(|| text.clone()),
                },
            }),
            _ => None,
        })
        .collect()
}

/// JSON of another kind, which the check of the arguments names; an object that is invalid broke off.
fn no_object(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    (!value.is_object()).then_some(value)
}

/// What the calls of a reply came to.
pub(crate) struct Results {
    /// In the order of the calls.
    pub blocks: Vec<Block>,
    /// One was made too often.
    pub repeated: bool,
}

impl Inner {
    /// Runs the calls of a reply, in order. Of a reply that is `cut_off` the last one, if it ends with it, is not run.
    pub(crate) async fn run_calls(
        &self,
        reply: &Message,
        cut_off: bool,
        is_offered: &(dyn Fn(&str) -> bool + Sync),
        caller: &mut Caller<'_>,
    ) -> Results {
        let calls = calls(reply);
        let last = reply.content.last().map(|block| &block.kind);
        let cut = match last {
            Some(BlockKind::ToolUse { .. }) if cut_off => Some(calls.len() - 1),
            _ => None,
        };
        let mut results = Results {
            blocks: Vec::new(),
            repeated: false,
        };
        for (index, call) in calls.into_iter().enumerate() {
            let outcome = if Some(index) == cut {
                Fault::new(
                    "cut_off",
                    "the reply ended at the token limit; the call was not run",
                )
                .hint("make it smaller")
                .into()
            } else if caller.cancel.is_cancelled() {
                Fault::new("stopped", "the person stopped the turn").into()
            } else {
                let (outcome, again) = self.run_call(&call, is_offered, caller).await;
                results.repeated |= again;
                outcome
            };
            let result = Block::tool_result(call.id, outcome.text(), outcome.is_error);
            results.blocks.push(result);
        }
        results
    }

    /// Runs a call; answers whether it was made too often.
    async fn run_call(
        &self,
        call: &Call,
        is_offered: &(dyn Fn(&str) -> bool + Sync),
        caller: &mut Caller<'_>,
    ) -> (ToolOutcome, bool) {
        let input = match &call.input {
            Ok(input) => input.clone(),
            Err(text) => {
                let shown: String = text.chars().take(80).collect();
                let fault = Fault::new(
                    "bad_arguments",
                    format!("the arguments are no JSON: {shown}"),
                );
                caller.facts.used.push(call.name.clone());
                return (fault.into(), false);
            }
        };
        let times = caller.facts.called(&call.name, &input);
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
        caller.events.send(Event::ToolStart {
            name: call.name.clone(),
            summary: self.config.redactor.clean(&summary(&input)),
        });
        let begun = self.clock.instant();
        let outcome = if crate::tool(&call.name).is_some() && !is_offered(&call.name) {
            let detail = format!("{} is not among your tools now", call.name);
            Fault::new("inactive", detail)
                .hint("choose it with set_tools first")
                .into()
        } else {
            // What is written after a page was read may come from it.
            if let Provenance::Model { web, .. } = &mut caller.provenance {
                web.clone_from(&caller.facts.web);
            }
            self.run_tool(&call.name, input, caller).await
        };
        let took = self.clock.instant().saturating_sub(begun);
        caller.events.send(Event::ToolEnd {
            name: call.name.clone(),
            is_error: outcome.is_error,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
        (outcome, false)
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
