use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::future::{Either, select};
use futures_util::{FutureExt as _, StreamExt as _, stream};

use super::{LoopBounds, Step, ToolResult, Toolbox};
use crate::Clock;
use crate::types::{Block, BlockKind, Message, Raw, Reply, Role, ToolInput, ToolSpec};

/// The most names that an error result lists.
const NAMES: usize = 32;

/// One turn of a loop: the tool calls of one reply.
pub(super) struct Turn<'a> {
    pub number: u32,
    pub tools: &'a [ToolSpec],
    pub toolbox: &'a dyn Toolbox,
    pub clock: &'a dyn Clock,
    pub bounds: &'a LoopBounds,
}

/// A tool call of the model.
struct ToolCall<'a> {
    id: &'a str,
    name: &'a str,
    input: &'a ToolInput,
}

impl Turn<'_> {
    /// Runs the calls of `reply` and answers all of them in one message.
    pub async fn answer(&self, reply: &Reply) -> Message {
        // Boxed: the compiler cannot see that unnamed futures over borrows are Send for all lifetimes.
        let runs: Vec<_> = calls(reply)
            .into_iter()
            .enumerate()
            .map(|(place, call)| async move { (place, self.result_block(&call).await) }.boxed())
            .collect();
        // Unordered: a slow first call must not hold back the others' places.
        let mut answers: Vec<_> = stream::iter(runs)
            .buffer_unordered(self.bounds.parallel.max(1))
            .collect()
            .await;
        answers.sort_unstable_by_key(|(place, _)| *place);
        Message::new(
            Role::User,
            answers.into_iter().map(|(_, block)| block).collect(),
        )
    }

    async fn result_block(&self, call: &ToolCall<'_>) -> Block {
        let (turn, id, name) = (self.number, call.id, call.name);
        self.toolbox.on_step(Step::Call {
            turn,
            id,
            name,
            input: call.input,
        });
        let result = self.result(call).await;
        self.toolbox.on_step(Step::Result {
            turn,
            id,
            name,
            result: &result,
        });
        Block::new(BlockKind::ToolResult {
            tool_use_id: id.to_owned(),
            content: result.content,
            is_error: result.is_error,
        })
    }

    async fn result(&self, call: &ToolCall<'_>) -> ToolResult {
        let name = call.name;
        let Some(schema) = self.tools.iter().find_map(|tool| match tool {
            ToolSpec::Function {
                name: known,
                schema,
                ..
            } if known == name => Some(schema),
            _ => None,
        }) else {
            return ToolResult::error(self.unknown(name));
        };
        let input = match call.input {
            ToolInput::Json(input) => input,
            ToolInput::Invalid(_) => {
                return ToolResult::error(format!(
                    "{name} was not run: its arguments are not valid JSON"
                ));
            }
        };
        if let Err(why) = check(schema, input) {
            return ToolResult::error(format!("{name} was not run: {why}"));
        }
        self.run(name, input).await
    }

    async fn run(&self, name: &str, input: &Raw) -> ToolResult {
        // The toolbox is called inside of the future, for it may panic before it returns one.
        let call = async { self.toolbox.call(name, input).await };
        let call = pin!(AssertUnwindSafe(call).catch_unwind());
        let limit = self.bounds.tool_timeout;
        match select(call, self.clock.sleep(limit)).await {
            Either::Left((Ok(result), _)) => result,
            // The panic's own text stays out: it is made for the tool's author and may hold anything.
            Either::Left((Err(_), _)) => ToolResult::error(format!(
                "{name} crashed: this is a fault of the tool, not of its arguments"
            )),
            Either::Right(_) => ToolResult::error(format!(
                "{name} was stopped: it took longer than {} s",
                limit.as_secs_f64()
            )),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let mut names: Vec<_> = self
            .tools
            .iter()
            .filter_map(|tool| match tool {
                ToolSpec::Function { name, .. } => Some(name.as_str()),
                ToolSpec::Server(_) => None,
            })
            .collect();
        if names.is_empty() {
            return format!("there is no tool {name}, and no other one");
        }
        if names.len() > NAMES {
            names.truncate(NAMES);
            names.push("...");
        }
        format!(
            "there is no tool {name}; the tools are: {}",
            names.join(", ")
        )
    }
}

/// The calls of `reply` in order. An id is answered once, whatever the provider sends.
fn calls(reply: &Reply) -> Vec<ToolCall<'_>> {
    let mut ids = HashSet::new();
    reply
        .content
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::ToolUse { id, name, input } => {
                ids.insert(id).then_some(ToolCall { id, name, input })
            }
            _ => None,
        })
        .collect()
}

/// Why a tool with this schema must not be run on `input`.
#[cfg(feature = "schema")]
fn check(schema: &serde_json::Value, input: &Raw) -> Result<(), String> {
    use crate::structured::{Validator, parse, quoted};

    let validator = Validator::new(schema)
        .map_err(|why| format!("this is a fault of the tool, its schema cannot be used: {why}"))?;
    let value = parse(input.get()).map_err(|why| format!("its arguments cannot be read: {why}"))?;
    validator
        .check(&value, input.get().len())
        .map_err(|errors| {
            let errors = quoted(&errors);
            format!("its arguments do not follow its schema:\n{errors}")
        })
}

#[cfg(not(feature = "schema"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "it stands for the check of the feature"
)]
fn check(_: &serde_json::Value, _: &Raw) -> Result<(), String> {
    Ok(())
}
