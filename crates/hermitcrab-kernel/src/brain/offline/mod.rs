//! A brain without a model: a fixed script that sees what a model sees and calls the same tools.

mod boot;
mod command;
mod say;
mod view;

use async_trait::async_trait;
use llm_client::{Block, Cost, Reply, ReplySource, StopReason};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::request::{Brain, BrainInfo, BrainReply, BrainRequest};
use super::script::ScriptStep;
use crate::{BrainError, Event, EventSink};

use view::{CALL_ID, ConversationView};

/// The name of the script in reports, journals and headers.
const LABEL: &str = "offline";
/// The face that the script writes.
const SHELL: &str = include_str!("shell.jsx");

/// Answers by fixed rules, without a network. It has no state: it reads its own steps from the conversation, so that it
/// continues after a restart.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "a brain without settings")]
pub struct OfflineBrain;

/// The next step of the script.
enum Move {
    /// Says this, and the turn is over.
    Say(String),
    /// Calls tools, with an optional text.
    Call(String, Vec<(&'static str, Value)>),
}

impl Move {
    fn call(tool: &'static str, input: Value) -> Self {
        Self::Call(String::new(), vec![(tool, input)])
    }
}

#[async_trait]
impl Brain for OfflineBrain {
    fn info(&self) -> BrainInfo {
        BrainInfo {
            provider: LABEL.to_owned(),
            model: LABEL.to_owned(),
            fast: LABEL.to_owned(),
            offline: Some("script".to_owned()),
        }
    }

    async fn complete(
        &self,
        request: BrainRequest,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        if cancel.is_cancelled() {
            return Err(BrainError::Cancelled);
        }
        let view = ConversationView::of(&request);
        let next = match view.words {
            _ if request.tools.is_empty() => Move::Say(say::NO_MODEL.to_owned()),
            "BOOT" => boot::next(&view),
            _ => command::next(&view),
        };
        let (text, calls) = match next {
            Move::Say(text) => (text, Vec::new()),
            Move::Call(text, calls) => (text, calls),
        };
        let stop = if calls.is_empty() {
            StopReason::EndTurn
        } else {
            StopReason::ToolUse
        };
        let mut content = Vec::new();
        if !text.is_empty() {
            events.send(Event::Delta { text: text.clone() });
            content.push(Block::text(text));
        }
        for (number, (name, input)) in (view.next_call..).zip(&calls) {
            let id = format!("{CALL_ID}{number}");
            content.push(ScriptStep::tool_use(&id, name, input));
        }
        let mut reply = Reply::new(LABEL, content, stop);
        reply.source = ReplySource::Offline(LABEL.to_owned());
        reply.cost = Cost::FREE;
        reply.usage.known = true;
        Ok(BrainReply {
            reply,
            model: LABEL.to_owned(),
        })
    }
}
