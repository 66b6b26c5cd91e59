//! A server that speaks the Model Context Protocol on stdin and stdout, with its tools.
#![expect(
    deprecated,
    reason = "servers of earlier versions ask for sampling and roots"
)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bin_support::shortened;
use hermitcrab_face::ProcessGroup;
use hermitcrab_kernel::toolbox::ServerTool;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    ContentBlock, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorCode, ErrorData, Implementation, ListRootsResult, PaginatedRequestParams,
    ResourceContents,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, Peer, RequestContext, RunningService, ServiceError,
};
use rmcp::{ClientCacheConfig, ClientHandler, RoleClient, serve_client};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::process::ServerProcess;

/// The most tools of a server.
const MAX_TOOLS: usize = 2_000;
/// The most pages on which it lists them.
const MAX_PAGES: usize = 50;
/// The longest text of a server in an error, in characters.
const QUOTED: usize = 300;
/// The longest text of a tool that failed, in characters.
const MAX_FAILURE: usize = 2_000;

/// A server that answers.
pub struct RunningServer {
    process: ServerProcess,
    session: RunningService<RoleClient, RefusingClient>,
    pub tools: Vec<ServerTool>,
}

/// The reason why a call has no result.
pub enum CallFailure {
    /// The tool failed, with the server's words. The server can be called again.
    Tool(String),
    /// The server failed and is not used any more.
    Server(String),
}

impl RunningServer {
    /// Starts a server and asks for its tools. `started` receives the processes at once.
    ///
    /// # Errors
    /// The reason in one line.
    pub async fn start(
        command: &[String],
        env: &[String],
        limit: Duration,
        started: impl FnOnce(Arc<ProcessGroup>),
    ) -> Result<Self, String> {
        let (mut process, reader, writer) =
            ServerProcess::start(command, env).map_err(|error| {
                format!(
                    "its command {} cannot be started: {error}",
                    program(command)
                )
            })?;
        started(process.group());
        let begin = async {
            let client = RefusingClient {
                changed: AtomicBool::new(false),
            };
            let session = serve_client(client, (reader, writer));
            let session = session.await.map_err(|error| (refusal(&error), true))?;
            // A page from the library's store would cost no byte, so that no limit of bytes would end the list.
            let cache = ClientCacheConfig::disabled();
            session.peer().set_response_cache_config(cache).await;
            let tools = list(session.peer()).await;
            let tools = tools.map_err(|why| (why, session.peer().is_transport_closed()))?;
            Ok::<_, (String, bool)>((session, tools))
        };
        match timeout(limit, begin).await {
            Err(_) => Err(no_answer("its start", limit)),
            Ok(Err((why, false))) => Err(why),
            // How it ended says more than that it did.
            Ok(Err((why, true))) => Err(process.reason().await.unwrap_or(why)),
            Ok(Ok((session, tools))) => Ok(Self {
                process,
                session,
                tools,
            }),
        }
    }

    /// Returns whether the server can still be called.
    pub fn is_open(&self) -> bool {
        !self.session.peer().is_transport_closed()
    }

    /// Asks for the tools again if the server said that they changed.
    ///
    /// # Errors
    /// The reason in one line.
    pub async fn refresh(&mut self, limit: Duration) -> Result<(), String> {
        if !self.session.service().changed.swap(false, Ordering::SeqCst) {
            return Ok(());
        }
        self.process.begin_request();
        self.tools = match timeout(limit, list(self.session.peer())).await {
            Err(_) => return Err(no_answer("the question for its tools", limit)),
            Ok(Err(why)) if self.is_open() => return Err(why),
            Ok(Err(why)) => return Err(self.process.reason().await.unwrap_or(why)),
            Ok(Ok(tools)) => tools,
        };
        Ok(())
    }

