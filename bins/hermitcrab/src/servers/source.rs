use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bin_support::shortened;
use hermitcrab_face::ProcessGroup;
use hermitcrab_kernel::toolbox::{OfferedTools, ServerName, ServerTool, ToolSource};
use hermitcrab_kernel::{ErrorKind, ToolError};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::file::{AllowedTool, ServerEntry, ServersFile};
use super::running::{CallFailure, RunningServer};

/// The time in which a server starts and lists its tools.
pub const START_LIMIT: Duration = Duration::from_secs(10);
/// The time in which it answers a call.
const CALL_LIMIT: Duration = Duration::from_secs(30);
/// The most starts within an hour: the first one, and three again.
const MAX_STARTS: usize = 4;
const HOUR: Duration = Duration::from_hours(1);

/// The tools of a server that the person allows. The file is read again at each use, so that `mcp deny` counts at once.
pub struct McpSource {
    name: ServerName,
    file: PathBuf,
    server: tokio::sync::Mutex<ServerRuns>,
    processes: Mutex<ServerProcesses>,
}

/// The runs of a server.
#[derive(Default)]
struct ServerRuns {
    running: Option<RunningServer>,
    /// The command and the variables of the last run.
    begun: (Vec<String>, Vec<String>),
    /// The times of the last starts.
    starts: VecDeque<Instant>,
}

/// The processes of the last run, which can be ended also while a call waits.
#[derive(Default)]
struct ServerProcesses {
    last: Option<Arc<ProcessGroup>>,
    has_ended: bool,
}

impl McpSource {
    pub fn new(name: ServerName, file: PathBuf) -> Self {
        Self {
            name,
            file,
            server: tokio::sync::Mutex::default(),
            processes: Mutex::default(),
        }
    }

    /// The name under which the person added the server.
    pub fn name(&self) -> &ServerName {
        &self.name
    }

    fn failed(&self, why: impl std::fmt::Display) -> ToolError {
        ToolError::new(ErrorKind::ServerFailed, format!("{}: {why}", self.name))
    }

    fn off(&self, tool: &str, why: &str) -> ToolError {
        ToolError::new(ErrorKind::Inactive, self.off_line(tool, why))
    }

    fn off_line(&self, tool: &str, why: &str) -> String {
        let (name, tool) = (&self.name, shortened(tool, 64));
        // A server chose the name, and a person may copy the command into a shell.
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "_.-".contains(char);
        let is_word = !tool.is_empty() && !tool.starts_with('-') && tool.chars().all(is_plain);
        let word = if is_word { tool.as_str() } else { "TOOL" };
        format!(
            "{tool} of {name} is off: {why}; `hermitcrab mcp allow {name} {word}` shows and allows it"
        )
    }

    /// Returns the entry of the server, or `None` if the person removed it.
    fn entry(&self) -> Result<Option<ServerEntry>, ToolError> {
        let file = ServersFile::read(&self.file).map_err(|error| self.failed(error))?;
        let mut entries = file.servers.into_iter();
        Ok(entries.find(|entry| entry.name == self.name.as_str()))
    }

