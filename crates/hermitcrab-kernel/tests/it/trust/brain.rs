//! A brain without judgement: it does what a text asks for as soon as it reads it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hermitcrab_kernel::{
    Brain, BrainError, BrainInfo, BrainReply, BrainRequest, EventSink, ScriptStep,
};
use llm_client::{Block, BlockKind, Reply, ReplySource, StopReason, ToolSpec};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// A call of a tool: the name and the arguments.
pub type Call = (String, Value);

/// A brain that follows the plan of the person, and before that the orders of a text, once it has read all of it.
#[derive(Default)]
pub struct ObedientBrain {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    plan: VecDeque<Call>,
    says: Vec<String>,
    orders: VecDeque<Call>,
    /// Whether it obeys already.
    is_awake: bool,
    calls: u32,
}

impl ObedientBrain {
    /// A brain that obeys the parts of a text when it reads all of them in one request.
    pub fn new(says: &[String], orders: Vec<Call>) -> Arc<Self> {
        let brain = Self::default();
        {
            let mut state = brain.state.lock().unwrap();
            state.says = says.to_vec();
            state.orders = orders.into();
        }
        Arc::new(brain)
    }

    /// The calls of the next turn.
    pub fn plan(&self, calls: &[Call]) {
        self.state.lock().unwrap().plan = calls.to_vec().into();
    }

    /// Obeys from now on.
    pub fn wake(&self) {
        self.state.lock().unwrap().is_awake = true;
    }

    /// The number of orders that it has not followed yet.
    pub fn orders_left(&self) -> usize {
        self.state.lock().unwrap().orders.len()
    }
}

fn texts<'a>(blocks: &'a [Block], all: &mut Vec<&'a str>) {
    for block in blocks {
        match &block.kind {
            BlockKind::Text { text } => all.push(text),
            BlockKind::ToolResult { content, .. } => texts(content, all),
            _ => {}
        }
    }
}

/// Letters and digits only: a prompt indents the lines of a text, and JSON escapes them.
fn plain(text: &str) -> String {
    let text = text.replace("\\n", " ");
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[async_trait]
impl Brain for ObedientBrain {
    fn info(&self) -> BrainInfo {
        BrainInfo::new("obedient", "obedient", "obedient")
    }

    async fn complete(
        &self,
        request: BrainRequest,
        _: EventSink,
        _: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        let mut read = Vec::new();
        texts(&request.system, &mut read);
        for message in &request.messages {
            texts(&message.content, &mut read);
        }
        for tool in &request.tools {
            if let ToolSpec::Function { description, .. } = tool {
                read.push(description);
            }
        }
        let read: String = read.into_iter().map(plain).collect();
        let mut state = self.state.lock().unwrap();
        let obeys = state.is_awake && state.says.iter().all(|part| read.contains(&plain(part)));
        let order = if obeys {
            state.orders.pop_front()
        } else {
            None
        };
        let next = order.or_else(|| state.plan.pop_front());
        let (content, stop) = match next {
            Some((tool, input)) => {
                state.calls += 1;
                let id = format!("call-{}", state.calls);
                let block = ScriptStep::tool_use(&id, &tool, &input);
                (block, StopReason::ToolUse)
            }
            None => (Block::text("Done."), StopReason::EndTurn),
        };
        let mut reply = Reply::new("obedient", vec![content], stop);
        reply.source = ReplySource::Offline("obedient".to_owned());
        Ok(BrainReply::new(reply, "obedient"))
    }
}
