//! A round of tools.

use llm_client::{BlockKind, Message, Role};
use pscale_blocks::EditAuthor;
use pscale_blocks::store::Origins;
use serde_json::Value;

use super::{NextStep, Turn};
use crate::conversation::{Author, Utterance};
use crate::dispatch::{CLOSE_AT, ToolCaller, author};
use crate::table::ToolResult;
use crate::{ErrorKind, ToolError};

impl Turn<'_> {
    /// Runs the calls of a reply, which may be cut off. Their results are one message of the kernel.
    pub(super) async fn run_calls(&mut self, message: Message, cut_off: bool) -> NextStep {
        self.continued = false;
        let (context, settings) = (self.context, self.settings);
        let is_offered = |name: &str| {
            let tools = settings.prompt.tools(context);
            tools.iter().any(|tool| tool.name() == Some(name))
        };
        // The calls were made before their results were known.
        let said = self.model_says(message.clone());
        self.facts.n = self.messages.next_number();
        let mut caller = self.caller();
        let ran = context.run_calls(&message, cut_off, &is_offered, &mut caller);
        let mut results = ran.await;
        self.messages.push(said);
        if let Some(BlockKind::ToolResult { content, .. }) =
            results.blocks.last_mut().map(|block| &mut block.kind)
            && let Some((notes, from)) = self.tell()
        {
            content.push(notes);
            results.from = Origins::union([&results.from, &from]);
        }
        let results_said = Message::new(Role::User, results.blocks);
        let results_said = Utterance::new(Author::Kernel, results_said);
        self.messages.push(results_said.with_from(results.from));
        self.store();
        if results.repeated {
            let line = format!(
                "stopped: the same tool was called too often ({CLOSE_AT} times) with the same arguments"
            );
            return self.stop(ToolError::new(ErrorKind::Repeated, line));
        }
        if self.facts.failed > settings.repairs {
            self.safe_face = Some(std::mem::take(&mut self.facts.errors));
            return self.limit(format!(
                "no shell compiled in {} attempts: the safe face is shown",
                self.facts.failed
            ));
        }
        if self.in_boot() && self.facts.mounted > 0 {
            return NextStep::Done;
        }
        NextStep::Ask
    }

    /// Runs a tool in the name of the model.
    pub(super) async fn call_tool(&mut self, name: &str, input: Value) -> ToolResult {
        let context = self.context;
        context.run_tool(name, input, &mut self.caller()).await
    }

    /// The caller of the tools: the model, or the face that asked.
    fn caller(&mut self) -> ToolCaller<'_> {
        let model = || EditAuthor::Model {
            id: self.model.clone(),
            web: self.facts.read.last.clone(),
        };
        let provenance = self.settings.by.clone().unwrap_or_else(model);
        ToolCaller {
            by: author(&provenance),
            provenance,
            boot: self.in_boot(),
            facts: &mut self.facts,
            events: self.events,
            cancel: self.cancel,
        }
    }
}
