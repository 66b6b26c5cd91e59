//! A client of the protocol, made with the library that other programs use.

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ContentBlock, ErrorData,
    GetPromptRequestParams, Implementation, ProtocolVersion, ReadResourceRequestParams,
    ResourceContents,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, Peer, RunningService, ServiceError,
};
use rmcp::transport::TokioChildProcess;
use serde_json::Value;
use tokio::process::Command;

use crate::program::Place;

/// The name that the client gives itself.
const NAME: &str = "row 27";

pub struct Client {
    session: RunningService<RoleClient, ClientConfig>,
    pid: u32,
}

impl Client {
    /// Starts a server as a child and shakes hands.
    pub async fn start(place: &Place, write: bool) -> Self {
        Self::begin(place, write, ClientLifecycleMode::Initialize).await
    }

    /// Starts a server as [`Client::start`] does, by the protocol of 2026-07-28: every request names its sender.
    pub async fn start_without_handshake(place: &Place, write: bool) -> Self {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        Self::begin(
            place,
            write,
            ClientLifecycleMode::Discover { preferred_versions },
        )
        .await
    }

    async fn begin(place: &Place, write: bool, lifecycle: ClientLifecycleMode) -> Self {
        let arguments = if write {
            &["mcp", "--write"][..]
        } else {
            &["mcp"]
        };
        let child = TokioChildProcess::new(Command::from(place.command(arguments))).unwrap();
        let pid = child.id().unwrap();
        let config = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new(NAME, "1"),
        );
        let session = config.serve_with_lifecycle(child, lifecycle).await.unwrap();
        Self { session, pid }
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn peer(&self) -> &Peer<RoleClient> {
        self.session.peer()
    }

    /// Closes the session and waits for the child.
    pub async fn leave(self) {
        self.session.cancel().await.unwrap();
    }

    /// Returns the names of the tools.
    pub async fn tools(&self) -> Vec<String> {
        let tools = self.peer().list_all_tools().await.unwrap();
        tools
            .into_iter()
            .map(|tool| tool.name.into_owned())
            .collect()
    }

    /// Calls a tool that must succeed, and returns its answer.
    #[track_caller]
    pub fn done(&self, tool: &'static str, arguments: Value) -> impl Future<Output = Value> {
        self.answer(tool, arguments, false)
    }

    /// Calls a tool that must fail, and returns the error that the model reads.
    pub fn fails(&self, tool: &'static str, arguments: Value) -> impl Future<Output = Value> {
        self.answer(tool, arguments, true)
    }

    async fn answer(&self, tool: &'static str, arguments: Value, is_error: bool) -> Value {
        let arguments = arguments.as_object().unwrap().clone();
        let call = CallToolRequestParams::new(tool).with_arguments(arguments.clone());
        let result = self.peer().call_tool(call).await.unwrap();
        let [ContentBlock::Text(text)] = result.content.as_slice() else {
            panic!("{result:?}");
        };
        assert_eq!(
            result.is_error,
            Some(is_error),
            "{tool} {arguments:?}: {}",
            text.text
        );
        serde_json::from_str(&text.text).unwrap()
    }

    /// Calls a tool that the server does not have, and returns the message of the error.
    pub async fn refused(&self, tool: &'static str) -> String {
        let call = self.peer().call_tool(CallToolRequestParams::new(tool));
        refusal(call.await.unwrap_err()).message.into_owned()
    }

    pub async fn resource(&self, uri: &str) -> Result<String, ErrorData> {
        let request = ReadResourceRequestParams::new(uri);
        let found = self.peer().read_resource(request).await.map_err(refusal)?;
        let [
            ResourceContents::TextResourceContents {
                uri: named, text, ..
            },
        ] = found.contents.as_slice()
        else {
            panic!("{found:?}");
        };
        assert_eq!(named, uri);
        Ok(text.clone())
    }

    pub async fn prompt(&self, name: &str) -> Result<String, ErrorData> {
        let request = GetPromptRequestParams::new(name);
        let found = self.peer().get_prompt(request).await.map_err(refusal)?;
        let [message] = found.messages.as_slice() else {
            panic!("{found:?}");
        };
        let ContentBlock::Text(text) = &message.content else {
            panic!("{found:?}");
        };
        Ok(text.text.clone())
    }
}

fn refusal(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => panic!("{other}"),
    }
}
