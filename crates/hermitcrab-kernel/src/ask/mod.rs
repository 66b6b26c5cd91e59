//! A face asks the model beside the conversation.

use pscale_blocks::Provenance;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{EventSink, Fault, Kernel, ToolOutcome};

impl Kernel {
    /// Asks the model in plain words, without tools. `messages` is a list of `{role, content}`, `opts` may have `model`,
    /// `system` and `max_tokens`. Answers `{role, content, model, stop_reason, usage}`, the content as one text.
    pub async fn call_llm(
        &self,
        messages: Value,
        opts: Value,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        let _ = (messages, opts, events, cancel);
        Fault::new("unavailable", "not yet").into()
    }

    /// One request as the provider defines it. Answers `{role, content, model, stop_reason, usage}`, the content as a
    /// list of blocks.
    pub async fn call_api(
        &self,
        params: Value,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        let _ = (params, events, cancel);
        Fault::new("unavailable", "not yet").into()
    }

    /// As [`Kernel::call_api`], and the tools that the model calls are run in the name of `by`, until it is done.
    pub async fn call_with_tools(
        &self,
        params: Value,
        by: Provenance,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolOutcome {
        let _ = (params, by, events, cancel);
        Fault::new("unavailable", "not yet").into()
    }
}
