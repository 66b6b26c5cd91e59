//! The commands on servers: programs whose tools the model of this program may use.

use std::io::{self, BufRead as _, Write as _};

use bin_support::{Exit, Failure, Results, Session, shortened};
use hermitcrab_kernel::toolbox::{ServerName, ServerTool};
use serde::Serialize;

use crate::answer::{Answer, print_answer};
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::servers::{RunningServer, START_LIMIT, ServerEntry, ServersFile};

/// The longest description that is printed, in characters.
const DESCRIPTION: usize = 1_000;
/// The longest name of a tool that is printed, in characters.
const TOOL: usize = 64;
/// The number of tools that an error names.
const NAMED: usize = 12;

#[derive(Debug, clap::Subcommand)]
pub enum McpCommand {
    /// Add a server, and ask which of its tools the model may use
    ///
    /// The server is started to list its tools. A chat starts it when the model chooses one of them.
    #[command(
        after_help = "Examples:\n  hermitcrab mcp add notes --allow block_read -- hermitcrab mcp"
    )]
    Add(McpAddArgs),
    /// List the servers and their allowed tools
    #[command(after_help = "Examples:\n  hermitcrab mcp list")]
    List(McpListArgs),
    /// Show tools of a server as they are now, and allow them
    #[command(after_help = "Examples:\n  hermitcrab mcp allow notes block_list")]
    Allow(McpToolsArgs),
    /// Deny tools of a server
    #[command(after_help = "Examples:\n  hermitcrab mcp deny notes block_list")]
    Deny(McpToolsArgs),
    /// Remove a server
    #[command(after_help = "Examples:\n  hermitcrab mcp remove notes")]
    Remove(McpRemoveArgs),
}

#[derive(Debug, clap::Args)]
pub struct McpAddArgs {
    /// Name of the server: a-z, digits and -, at most 16 characters.
    #[arg(value_name = "NAME")]
    pub name: ServerName,
    /// Variable that the server gets, in addition to PATH, HOME, LANG and TZ. May be repeated.
    #[arg(long = "env", value_name = "VAR")]
    pub env: Vec<String>,
    /// Tool to allow without a question; then no other is asked about. May be repeated.
    #[arg(long = "allow", value_name = "TOOL")]
    pub allow: Vec<String>,
    /// Command that starts the server, with its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct McpListArgs {
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct McpRemoveArgs {
    /// Name of the server.
    #[arg(value_name = "NAME")]
    pub name: ServerName,
}

#[derive(Debug, clap::Args)]
pub struct McpToolsArgs {
    /// Name of the server.
    #[arg(value_name = "NAME")]
    pub name: ServerName,
    /// Names of the tools.
    #[arg(value_name = "TOOL", required = true)]
    pub tools: Vec<String>,
}

/// Runs a command on the servers of a data directory.
pub fn execute(
    command: &McpCommand,
    data: &DataDir,
    session: &mut Session,
) -> Result<Exit, Failure> {
    let path = ServersFile::path(data);
    let mut file = ServersFile::read(&path).map_err(Error::failure)?;
    match command {
        McpCommand::List(args) => {
            let rows = file.servers.into_iter().map(ServerRow::of);
            let servers = rows.collect();
            return print_answer(args.json, Ok(ServerList { servers }), session);
        }
        McpCommand::Add(args) => add(args, &mut file, session)?,
        McpCommand::Remove(args) => {
            let name = file
                .server(&args.name)
                .map_err(Error::failure)?
                .name
                .clone();
            file.servers.retain(|entry| entry.name != name);
            writeln!(session.results, "{name} is removed")?;
        }
        McpCommand::Allow(args) => allow(args, &mut file, session)?,
        McpCommand::Deny(args) => deny(args, &mut file, session)?,
    }
    file.write(&path).map_err(Error::failure)?;
    Ok(Exit::Done)
}

fn add(args: &McpAddArgs, file: &mut ServersFile, session: &mut Session) -> Result<(), Failure> {
    if file.server(&args.name).is_ok() {
        let name = args.name.to_string();
        return Err(Error::ServerExists { name }.failure());
    }
    let entry = ServerEntry::new(&args.name, &args.command, &args.env);
    let mut entry = entry.map_err(Error::failure)?;
    let tools = tools(&entry)?;
    for tool in chosen(&args.allow, &entry, &tools)? {
        entry.allow(tool);
    }
    if args.allow.is_empty() {
        for tool in &tools {
            if confirm(tool, session)? {
                entry.allow(tool);
            }
        }
    }
    let (allowed, all, name) = (entry.tools.len(), tools.len(), &args.name);
    writeln!(session.results, "{name}: {allowed} of {all} tools allowed")?;
    session.status(&if allowed > 0 {
        format!("from the next start on, the model can choose the tools mcp:{name}")
    } else {
        format!("`hermitcrab mcp allow {name} TOOL` allows one later")
    });
    file.servers.push(entry);
    Ok(())
}

fn allow(
    args: &McpToolsArgs,
    file: &mut ServersFile,
    session: &mut Session,
) -> Result<(), Failure> {
    let entry = file.server(&args.name).map_err(Error::failure)?;
    let tools = tools(entry)?;
    for tool in chosen(&args.tools, entry, &tools)? {
        show(tool, session)?;
        entry.allow(tool);
    }
    Ok(())
}

fn deny(args: &McpToolsArgs, file: &mut ServersFile, session: &mut Session) -> Result<(), Failure> {
    let entry = file.server(&args.name).map_err(Error::failure)?;
    for tool in &args.tools {
        if entry.tool(tool).is_none() {
            let has = names(entry.tools.iter().map(|tool| tool.name.as_str()));
            return Err(no_tool(entry, tool, has).failure());
        }
        entry.tools.retain(|other| other.name != *tool);
        writeln!(session.results, "{} is denied", shortened(tool, TOOL))?;
    }
    Ok(())
}

/// Starts a server and returns its tools. The server ends at once.
fn tools(entry: &ServerEntry) -> Result<Vec<ServerTool>, Failure> {
    let listed = bin_support::block_on(async {
        let server = RunningServer::start(&entry.command, &entry.env, START_LIMIT, drop);
        Ok::<_, String>(server.await?.tools.clone())
    })?;
    listed.map_err(|why| {
        let name = entry.name.clone();
        Error::ServerFailed { name, why }.failure()
    })
}

/// Returns the tools with these names.
fn chosen<'a>(
    wanted: &[String],
    entry: &ServerEntry,
    tools: &'a [ServerTool],
) -> Result<Vec<&'a ServerTool>, Failure> {
    let tool = |name: &String| {
        let found = tools.iter().find(|tool| tool.name == *name);
        found.ok_or_else(|| {
            let has = names(tools.iter().map(|tool| tool.name.as_str()));
            no_tool(entry, name, has).failure()
        })
    };
    wanted.iter().map(tool).collect()
}

