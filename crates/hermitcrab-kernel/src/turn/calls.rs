//! The tools that a reply calls.

use llm_client::{Block, BlockKind, Message, Role, ToolInput};
use pscale_blocks::Provenance;
use serde_json::Value;

use super::{BOOT_REPAIRS, Next, REPAIRS, Turn};
use crate::prompt::Phase;
use crate::tools::run::Caller;
use crate::{Event, Fault, ToolOutcome};

/// After so many equal calls of a tool the model is warned, and after so many the turn is closed.
const WARN_AT: u32 = 3;
const CLOSE_AT: u32 = 5;

/// A call of a tool.
pub(super) struct Call {
    pub id: String,
    pub name: String,
    /// The arguments, or the text that is none.
    pub input: Result<Value, String>,
}

pub(super) fn calls(message: &Message) -> Vec<Call> {
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

impl Turn<'_> {
    /// Runs the calls of a reply, in order; `cut` is the one that was cut off.
    pub(super) async fn run_calls(
        &mut self,
        message: Message,
        calls: Vec<Call>,
        cut: Option<usize>,
    ) -> Next {
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
    pub(super) async fn run_call(&mut self, call: &Call) -> (ToolOutcome, bool) {
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
            summary: self.inner.config.redactor.clean(&summary(&input)),
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
    pub(super) async fn call_tool(&mut self, name: &str, input: Value) -> ToolOutcome {
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