    /// Returns the server, started if it does not run.
    async fn open<'a>(
        &self,
        runs: &'a mut ServerRuns,
        entry: &ServerEntry,
    ) -> Result<&'a mut RunningServer, ToolError> {
        let asked = (entry.command.clone(), entry.env.clone());
        if runs.begun != asked {
            // The person added another program under the name: the earlier one ends, and its starts do not count.
            *runs = ServerRuns {
                begun: asked,
                ..ServerRuns::default()
            };
        }
        let running = runs.running.take().filter(RunningServer::is_open);
        let running = match running {
            Some(mut running) => {
                let refreshed = running.refresh(START_LIMIT).await;
                refreshed.map_err(|why| self.failed(why))?;
                running
            }
            None => self.start(runs, entry).await?,
        };
        Ok(runs.running.insert(running))
    }

    async fn start(
        &self,
        runs: &mut ServerRuns,
        entry: &ServerEntry,
    ) -> Result<RunningServer, ToolError> {
        let now = Instant::now();
        let is_old = |start: &Instant| now.duration_since(*start) >= HOUR;
        while runs.starts.front().is_some_and(is_old) {
            runs.starts.pop_front();
        }
        if runs.starts.len() >= MAX_STARTS {
            let again = MAX_STARTS - 1;
            return Err(self
                .failed(format!("it was started again {again} times within an hour"))
                .hint("go another way, and tell the person"));
        }
        runs.starts.push_back(now);
        let keep = |group| self.keep(group);
        let started = RunningServer::start(&entry.command, &entry.env, START_LIMIT, keep).await;
        started.map_err(|why| self.failed(why))
    }

    /// Keeps the processes of a run, or ends them if the program ends.
    fn keep(&self, group: Arc<ProcessGroup>) {
        let mut processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if processes.has_ended {
            group.end();
        }
        processes.last = Some(group);
    }

    /// Returns the tool if it is in the form that the person allows, else the reason why it is off.
    fn checked<'a>(
        allowed: &AllowedTool,
        tools: &'a [ServerTool],
    ) -> Result<&'a ServerTool, &'static str> {
        let mut same = tools.iter().filter(|tool| tool.name == allowed.name);
        match (same.next(), same.next()) {
            (None, _) => Err("the server does not have it any more"),
            (Some(_), Some(_)) => Err("the server has it twice"),
            (Some(tool), None) if tool.sha256() == allowed.sha256 => Ok(tool),
            (Some(_), None) => Err("its description or its arguments changed"),
        }
    }

    async fn run(&self, tool: &str, args: Value) -> Result<String, ToolError> {
        let mut runs = self.server.lock().await;
        let denied = || self.off(tool, "the person does not allow it");
        let Some(entry) = self.entry()? else {
            runs.running = None;
            return Err(denied());
        };
        let allowed = entry.tool(tool).ok_or_else(denied)?;
        let running = self.open(&mut runs, &entry).await?;
        Self::checked(allowed, &running.tools).map_err(|why| self.off(tool, why))?;
        let Value::Object(arguments) = args else {
            return Err(ToolError::new(
                ErrorKind::BadArguments,
                "arguments must be an object",
            ));
        };
        match running.call(tool, arguments, CALL_LIMIT).await {
            Ok(text) => Ok(text),
            Err(CallFailure::Tool(why)) => Err(ToolError::new(ErrorKind::Failed, why)),
            Err(CallFailure::Server(why)) => {
                runs.running = None;
                Err(self.failed(why))
            }
        }
    }
}

#[async_trait]
impl ToolSource for McpSource {
    async fn tools(&self) -> Result<OfferedTools, ToolError> {
        let mut runs = self.server.lock().await;
        let mut offered = OfferedTools::default();
        let Some(entry) = self.entry()?.filter(|entry| !entry.tools.is_empty()) else {
            runs.running = None;
            return Ok(offered);
        };
        let running = self.open(&mut runs, &entry).await?;
        for allowed in &entry.tools {
            match Self::checked(allowed, &running.tools) {
                Ok(tool) => offered.tools.push(tool.clone()),
                Err(why) => offered.notices.push(self.off_line(&allowed.name, why)),
            }
        }
        Ok(offered)
    }

    async fn call(
        &self,
        tool: &str,
        args: Value,
        cancel: &CancellationToken,
    ) -> Result<String, ToolError> {
        tokio::select! {
            answered = self.run(tool, args) => answered,
            () = cancel.cancelled() => Err(ToolError::new(ErrorKind::Stopped, "it was stopped")),
        }
    }

    fn end(&self) {
        let mut processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        processes.has_ended = true;
        if let Some(group) = processes.last.take() {
            group.end();
        }
    }
}

impl Drop for McpSource {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_to_copy_has_plain_names_only() {
        let source = McpSource::new("notes".parse().unwrap(), PathBuf::new());
        for (tool, word) in [
            ("block_read", "block_read"),
            ("x$(reboot)", "TOOL"),
            ("x`y", "TOOL"),
            ("--help", "TOOL"),
            ("", "TOOL"),
        ] {
            let line = source.off_line(tool, "it changed");
            let command = format!("`hermitcrab mcp allow notes {word}`");
            assert!(line.contains(&command), "{line}");
        }
    }
}
