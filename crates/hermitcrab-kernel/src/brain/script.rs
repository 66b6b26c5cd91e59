use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use llm_client::{Block, BlockKind, Raw, Reply, ReplySource, StopReason, ToolInput, Usage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::request::{Brain, BrainInfo, BrainReply, BrainRequest};
use crate::{BrainError, Event, EventSink};

/// A brain that answers from a list, for tests. It keeps what it was asked.
pub struct ScriptBrain {
    steps: Mutex<VecDeque<ScriptStep>>,
    asked: Mutex<Vec<BrainRequest>>,
}

/// One answer of a [`ScriptBrain`].
#[non_exhaustive]
pub enum ScriptStep {
    /// A fixed reply.
    Reply(Box<Reply>),
    /// A fixed error.
    Error(BrainError),
    /// No answer until the request is given up.
    Hang,
    /// A reply that is made from the request.
    With(Box<dyn FnOnce(&BrainRequest) -> Reply + Send>),
}

impl ScriptStep {
    /// Blocks of content, and why the reply ends.
    pub fn reply(content: Vec<Block>, stop: StopReason) -> Self {
        let mut reply = Reply::new("script", content, stop);
        reply.source = ReplySource::Offline("script".to_owned());
        reply.usage = Usage::default();
        Self::Reply(Box::new(reply))
    }

    /// A text, and the turn is over.
    pub fn text(text: &str) -> Self {
        Self::reply(vec![Block::text(text)], StopReason::EndTurn)
    }

    /// Calls of tools: id, name, arguments.
    pub fn tools(calls: &[(&str, &str, Value)]) -> Self {
        let content = calls
            .iter()
            .map(|(id, name, input)| Self::tool_use(id, name, input))
            .collect();
        Self::reply(content, StopReason::ToolUse)
    }

    /// One call of a tool as a block.
    pub fn tool_use(id: &str, name: &str, input: &Value) -> Block {
        Block::new(BlockKind::ToolUse {
            id: id.to_owned(),
            name: name.to_owned(),
            input: match Raw::of(input) {
                Ok(raw) => ToolInput::Json(raw),
                Err(error) => ToolInput::Invalid(error.to_string()),
            },
        })
    }
}

impl ScriptBrain {
    /// Answers with `steps`, in order.
    pub fn new(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        Self {
            steps: Mutex::new(steps.into_iter().collect()),
            asked: Mutex::default(),
        }
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<BrainRequest> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

#[async_trait]
impl Brain for ScriptBrain {
    fn info(&self) -> BrainInfo {
        BrainInfo {
            provider: "script".to_owned(),
            model: "script".to_owned(),
            fast: "script".to_owned(),
            offline: Some("script".to_owned()),
        }
    }

    async fn complete(
        &self,
        request: BrainRequest,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        let step = {
            let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
            steps.pop_front()
        };
        {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.push(request.clone());
        }
        let reply = match step {
            Some(ScriptStep::Reply(reply)) => *reply,
            Some(ScriptStep::With(make)) => make(&request),
            Some(ScriptStep::Error(error)) => return Err(error),
            Some(ScriptStep::Hang) => {
                cancel.cancelled().await;
                return Err(BrainError::Cancelled);
            }
            None => return Err(BrainError::Other("the script is over".to_owned())),
        };
        for text in reply.content.iter().filter_map(Block::as_text) {
            events.send(Event::Delta {
                text: text.to_owned(),
            });
        }
        Ok(BrainReply {
            reply,
            model: "script".to_owned(),
        })
    }
}
