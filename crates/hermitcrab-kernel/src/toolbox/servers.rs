//! Tools of other programs, called servers, which a person grants one by one.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::future::join_all;
use pscale_blocks::store::{Origin, Origins};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::server_texts::{MAX_DESCRIPTION, known_schema, shown};
use crate::table::{Effect, Tool, ToolResult};
use crate::{ErrorKind, ToolError};

/// The longest name of a server.
const MAX_SERVER: usize = 16;
/// The longest name of a tool that providers take.
const MAX_NAME: usize = 64;
/// The text before the name of a server in its group of `set_tools`.
const GROUP: &str = "mcp:";
/// The text between the names of a server and of its tool.
const BETWEEN: &str = "__";

/// The name of a server: a lower-case letter, then letters, digits and `-`, at most 16 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(String);

impl ServerName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ServerName {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, ToolError> {
        let is_name = text.len() <= MAX_SERVER
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if is_name {
            return Ok(Self(text.to_owned()));
        }
        let detail = "the name of a server is a lower-case letter, then a-z, 0-9 and -";
        Err(ToolError::new(ErrorKind::BadName, detail).hint("at most 16 characters"))
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerTool {
    /// The name at the server.
    pub name: String,
    /// The whole description.
    pub description: String,
    /// The JSON schema of the arguments.
    pub schema: Value,
}

impl ServerTool {
    /// A tool with this name, description and schema.
    pub fn new(name: impl Into<String>, description: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            schema,
        }
    }

    /// The SHA-256 of name, description and schema: the form in which a person granted the tool.
    pub fn sha256(&self) -> String {
        // Objects have their keys in order.
        let form = json!([self.name, self.description, self.schema]);
        hex::encode(Sha256::digest(form.to_string()))
    }

    /// The tool in the words that a model reads: a description of one line, and a schema of known keywords.
    #[must_use]
    pub fn as_read(&self) -> Self {
        Self {
            name: self.name.clone(),
            description: shown(&self.description, MAX_DESCRIPTION),
            schema: known_schema(&self.schema),
        }
    }

    /// The tool as a request has it.
    fn for_model(&self, server: &ServerName) -> Tool {
        let read = self.as_read();
        Tool {
            name: tool_name(server.as_str(), &self.name),
            description: read.description,
            schema: read.schema,
            effect: Effect::Write,
        }
    }
}

/// The name of a server's tool for the model: `NAME__TOOL`, with the letters and the length that providers take.
pub fn tool_name(server: &str, tool: &str) -> String {
    let letter = |char: char| match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => char,
        _ => '_',
    };
    let name = format!("{server}{BETWEEN}{tool}");
    name.chars().map(letter).take(MAX_NAME).collect()
}

/// The tools that a person granted and that a server has in the same form.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a source decides what it offers and what it says"
)]
pub struct OfferedTools {
    /// The tools.
    pub tools: Vec<ServerTool>,
    /// Lines for the person about granted tools that are off. Each is shown once.
    pub notices: Vec<String>,
}

/// A server, as the kernel uses it. The kernel starts no process and waits as long as a source does: a source has limits of time
/// and size, and is safe against what a server sends.
#[async_trait]
pub trait ToolSource: Send + Sync {
    /// The granted tools; starts the server if it does not run.
    ///
    /// # Errors
    /// [`ErrorKind::ServerFailed`] with the reason.
    async fn tools(&self) -> Result<OfferedTools, ToolError>;

    /// Calls a tool by its name at the server, until `cancel` fires; starts the server if it does not run.
    ///
    /// # Errors
    /// [`ErrorKind::ServerFailed`]; [`ErrorKind::Inactive`] if the tool is not granted in this form any more;
    /// [`ErrorKind::Failed`] with the server's own words if the tool failed.
    async fn call(
        &self,
        tool: &str,
        args: Value,
        cancel: &CancellationToken,
    ) -> Result<String, ToolError>;

    /// Ends the server and all that it started.
    fn end(&self);
}

/// The servers of a kernel.
pub(crate) struct Servers {
    servers: Vec<Server>,
    /// Lines that the person has read.
    told: Mutex<BTreeSet<String>>,
}

/// A server and the tools that it has for the model.
pub(crate) struct Server {
    pub name: ServerName,
    source: Arc<dyn ToolSource>,
    /// `None` before it was asked.
    listed: Mutex<Option<Vec<ListedTool>>>,
}

