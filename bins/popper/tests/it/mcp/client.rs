//! A client of the protocol, made with the library that other programs use.

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ContentBlock, Implementation,
};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::Value;

use crate::process::command;

pub struct Client(RunningService<RoleClient, ClientConfig>);

impl Client {
    /// Starts a server as a child and shakes hands.
    pub async fn start() -> Self {
        Self::of(command(&["mcp"])).await
    }

    /// Starts the server of a command.
    pub async fn of(command: std::process::Command) -> Self {
        let command = tokio::process::Command::from(command);
        let child = TokioChildProcess::new(command).unwrap();
        let name = Implementation::new("popper's tests", "1");
        let config = ClientConfig::new(ClientCapabilities::default(), name);
        Self(config.serve(child).await.unwrap())
    }

    /// Calls a tool that must succeed, and returns its text.
    pub async fn done(&self, tool: &'static str, arguments: Value) -> String {
        self.text(tool, arguments, false).await
    }

    /// Calls a tool that must fail, and returns its message.
    pub async fn fails(&self, tool: &'static str, arguments: Value) -> String {
        self.text(tool, arguments, true).await
    }

    async fn text(&self, tool: &'static str, arguments: Value, is_error: bool) -> String {
        let arguments = arguments.as_object().unwrap().clone();
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.0.peer().call_tool(call).await.unwrap();
        let [ContentBlock::Text(text)] = result.content.as_slice() else {
            panic!("{result:?}");
        };
        assert_eq!(result.is_error, Some(is_error), "{tool}: {}", text.text);
        text.text.clone()
    }

    /// Closes the session and waits for the child.
    pub async fn leave(self) {
        self.0.cancel().await.unwrap();
    }
}