fn no_tool(entry: &ServerEntry, tool: &str, has: String) -> Error {
    Error::NoServerTool {
        name: entry.name.clone(),
        tool: shortened(tool, TOOL),
        has,
    }
}

/// Returns the first few names as a list.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<_> = names.map(|name| shortened(name, TOOL)).collect();
    if all.is_empty() {
        return "none".to_owned();
    }
    if all.len() > NAMED {
        all.truncate(NAMED);
        all.push("…".to_owned());
    }
    all.join(", ")
}

/// Shows a tool in the words of its server.
fn show(tool: &ServerTool, session: &mut Session) -> io::Result<()> {
    let (name, text) = (
        shortened(&tool.name, TOOL),
        shortened(tool.description.trim(), DESCRIPTION),
    );
    writeln!(session.results, "{name}: {text}")?;
    if let Some(arguments) = tool.schema["properties"].as_object() {
        let all = names(arguments.keys().map(String::as_str));
        writeln!(session.results, "  arguments: {all}")?;
        for (name, rule) in arguments {
            if let Some(text) = rule["description"].as_str() {
                let (name, text) = (shortened(name, TOOL), shortened(text.trim(), DESCRIPTION));
                writeln!(session.results, "    {name}: {text}")?;
            }
        }
    }
    Ok(())
}

/// Asks the person about a tool. All but `y` and `yes` means no, also the end of stdin.
fn confirm(tool: &ServerTool, session: &mut Session) -> io::Result<bool> {
    show(tool, session)?;
    write!(session.results, "  allow it? [y/N] ")?;
    session.results.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    if !line.ends_with('\n') {
        writeln!(session.results)?;
    }
    Ok(matches!(line.trim(), "y" | "yes"))
}

/// The servers of an instance.
#[derive(Serialize)]
struct ServerList {
    servers: Vec<ServerRow>,
}

/// A server in the list.
#[derive(Serialize)]
struct ServerRow {
    name: String,
    command: Vec<String>,
    env: Vec<String>,
    /// The allowed tools.
    tools: Vec<String>,
}

impl ServerRow {
    fn of(entry: ServerEntry) -> Self {
        let tools = entry.tools.into_iter().map(|tool| tool.name);
        Self {
            name: entry.name,
            command: entry.command,
            env: entry.env,
            tools: tools.collect(),
        }
    }
}

impl Answer for ServerList {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        if self.servers.is_empty() {
            return writeln!(out, "no servers; `hermitcrab mcp add` adds one");
        }
        for server in &self.servers {
            let command = shortened(&server.command.join(" "), 200);
            writeln!(out, "{}  {command}", server.name)?;
            writeln!(
                out,
                "  tools: {}",
                names(server.tools.iter().map(String::as_str))
            )?;
            if !server.env.is_empty() {
                writeln!(out, "  variables: {}", server.env.join(", "))?;
            }
        }
        Ok(())
    }
}
