//! A round of tools.

use llm_client::{BlockKind, Message, Role};
use pscale_blocks::EditAuthor;
use serde_json::Value;

use super::request::offered;
use super::{BOOT_REPAIRS, NextStep, REPAIRS, Turn};
use crate::conversation::{Author, Utterance};
use crate::dispatch::{CLOSE_AT, ToolCaller};
use crate::prompt::Phase;
use crate::table::ToolResult;

impl Turn<'_> {
    /// Runs the calls of a reply, which may be cut off.
    pub(super) async fn run_calls(&mut self, message: Message, cut_off: bool) -> NextStep {
        self.rounds += 1;
        self.continued = false;
        let (context, phase) = (self.context, self.phase);
        let is_offered = |name: &str| offered(context, phase).iter().any(|tool| tool == name);
        let mut caller = self.caller();
        let ran = context.run_calls(&message, cut_off, &is_offered, &mut caller);
        let mut results = ran.await;
        self.pending.push(Utterance::new(Author::Model, message));
        if let Some(BlockKind::ToolResult { content, .. }) =
            results.blocks.last_mut().map(|block| &mut block.kind)
        {
            content.extend(self.tell());
        }
        let results_said = Message::new(Role::User, results.blocks);
        self.pending
            .push(Utterance::new(Author::Kernel, results_said));
        self.store();
        if results.repeated {
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
            return NextStep::Done;
        }
        NextStep::Ask
    }

    /// Runs a tool in the name of the model.
    pub(super) async fn call_tool(&mut self, name: &str, input: Value) -> ToolResult {
        let context = self.context;
        context.run_tool(name, input, &mut self.caller()).await
    }

    /// The model as the one who calls.
    fn caller(&mut self) -> ToolCaller<'_> {
        ToolCaller {
            by: self.model.clone(),
            provenance: EditAuthor::Model {
                id: self.model.clone(),
                web: self.facts.read.last.clone(),
            },
            boot: self.phase != Phase::Call,
            facts: &mut self.facts,
            events: self.events,
            cancel: self.cancel,
        }
    }
}
