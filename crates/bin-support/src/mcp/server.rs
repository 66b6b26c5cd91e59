use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio::sync::Mutex;

use super::{McpCall, McpFlags, McpTool, no_method, no_tool, print_config, serve};
use crate::{Exit, Failure, Session};

/// A server of tools, which are functions of their arguments unless they say otherwise.
///
/// One call runs at a time, in the order in which they came; all else is answered meanwhile. A cancelled call has no answer.
pub struct ToolServer {
    name: &'static str,
    version: &'static str,
    instructions: &'static str,
    tools: Vec<McpTool>,
    turn: Mutex<()>,
}

impl ToolServer {
    /// Creates a server of a program, with the text that a client receives when it connects.
    pub fn new(
        name: &'static str,
        version: &'static str,
        instructions: &'static str,
        tools: impl IntoIterator<Item = McpTool>,
    ) -> Self {
        Self {
            name,
            version,
            instructions,
            tools: tools.into_iter().collect(),
            turn: Mutex::default(),
        }
    }

    /// Runs the command `mcp` of the program: serves a client, or prints its configuration.
    ///
    /// # Errors
    /// As [`serve`] and [`print_config`].
    pub fn execute(self, flags: &McpFlags, session: &mut Session) -> Result<Exit, Failure> {
        if flags.print_config {
            return print_config(self.name, &["mcp".to_owned()], session);
        }
        serve(self, session)
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self
            .tools
            .iter()
            .map(|tool| &*tool.described.name)
            .collect();
        names.join(", ")
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(self.name, self.version))
            .with_instructions(self.instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.iter().map(|tool| tool.described.clone());
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self
            .tools
            .iter()
            .find(|tool| tool.described.name == request.name);
        let Some(tool) = tool.cloned() else {
            return Err(no_tool(&request.name, &self.names()));
        };
        let _turn = self.turn.lock().await;
        let call = McpCall::new(context);
        if call.is_cancelled() {
            return Err(ErrorData::internal_error("cancelled", None));
        }
        let arguments = request.arguments.unwrap_or_default();
        // On another thread: this one reads the next messages, of which one may cancel the call.
        let ran = tokio::task::spawn_blocking(move || tool.call(arguments, &call)).await;
        match ran {
            Ok(result) => Ok(result.into()),
            Err(_) => Err(ErrorData::internal_error("the tool failed", None)),
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(no_method(&request))
    }
}