#[derive(Clone)]
struct ListedTool {
    /// The name at the server.
    theirs: String,
    tool: Tool,
}

impl Servers {
    pub fn new(sources: Vec<(ServerName, Arc<dyn ToolSource>)>) -> Self {
        let servers = sources.into_iter().map(|(name, source)| Server {
            name,
            source,
            listed: Mutex::default(),
        });
        Self {
            servers: servers.collect(),
            told: Mutex::default(),
        }
    }

    /// The groups of `set_tools`, also of servers that were not started.
    pub fn groups(&self) -> Vec<String> {
        let names = self.servers.iter();
        names
            .map(|server| format!("{GROUP}{}", server.name))
            .collect()
    }

    /// The tool with this name, of a server that has listed it.
    pub fn tool(&self, name: &str) -> Option<Tool> {
        let server = self.named_by(name)?;
        let listed = server.listed();
        let mut tools = listed.iter().flatten().map(|listed| &listed.tool);
        tools.find(|tool| tool.name == name).cloned()
    }

    /// The tools of the group with this name that its server has listed.
    pub fn group(&self, name: &str) -> Vec<Tool> {
        let Some(server) = self.named_by(name).filter(|_| name.starts_with(GROUP)) else {
            return Vec::new();
        };
        let listed = server.listed();
        let tools = listed.iter().flatten();
        tools.map(|listed| listed.tool.clone()).collect()
    }

    /// The server of a group or of a tool, by its name.
    fn named_by(&self, name: &str) -> Option<&Server> {
        let server = match name.strip_prefix(GROUP) {
            Some(server) => server,
            None => name.split_once(BETWEEN)?.0,
        };
        self.servers.iter().find(|known| known.name.0 == server)
    }

    /// Asks the servers of these names for their tools: those that were not asked yet or, `again`, all. Returns the first error.
    pub async fn list(
        &self,
        names: &[String],
        again: bool,
        cancel: &CancellationToken,
        tell: &(dyn Fn(String) + Sync),
    ) -> Result<(), ToolError> {
        let named: BTreeSet<_> = (names.iter())
            .filter_map(|name| Some(&self.named_by(name)?.name))
            .collect();
        let asked = (self.servers.iter())
            .filter(|server| named.contains(&server.name))
            .filter(|server| again || server.listed().is_none());
        let work = join_all(asked.map(Server::list));
        let listed = tokio::select! {
            listed = work => listed,
            () = cancel.cancelled() => return Err(stopped()),
        };
        let mut first = Ok(());
        for listed in listed {
            match listed {
                Ok(notices) => notices
                    .into_iter()
                    .for_each(|line| self.tell_once(line, tell)),
                Err(fault) => first = first.and(Err(fault)),
            }
        }
        first
    }

    /// The origins of all texts that the servers of these names send.
    pub fn origins(&self, names: &[String]) -> Origins {
        let named = names.iter().filter_map(|name| self.named_by(name));
        Origins::union(&named.map(Server::origins).collect::<Vec<_>>())
    }

    /// The server that has listed a tool of this name, and the name at the server.
    pub fn find(&self, name: &str) -> Option<(&Server, String)> {
        let server = self.named_by(name)?;
        let listed = server.listed();
        let mut tools = listed.iter().flatten();
        let found = tools.find(|listed| listed.tool.name == name)?;
        Some((server, found.theirs.clone()))
    }

    /// Calls a tool that [`Servers::find`] has found.
    pub async fn call(
        &self,
        (server, theirs): (&Server, &str),
        args: Value,
        cancel: &CancellationToken,
        tell: &(dyn Fn(String) + Sync),
    ) -> Result<ToolResult, ToolError> {
        let args = match args {
            Value::Null => json!({}),
            args @ Value::Object(_) => args,
            _ => {
                let detail = "arguments must be an object";
                return Err(ToolError::new(ErrorKind::BadArguments, detail));
            }
        };
        let answered = tokio::select! {
            answered = server.source.call(theirs, args, cancel) => answered,
            () = cancel.cancelled() => Err(stopped()),
        };
        if let Err(fault) = &answered
            && fault.kind == ErrorKind::Inactive
        {
            server.drop_tool(theirs);
            self.tell_once(fault.detail.clone(), tell);
        }
        answered.map(ToolResult::of)
    }

    /// Ends all servers.
    pub fn end(&self) {
        for server in &self.servers {
            server.source.end();
        }
    }

