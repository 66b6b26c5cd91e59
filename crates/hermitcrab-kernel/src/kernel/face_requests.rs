use pscale_blocks::EditAuthor;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Kernel, may_block};
use crate::table::ToolResult;
use crate::turn::face_request::{self, AnswerFormat, FaceCaller};
use crate::{ErrorKind, EventSink, ToolError};

impl Kernel {
    /// Asks a model in plain words, without tools.
    ///
    /// `messages` is a text, or a list of `{role, content}`. `opts` may have `model` (`default`, `fast`, or an id of the
    /// settings), `system` and `max_tokens`. The answer is `{role, content, model, stop_reason, usage}`, the content as
    /// one text. Its text goes to `events` as it arrives.
    ///
    /// Fields that are not known are left out, those of sampling, too. The budgets of the turn and the day hold, the
    /// window is that of a conversation, and one such request is under way at a time. Faults: `bad_arguments`,
    /// `too_large`, `unknown_model`, `budget`, `model`, `stopped`.
    pub async fn call_llm(
        &self,
        messages: Value,
        opts: Value,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolResult {
        let mut params = match opts {
            Value::Object(opts) => Value::Object(opts),
            Value::Null => serde_json::json!({}),
            _ => return ToolError::new(ErrorKind::BadArguments, "opts is an object").into(),
        };
        params["messages"] = messages;
        params["tools"] = serde_json::json!([]);
        self.ask(params, AnswerFormat::Text, None, &events, &cancel)
            .await
    }

    /// One request as the provider defines it.
    ///
    /// `params` has `messages` and may have `model`, `system`, `max_tokens`, `thinking` and `tools`. Whether a model
    /// thinks is a setting of the person's; `{type: "disabled"}` switches it off where it can be. A tool is the name of
    /// one of the kernel's, or `{name, description, input_schema}` of the face. Without `tools` no tool is offered.
    /// The answer is `{role, content, model, stop_reason, usage}`, the content as a list of blocks; the calls in it are
    /// not run. All else is as with [`Kernel::call_llm`].
    pub async fn call_api(
        &self,
        params: Value,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolResult {
        self.ask(params, AnswerFormat::Blocks, None, &events, &cancel)
            .await
    }

    /// As [`Kernel::call_api`], and the tools that the model calls are run in the name of `by` until it is done; the last
    /// reply is the answer, with the tokens of all.
    ///
    /// Tools are the kernel's only. Without `tools` the model has those of the conversation, with `[]` none. After as many
    /// requests as a turn may have it is asked to answer without any.
    pub async fn call_with_tools(
        &self,
        params: Value,
        by: EditAuthor,
        events: EventSink,
        cancel: CancellationToken,
    ) -> ToolResult {
        self.ask(params, AnswerFormat::Blocks, Some(by), &events, &cancel)
            .await
    }

    /// An answer for the face, with keys removed.
    async fn ask(
        &self,
        params: Value,
        form: AnswerFormat,
        by: Option<EditAuthor>,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> ToolResult {
        let context = self.owners.context();
        let caller = FaceCaller {
            by,
            unprompted: self.unprompted,
            from: self.origins(),
        };
        let answer = face_request::ask(context, params, form, caller, events, cancel);
        let mut outcome = ToolResult::from(may_block(answer).await.map(ToolResult::of));
        context.files.gates().answer(&mut outcome.content);
        outcome
    }
}
