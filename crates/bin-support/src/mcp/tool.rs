use std::fmt::Display;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ProgressNotificationParam, Tool, ToolAnnotations,
};
use rmcp::schemars::JsonSchema;
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Handle;

use super::{schema, without_keys};
use crate::shortened;

/// The longest message about a failed call, in characters: it quotes the arguments.
const MESSAGE: usize = 2_000;

type McpFunction = dyn Fn(JsonObject, &McpCall) -> Result<String, String> + Send + Sync;

/// A tool: its name and description for a model, and a function of its arguments.
#[derive(Clone)]
pub struct McpTool {
    pub(super) described: Tool,
    run: Arc<McpFunction>,
}

impl McpTool {
    /// Creates a tool that changes nothing and reaches nothing outside of its arguments; [`McpTool::with_state`] is for one that does.
    ///
    /// The fields of `A` with their documentation are the schema that the client gets, so `A` has
    /// `#[serde(deny_unknown_fields)]`. The same arguments give the same text. An error is a text for the model, with the change
    /// that it needs.
    ///
    /// ```
    /// use bin_support::mcp::{McpCall, McpTool};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// #[serde(deny_unknown_fields)]
    /// struct Numbers {
    ///     /// Numbers to add.
    ///     numbers: Vec<i32>,
    /// }
    ///
    /// fn sum(arguments: &Numbers, call: &McpCall) -> Result<String, String> {
    ///     let count = arguments.numbers.len();
    ///     let mut sum = 0_i32;
    ///     for (done, number) in arguments.numbers.iter().enumerate() {
    ///         if call.is_cancelled() {
    ///             break;
    ///         }
    ///         sum = sum.checked_add(*number).ok_or("numbers: the sum is too large")?;
    ///         call.progress(done + 1, count);
    ///     }
    ///     Ok(sum.to_string())
    /// }
    ///
    /// let tool = McpTool::new("sum", "Add numbers.", sum);
    /// ```
    pub fn new<A, E>(
        name: &'static str,
        description: &'static str,
        run: impl Fn(&A, &McpCall) -> Result<String, E> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        E: Display,
    {
        let hints = ToolAnnotations::new().read_only(true).open_world(false);
        let described = Tool::new(name, description, Arc::new(schema::of::<A>()));
        Self {
            described: described.with_annotations(hints),
            run: Arc::new(move |arguments, call| {
                let arguments: A = read(arguments)?;
                run(&arguments, call).map_err(|error| error.to_string())
            }),
        }
    }

    /// Takes an argument away: a client does not see it, and a call that has it is refused.
    #[must_use]
    pub fn without(mut self, argument: &'static str) -> Self {
        let mut schema = JsonObject::clone(&self.described.input_schema);
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.remove(argument);
        }
        self.described.input_schema = Arc::new(schema);
        let run = self.run;
        self.run = Arc::new(move |arguments, call| {
            if arguments.contains_key(argument) {
                return Err(format!("{argument}: unknown field `{argument}`"));
            }
            run(arguments, call)
        });
        self
    }

    /// Tells clients that a call changes the state of the server, so that two equal calls may have different answers.
    #[must_use]
    pub fn with_state(mut self) -> Self {
        let hints = ToolAnnotations::new()
            .read_only(false)
            .destructive(false)
            .idempotent(false)
            .open_world(false);
        self.described = self.described.with_annotations(hints);
        self
    }

    /// Runs the tool. A failure is a result, too, so that the model reads it.
    pub(super) fn call(&self, arguments: JsonObject, call: &McpCall) -> CallToolResult {
        match (self.run)(arguments, call) {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(message) => {
                let message = shortened(&without_keys(&message), MESSAGE);
                CallToolResult::error(vec![ContentBlock::text(message)])
            }
        }
    }
}

/// Reads the arguments; an error names the place in them.
fn read<A: DeserializeOwned>(arguments: JsonObject) -> Result<A, String> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner();
        match path.as_str() {
            "." => message.to_string(),
            path => format!("{path}: {message}"),
        }
    })
}

/// A call that runs, as its tool sees it.
pub struct McpCall(RequestContext<RoleServer>);

impl McpCall {
    pub(super) fn new(context: RequestContext<RoleServer>) -> Self {
        Self(context)
    }

    /// Whether the client wants no answer any more, or is gone. A tool that takes long asks often, and may then return anything.
    pub fn is_cancelled(&self) -> bool {
        self.0.ct.is_cancelled()
    }

    /// Reports how much of the call is done, if the client wants to know. A client that reads nothing makes the tool wait.
    pub fn progress(&self, done: usize, total: usize) {
        let Some(token) = self.0.meta.get_progress_token() else {
            return;
        };
        let progress = ProgressNotificationParam::new(token, done as f64).with_total(total as f64);
        let sent = Handle::current().block_on(self.0.peer.notify_progress(progress));
        if let Err(error) = sent {
            tracing::debug!(%error, "no progress can be reported");
        }
    }
}