    fn tell_once(&self, line: String, tell: &(dyn Fn(String) + Sync)) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(line.clone()) {
            tell(line);
        }
    }
}

impl Server {
    /// The name that the person gave it.
    pub fn name(&self) -> &ServerName {
        &self.name
    }

    /// The origin of all texts that the server sends.
    pub fn origins(&self) -> Origins {
        let name = self.name.to_string();
        Origins::from(Origin::Server { name })
    }

    fn listed(&self) -> MutexGuard<'_, Option<Vec<ListedTool>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes these tools in place of the earlier ones. Of two with one name for the model the first counts.
    fn take(&self, tools: &[ServerTool]) {
        let mut listed: Vec<ListedTool> = Vec::new();
        for theirs in tools {
            let tool = theirs.for_model(&self.name);
            if !listed.iter().any(|other| other.tool.name == tool.name) {
                let theirs = theirs.name.clone();
                listed.push(ListedTool { theirs, tool });
            }
        }
        *self.listed() = Some(listed);
    }

    /// Asks for the tools and returns lines for the person. A server that failed has none until it is asked again.
    async fn list(&self) -> Result<Vec<String>, ToolError> {
        match self.source.tools().await {
            Ok(offered) => {
                self.take(&offered.tools);
                Ok(offered.notices)
            }
            Err(fault) => {
                self.take(&[]);
                Err(fault)
            }
        }
    }

    fn drop_tool(&self, theirs: &str) {
        if let Some(listed) = &mut *self.listed() {
            listed.retain(|listed| listed.theirs != theirs);
        }
    }
}

fn stopped() -> ToolError {
    ToolError::new(ErrorKind::Stopped, "the person stopped the turn")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> ServerName {
        "notes".parse().unwrap()
    }

    #[test]
    fn names_of_servers_are_short_and_plain() {
        for name in ["a", "notes", "a-2", "abcdefghijklmnop"] {
            assert_eq!(name.parse::<ServerName>().unwrap().as_str(), name);
        }
        for name in [
            "",
            "Notes",
            "2a",
            "-a",
            "a_b",
            "a__b",
            "a b",
            "é",
            "abcdefghijklmnopq",
        ] {
            assert!(name.parse::<ServerName>().is_err(), "{name}");
        }
    }

    #[test]
    fn a_tool_of_a_server_is_untrusted_text() {
        let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
        let long = "word\u{202e}\u{1b}[31m\n".repeat(100);
        let tool = ServerTool::new("find it/é", long, schema.clone()).for_model(&server());
        assert_eq!(tool.name, "notes__find_it__");
        assert_eq!(tool.description.chars().count(), 300);
        assert!(!tool.description.contains(['\u{202e}', '\u{1b}', '\n']));
        assert_eq!(tool.schema, schema);
        let tool = ServerTool::new("x".repeat(200), "", schema).for_model(&server());
        assert_eq!(tool.name.len(), 64);
    }

    #[test]
    fn a_hash_is_that_of_name_description_and_schema() {
        let tool = ServerTool::new("a", "b", json!({"type": "object"}));
        let hash = tool.sha256();
        assert_eq!(hash.len(), 64);
        assert_eq!(tool.clone().sha256(), hash);
        let changed = [
            ServerTool::new("x", "b", json!({"type": "object"})),
            ServerTool::new("a", "x", json!({"type": "object"})),
            ServerTool::new("a", "b", json!({"type": "object", "x": 1})),
        ];
        for other in changed {
            assert_ne!(other.sha256(), hash);
        }
    }

    #[test]
    fn of_two_tools_with_one_name_the_first_counts() {
        let server = Server {
            name: server(),
            source: Arc::new(Silent),
            listed: Mutex::default(),
        };
        let tool = |name: &str| ServerTool::new(name, name, json!({"type": "object"}));
        server.take(&[tool("a b"), tool("a_b"), tool("c")]);
        let listed = server.listed();
        let theirs: Vec<_> = listed.iter().flatten().map(|tool| &tool.theirs).collect();
        assert_eq!(theirs, ["a b", "c"]);
    }

    struct Silent;

    #[async_trait]
    impl ToolSource for Silent {
        async fn tools(&self) -> Result<OfferedTools, ToolError> {
            Ok(OfferedTools::default())
        }

        async fn call(
            &self,
            _: &str,
            _: Value,
            _: &CancellationToken,
        ) -> Result<String, ToolError> {
            Ok(String::new())
        }

        fn end(&self) {}
    }
}