    /// Calls a tool.
    pub async fn call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
        limit: Duration,
    ) -> Result<String, CallFailure> {
        self.process.begin_request();
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let answered = timeout(limit, self.session.peer().call_tool_once(params)).await;
        match answered {
            Ok(Ok(CallToolResponse::Complete(result))) => text(result),
            Ok(Ok(_)) => {
                let why = "it asks for input, which no server gets here";
                Err(CallFailure::Tool(why.to_owned()))
            }
            Ok(Err(ServiceError::McpError(error))) => {
                Err(CallFailure::Tool(shortened(&error.message, QUOTED)))
            }
            Ok(Err(_)) => {
                let closed = || "it closed its output".to_owned();
                let why = self.process.reason().await.unwrap_or_else(closed);
                Err(CallFailure::Server(why))
            }
            Err(_) => Err(CallFailure::Server(no_answer("the call", limit))),
        }
    }
}

/// Returns the program of a command as it is printed.
fn program(command: &[String]) -> String {
    shortened(command.first().map_or("", String::as_str), QUOTED)
}

fn no_answer(to: &str, limit: Duration) -> String {
    format!("it did not answer {to} within {} s", limit.as_secs())
}

/// Returns the tools of all pages. The server says where the next page is, so their number is limited here.
async fn list(peer: &Peer<RoleClient>) -> Result<Vec<ServerTool>, String> {
    let (mut tools, mut cursor, mut seen) = (Vec::new(), None, BTreeSet::new());
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(params)).await;
        let page = page.map_err(|error| match error {
            ServiceError::McpError(error) => {
                let words = shortened(&error.message, QUOTED);
                format!("it does not list its tools: {words}")
            }
            _ => "it closed its output".to_owned(),
        })?;
        tools.extend(page.tools.into_iter().map(|tool| {
            let description = tool.description.unwrap_or_default();
            let schema = Value::Object((*tool.input_schema).clone());
            ServerTool::new(tool.name, description, schema)
        }));
        if tools.len() > MAX_TOOLS {
            return Err(format!("it has more than {MAX_TOOLS} tools"));
        }
        let Some(next) = page.next_cursor else {
            return Ok(tools);
        };
        if !seen.insert(next.clone()) {
            return Err("its list of tools names a page twice".to_owned());
        }
        cursor = Some(next);
    }
    Err(format!("its list of tools has more than {MAX_PAGES} pages"))
}

fn refusal(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            format!(
                "it refused the session: {}",
                shortened(&error.message, QUOTED)
            )
        }
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => "it closed its output".to_owned(),
        _ => "its first answer is not one of the Model Context Protocol".to_owned(),
    }
}

/// Returns the text of a result. Pictures, sounds and files are named only.
fn text(result: CallToolResult) -> Result<String, CallFailure> {
    let parts: Vec<_> = result.content.into_iter().map(part).collect();
    let mut text = parts.join("\n");
    if let Some(value) = result.structured_content.filter(|_| text.is_empty()) {
        text = value.to_string();
    }
    if result.is_error == Some(true) {
        let short: String = text.chars().take(MAX_FAILURE).collect();
        return Err(CallFailure::Tool(short));
    }
    Ok(text)
}

fn part(content: ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => format!("[a picture, {}]", shortened(&image.mime_type, 80)),
        ContentBlock::Audio(audio) => format!("[a sound, {}]", shortened(&audio.mime_type, 80)),
        ContentBlock::ResourceLink(link) => format!("[a link, {}]", shortened(&link.uri, QUOTED)),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text,
            ResourceContents::BlobResourceContents { uri, .. } => {
                format!("[a file, {}]", shortened(&uri, QUOTED))
            }
            _ => "[a file]".to_owned(),
        },
        _ => "[content of an unknown kind]".to_owned(),
    }
}

/// A client without abilities: every request of a server is refused.
struct RefusingClient {
    /// Whether the server said that its tools changed.
    changed: AtomicBool,
}

fn refused(request: &str) -> ErrorData {
    let text = format!("{request} is refused");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None)
}

impl ClientHandler for RefusingClient {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("hermitcrab", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(refused("sampling"))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Err(refused("the list of roots"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(refused("elicitation"))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::SeqCst);
    }
}
