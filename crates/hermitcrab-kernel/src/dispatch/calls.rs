//! The tools that a reply calls.

use llm_client::{Block, BlockKind, Message, ToolInput};
use pscale_blocks::EditAuthor;
use pscale_blocks::store::Origins;
use serde_json::Value;

use super::context::{ToolCaller, TurnContext};
use crate::table::ToolResult;
use crate::{ErrorKind, Event, ToolError};

/// The number of equal calls of a tool at which the model is warned, and at which it is stopped.
const WARN_AT: u32 = 3;
pub(crate) const CLOSE_AT: u32 = 5;

/// The longest arguments in bytes: 4 MiB of text and the JSON around it.
const MAX_INPUT: usize = (4 << 20) + (64 << 10);

/// A call of a tool.
pub(crate) struct ToolCall<'a> {
    pub id: &'a str,
    pub name: &'a str,
    input: &'a ToolInput,
}

pub(crate) fn calls(message: &Message) -> Vec<ToolCall<'_>> {
    let blocks = message.content.iter();
    blocks
        .filter_map(|block| match &block.kind {
            BlockKind::ToolUse { id, name, input } => Some(ToolCall { id, name, input }),
            _ => None,
        })
        .collect()
}

impl ToolCall<'_> {
    /// The arguments as JSON. Any kind but an object is left to the check against the schema. An object that is
    /// invalid was cut off.
    fn arguments(&self) -> Result<Value, ToolError> {
        let (text, is_cut) = match self.input {
            ToolInput::Json(raw) => (raw.get(), false),
            ToolInput::Invalid(text) => (text.as_str(), true),
        };
        if text.len() > MAX_INPUT {
            let length = text.len();
            let detail = format!("the arguments have {length} bytes, more than {MAX_INPUT}");
            return Err(
                ToolError::new(ErrorKind::TooLarge, detail).hint("make several smaller calls")
            );
        }
        let value: Option<Value> = serde_json::from_str(text).ok();
        let value = value.filter(|value| !is_cut || !value.is_object());
        value.ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            ToolError::new(
                ErrorKind::BadArguments,
                format!("the arguments are not JSON: {shown}"),
            )
        })
    }
}

/// The results of the calls of a reply.
pub(crate) struct ToolResults {
    /// In the order of the calls.
    pub blocks: Vec<Block>,
    /// The places outside that the results come from.
    pub from: Origins,
    /// Whether a call was made too often.
    pub repeated: bool,
}

impl TurnContext<'_> {
    /// Runs the calls of a reply, in order. Of a reply that is `cut_off` the last one, if it ends with it, is not run.
    pub(crate) async fn run_calls(
        &self,
        reply: &Message,
        cut_off: bool,
        is_offered: &(dyn Fn(&str) -> bool + Sync),
        caller: &mut ToolCaller<'_>,
    ) -> ToolResults {
        let calls = calls(reply);
        let last = reply.content.last().map(|block| &block.kind);
        let cut = match last {
            Some(BlockKind::ToolUse { .. }) if cut_off => Some(calls.len() - 1),
            _ => None,
        };
        let mut results = ToolResults {
            blocks: Vec::new(),
            from: Origins::default(),
            repeated: false,
        };
        for (index, call) in calls.into_iter().enumerate() {
            let outcome = if Some(index) == cut {
                ToolError::new(
                    ErrorKind::CutOff,
                    "the reply ended at the token limit; the call was not run",
                )
                .hint("make it smaller")
                .into()
            } else if caller.cancel.is_cancelled() {
                ToolError::new(ErrorKind::Stopped, "the person stopped the turn").into()
            } else {
                let (outcome, again) = self.run_call(&call, is_offered, caller).await;
                results.repeated |= again;
                outcome
            };
            let result = Block::tool_result(call.id, outcome.text(), outcome.is_error);
            results.blocks.push(result);
            results.from = Origins::union([&results.from, &outcome.from]);
        }
        results
    }

    /// Runs a call; the flag says that it was made too often.
    async fn run_call(
        &self,
        call: &ToolCall<'_>,
        is_offered: &(dyn Fn(&str) -> bool + Sync),
        caller: &mut ToolCaller<'_>,
    ) -> (ToolResult, bool) {
        let input = match call.arguments() {
            Ok(input) => input,
            Err(fault) => {
                caller.facts.used.push(call.name.to_owned());
                return (fault.into(), false);
            }
        };
        let times = caller.facts.called(call.name, &input);
        if times >= WARN_AT {
            let fault = ToolError::new(
                ErrorKind::Repeated,
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
            name: call.name.to_owned(),
            summary: self.files.gates().told(&summary(&input)),
        });
        let begun = self.clock.elapsed();
        let outcome = if self.tool(call.name).is_some() && !is_offered(call.name) {
            let detail = format!("{} is not among your tools now", call.name);
            ToolError::new(ErrorKind::Inactive, detail)
                .hint("choose it with set_tools first")
                .into()
        } else {
            // What is written after a page was read may come from it.
            if let EditAuthor::Model { web, .. } = &mut caller.provenance {
                web.clone_from(&caller.facts.read.last);
            }
            self.run_tool(call.name, input, caller).await
        };
        let took = self.clock.elapsed().saturating_sub(begun);
        caller.events.send(Event::ToolEnd {
            name: call.name.to_owned(),
            is_error: outcome.is_error,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
        (outcome, false)
    }
}

/// A short summary of arguments.
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
