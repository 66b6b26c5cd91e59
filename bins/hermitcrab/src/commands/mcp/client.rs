//! The commands on servers: programs whose tools the model of this program may use.

use std::io::{self, BufRead as _, Write as _};
use std::path::Path;

use bin_support::{Exit, Failure, Interrupt, Results, Session, escape, shortened};
use hermitcrab_kernel::toolbox::{ServerName, ServerTool};
use serde::Serialize;
use serde_json::Value;

use crate::answer::{Answer, print_answer};
use crate::data_dir::DataDir;
use crate::error::Error;
use crate::servers::{RunningServer, START_LIMIT, ServerEntry, ServersFile};

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
    let path = &ServersFile::path(data);
    match command {
        McpCommand::List(args) => {
            let file = ServersFile::read(path).map_err(Error::failure)?;
            let servers = file.servers.into_iter().map(ServerRow::of).collect();
            print_answer(args.json, Ok(ServerList { servers }), session)
        }
        McpCommand::Add(args) => add(args, path, session),
        McpCommand::Remove(args) => {
            let name = known(path, &args.name)?.name;
            let removed = ServersFile::change(path, |file| {
                file.servers.retain(|entry| entry.name != name);
                Ok(())
            });
            removed.map_err(Error::failure)?;
            writeln!(session.results, "{name} is removed")?;
            Ok(Exit::Done)
        }
        McpCommand::Allow(args) => allow(args, path, session),
        McpCommand::Deny(args) => {
            known(path, &args.name)?;
            ServersFile::change(path, |file| deny(args, file)).map_err(Error::failure)?;
            for tool in &args.tools {
                writeln!(session.results, "{} is denied", shortened(tool, TOOL))?;
            }
            Ok(Exit::Done)
        }
    }
}

/// Returns the server with this name as it is now. Nothing is written, so that a wrong name makes no data directory.
fn known(path: &Path, name: &ServerName) -> Result<ServerEntry, Failure> {
    let mut file = ServersFile::read(path).map_err(Error::failure)?;
    let entry = file.server(name).map_err(Error::failure)?;
    Ok(entry.clone())
}

/// Asks first and changes the file in the end: another command may change it meanwhile.
fn add(args: &McpAddArgs, path: &Path, session: &mut Session) -> Result<Exit, Failure> {
    let exists = |file: &mut ServersFile| match file.server(&args.name) {
        Ok(entry) => Err(Error::ServerExists {
            name: entry.name.clone(),
        }),
        Err(_) => Ok(()),
    };
    let mut file = ServersFile::read(path).map_err(Error::failure)?;
    exists(&mut file).map_err(Error::failure)?;
    let entry = ServerEntry::new(&args.name, &args.command, &args.env);
    let mut entry = entry.map_err(Error::failure)?;
    let interrupt = Interrupt::on_signals()?;
    let Some(tools) = tools(&entry, &interrupt)? else {
        return Ok(Exit::Interrupted);
    };
    // The server has ended, and nothing is changed before all answers are there.
    interrupt.end_at_signal();
    for tool in chosen(&args.allow, &entry, &tools)? {
        entry.allow(tool).map_err(Error::failure)?;
    }
    if args.allow.is_empty() {
        for tool in &tools {
            if confirm(tool, session)?
                && let Err(error) = entry.allow(tool)
            {
                session.warn(&error.to_string());
            }
        }
    }
    let (allowed, all, name) = (entry.tools.len(), tools.len(), &args.name);
    let changed = ServersFile::change(path, |file| {
        exists(file)?;
        file.servers.push(entry);
        Ok(())
    });
    changed.map_err(Error::failure)?;
    writeln!(session.results, "{name}: {allowed} of {all} tools allowed")?;
    session.status(&if allowed > 0 {
        format!("from the next start on, the model can choose the tools mcp:{name}")
    } else {
        format!("`hermitcrab mcp allow {name} TOOL` allows one later")
    });
    Ok(Exit::Done)
}

fn allow(args: &McpToolsArgs, path: &Path, session: &mut Session) -> Result<Exit, Failure> {
    let asked = known(path, &args.name)?;
    let Some(tools) = tools(&asked, &Interrupt::on_signals()?)? else {
        return Ok(Exit::Interrupted);
    };
    let chosen = chosen(&args.tools, &asked, &tools)?;
    for tool in &chosen {
        show(tool, session)?;
    }
    let changed = ServersFile::change(path, |file| {
        let entry = file.server(&args.name)?;
        if (&entry.command, &entry.env) != (&asked.command, &asked.env) {
            let name = asked.name.clone();
            return Err(Error::ServerChanged { name });
        }
        chosen.iter().try_for_each(|tool| entry.allow(tool))
    });
    changed.map_err(Error::failure)?;
    Ok(Exit::Done)
}

fn deny(args: &McpToolsArgs, file: &mut ServersFile) -> Result<(), Error> {
    let entry = file.server(&args.name)?;
    for tool in &args.tools {
        if entry.tool(tool).is_none() {
            let has = names(entry.tools.iter().map(|tool| tool.name.as_str()));
            return Err(no_tool(entry, tool, has));
        }
        entry.tools.retain(|other| other.name != *tool);
    }
    Ok(())
}

/// Starts a server and returns its tools, or `None` at a signal. The server ends at once.
fn tools(entry: &ServerEntry, interrupt: &Interrupt) -> Result<Option<Vec<ServerTool>>, Failure> {
    let listed = bin_support::block_on(async {
        let server = RunningServer::start(&entry.command, &entry.env, START_LIMIT, drop);
        tokio::select! {
            started = server => started.map(|server| Some(server.tools.clone())),
            () = interrupt.raised() => Ok(None),
        }
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

/// Shows a tool in all words that the model reads.
fn show(tool: &ServerTool, session: &mut Session) -> io::Result<()> {
    let tool = tool.as_read();
    let (name, text) = (shortened(&tool.name, TOOL), escape(&tool.description));
    writeln!(session.results, "{name}: {text}")?;
    show_arguments(&tool.schema, 2, session)
}

fn show_arguments(rule: &Value, indent: usize, session: &mut Session) -> io::Result<()> {
    let named = rule["properties"].as_object().into_iter().flatten();
    let named = named.map(|(name, rule)| (name.as_str(), rule));
    let items = rule.get("items").map(|rule| ("each item", rule));
    for (name, rule) in named.chain(items) {
        let kind = rule["type"].as_str().unwrap_or("any");
        let values = rule.get("enum").map(|values| format!(" one of {values}"));
        let values = values.unwrap_or_default();
        let text = rule["description"].as_str().unwrap_or_default();
        let line = format!("{name} ({kind}){values}: {text}");
        writeln!(session.results, "{:indent$}{}", "", escape(&line))?;
        show_arguments(rule, indent + 2, session)?;
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
