//! The tools of the model on itself: its face, its tools, the conversation.

use llm_client::{BlockKind, Raw, ToolSpec};
use pscale_blocks::store::Origins;
use pscale_blocks::{O200k, TokenCounter as _};
use serde_json::json;

use super::context::{ToolCaller, TurnContext};
use crate::conversation;
use crate::faces::{CompiledShell, Mounted, NO_COMPILER, Shell, ShellError};
use crate::table::{self, Args, Tool, ToolResult};
use crate::{ErrorKind, Event, ToolError};

/// The most tools that are sent.
pub(crate) const MOST_TOOLS: usize = 24;
/// Without these a model could not get its other tools back.
const KEPT_TOOLS: [&str; 3] = ["block_read", "block_list", "set_tools"];
/// The number of searches of the provider in one request.
const SEARCHES: u32 = 5;
/// The number of shells that may become the face in one turn.
const MOUNTS: u32 = 2;

/// The most characters of the names in an error about too many tools.
const MOST_NAMED: usize = 2_000;

impl TurnContext<'_> {
    pub(crate) fn get_source(&self) -> Result<ToolResult, ToolError> {
        let (rev, source) = self.running_source()?;
        Ok(ToolResult::of(source).with_from(&self.faces.origins_of_source(rev)))
    }

    /// The revision and the JSX of the running shell.
    fn running_source(&self) -> Result<(u64, String), ToolError> {
        let rev = self.faces.state().shell;
        let none = || {
            ToolError::new(ErrorKind::NoShell, "no shell is running")
                .hint("write one with recompile")
        };
        let rev = rev.ok_or_else(none)?;
        let source = self.faces.read_source(rev).map_err(ToolError::from_io)?;
        source.map(|source| (rev, source)).ok_or_else(none)
    }

    pub(crate) async fn patch_source(
        &self,
        args: &Args,
        caller: &mut ToolCaller<'_>,
    ) -> Result<ToolResult, ToolError> {
        let (old, new) = (args.text("old"), args.text("new"));
        let (_, source) = self.running_source()?;
        // Overlapping ones, too.
        let count = (source.char_indices())
            .filter(|(at, _)| !old.is_empty() && source[*at..].starts_with(old))
            .count();
        if count != 1 {
            let near = near_line(&source, old);
            let fault = ToolError::new(
                ErrorKind::NotOnce,
                format!("old occurs {count} times in the shell; it must occur exactly once"),
            );
            return Err(match near {
                Some((line, text)) if count == 0 => {
                    fault.hint(format!("the nearest line is {line}: {text}"))
                }
                _ => fault.hint("give more of the text around it"),
            });
        }
        self.recompile(&source.replacen(old, new, 1), caller).await
    }

    /// Compiles a shell and shows it.
    pub(crate) async fn recompile(
        &self,
        jsx: &str,
        caller: &mut ToolCaller<'_>,
    ) -> Result<ToolResult, ToolError> {
        if !caller.boot && caller.facts.mounted >= MOUNTS {
            return Err(ToolError::new(
                ErrorKind::FaceIsNew,
                "the face is already new; answer the person",
            ));
        }
        // Its source is kept.
        let jsx = self.files.gates().written(jsx);
        match self.compile(&jsx)? {
            // It is not kept either.
            Ok(_) if caller.cancel.is_cancelled() => Err(stopped()),
            Ok(compiled) => self.mount(compiled, caller).await,
            Err(errors) => Ok(compile_failed(errors, caller)),
        }
    }

    fn compile(&self, jsx: &str) -> Result<Result<CompiledShell, Vec<ShellError>>, ToolError> {
        let compiled = self.faces.compile(jsx);
        compiled.ok_or_else(|| ToolError::new(ErrorKind::Unavailable, NO_COMPILER))
    }

    async fn mount(
        &self,
        compiled: CompiledShell,
        caller: &mut ToolCaller<'_>,
    ) -> Result<ToolResult, ToolError> {
        let by = caller.by.clone();
        let from = caller.facts.from.clone();
        let rev = (self.faces.add(&compiled, &by, from)).map_err(ToolError::from_io)?;
        let mut answer = json!({
            "rev": rev,
            "component": compiled.component,
            "warnings": compiled.warnings,
        });
        if !compiled.dropped_imports.is_empty() {
            answer["dropped_imports"] = json!(compiled.dropped_imports);
        }
        let mounted = self
            .faces
            .show(Shell { rev, compiled }, caller.cancel)
            .await
            .map_err(ToolError::from_io)?;
        let mut outcome = match mounted {
            Mounted::Failed(error) => return self.mount_failed(rev, error, true, caller),
            Mounted::Cancelled => {
                let dropped = self.faces.forget(rev);
                dropped.map_err(ToolError::from_io)?;
                return Err(stopped());
            }
            Mounted::Yes => {
                answer["mounted"] = true.into();
                ToolResult::of(answer)
            }
            Mounted::NoPage => {
                answer["mounted"] = json!(null);
                answer["note"] = "compiled and stored; no page is open to show it".into();
                ToolResult::of(answer)
            }
        };
        outcome.pending_face = mounted != Mounted::Yes;
        caller.facts.mounted += 1;
        caller.events.send(Event::ShellShown { rev });
        Ok(outcome)
    }

    fn mount_failed(
        &self,
        rev: u64,
        error: ShellError,
        is_new: bool,
        caller: &mut ToolCaller<'_>,
    ) -> Result<ToolResult, ToolError> {
        // A kept one that needs React can be shown again when React is here.
        if is_new || !error.is_need() {
            (self.faces.mark(rev, Some(false))).map_err(ToolError::from_io)?;
        }
        caller.events.send(Event::ShellFailed {
            rev: Some(rev),
            message: error.message.clone(),
        });
        let mut outcome = ToolResult::from(
            ToolError::new(error.kind.as_str(), error.message.clone())
                .hint("the face before stays; fix the fault and recompile"),
        );
        outcome.content["line"] = json!(error.line);
        outcome.content["column"] = json!(error.column);
        outcome.content["rev"] = rev.into();
        caller.facts.fail(vec![error]);
        // The shell chose the words of its error, from whatever it had read.
        Ok(outcome.with_from(&self.faces.origins_of_acts(rev)))
    }

    pub(crate) fn shell_list(&self) -> ToolResult {
        let running = self.faces.state().shell;
        let rows: Vec<_> = (self.faces.shells().iter())
            .map(|shell| {
                let mut row = json!(shell);
                row["running"] = (Some(shell.rev) == running).into();
                row
            })
            .collect();
        // A component may have any name.
        let from = self.faces.shells();
        let from = Origins::union(from.iter().map(|shell| &shell.from));
        ToolResult::of(rows).with_from(&from)
    }

    /// Goes back to a shell that was kept: it is compiled and shown again, under its own revision.
    pub(crate) async fn use_shell(
        &self,
        rev: u64,
        caller: &mut ToolCaller<'_>,
    ) -> Result<ToolResult, ToolError> {
        let source = self.faces.read_source(rev).map_err(ToolError::from_io)?;
        let Some(source) = source else {
            let kept: Vec<_> = (self.faces.shells().iter())
                .map(|shell| shell.rev.to_string())
                .collect();
            return Err(
                ToolError::new(ErrorKind::NotFound, format!("there is no shell {rev}"))
                    .hint(format!("kept are {}", kept.join(", "))),
            );
        };
        let compiled = match self.compile(&source)? {
            Ok(compiled) => compiled,
            // They quote the source.
            Err(errors) => {
                let from = self.faces.origins_of_source(rev);
                return Ok(compile_failed(errors, caller).with_from(&from));
            }
        };
        let component = compiled.component.clone();
        let mounted = match self
            .faces
            .show(Shell { rev, compiled }, caller.cancel)
            .await
            .map_err(ToolError::from_io)?
        {
            Mounted::Failed(error) => return self.mount_failed(rev, error, false, caller),
            Mounted::Cancelled => return Err(stopped()),
            Mounted::Yes => Some(true),
            Mounted::NoPage => None,
        };
        caller.events.send(Event::ShellShown { rev });
        let answer = json!({"rev": rev, "component": component, "mounted": mounted});
        // A component may have any name.
        Ok(ToolResult::of(answer).with_from(&self.faces.origins_of_source(rev)))
    }

    /// Chooses the tools of the next calls. The answer names tools of servers, and a reason may have their words.
    pub(crate) async fn set_tools(&self, names: &[String], caller: &ToolCaller<'_>) -> ToolResult {
        let listed = self.list_servers(names, true, caller.events, caller.cancel);
        let chosen = match listed.await {
            Ok(()) => self.choose_tools(names),
            Err(fault) => Err(fault),
        };
        ToolResult::from(chosen).with_from(&self.toolbox.servers.origins(names))
    }

    fn choose_tools(&self, names: &[String]) -> Result<ToolResult, ToolError> {
        let mut chosen: Vec<String> = Vec::new();
        let mut unknown = Vec::new();
        for name in names {
            let found: Vec<String> = match self.tool(name) {
                Some(tool) => vec![tool.name.clone()],
                None => (self.tool_group(name).iter())
                    .map(|tool| tool.name.clone())
                    .collect(),
            };
            if found.is_empty() {
                unknown.push(name.as_str());
            }
            chosen.extend(found);
        }
        let groups = self.toolbox.servers.groups();
        if let Some(name) = unknown
            .iter()
            .find(|name| groups.iter().any(|it| it == *name))
        {
            let detail = format!("the person allows no tool of {name}; nothing was changed");
            return Err(ToolError::new(ErrorKind::Inactive, detail));
        }
        if !unknown.is_empty() {
            let near: Vec<_> = (unknown.iter())
                .flat_map(|name| self.near_names(name))
                .collect();
            let fault = ToolError::new(
                ErrorKind::UnknownTool,
                format!(
                    "{} is neither a tool nor a group; nothing was changed",
                    unknown.join(", ")
                ),
            );
            return Err(if near.is_empty() {
                fault.hint("block_read(\"capabilities\") lists them")
            } else {
                fault.hint(format!("did you mean {}?", near.join(", ")))
            });
        }
        let mut tools: Vec<String> = Vec::new();
        for name in KEPT_TOOLS.into_iter().map(str::to_owned).chain(chosen) {
            if !tools.contains(&name) {
                tools.push(name);
            }
        }
        if tools.len() > MOST_TOOLS {
            return Err(ToolError::new(
                ErrorKind::TooMany,
                format!(
                    "these are {} tools with the three that always stay, more than {MOST_TOOLS}; nothing was changed",
                    tools.len()
                ),
            )
            .hint(format!(
                "choose single tools instead of groups; these are {}",
                tools.join(", ").chars().take(MOST_NAMED).collect::<String>()
            )));
        }
        let (theirs, most) = (self.server_tokens(&tools), self.most_server_tokens());
        if theirs > most {
            let detail = format!(
                "the tools of other programs among these have {theirs} tokens, more than {most}, a quarter of budgets.input_tokens; nothing was changed"
            );
            let fault = ToolError::new(ErrorKind::TooLarge, detail);
            return Err(fault.hint("choose fewer of them"));
        }
        self.faces
            .change_state(|state| state.tools = Some(tools.clone()))
            .map_err(ToolError::from_io)?;
        let tokens = O200k.count(&table::as_sent(&self.active_tools()));
        Ok(ToolResult::of(json!({"tools": tools, "tokens": tokens})))
    }

    /// The tools of a conversation's next call, by name.
    pub(crate) fn active_names(&self) -> Vec<String> {
        let chosen = self.faces.state().tools.clone();
        let base = || {
            table::tool_group("base")
                .iter()
                .map(|tool| tool.name.clone())
        };
        let Some(mut names) = chosen else {
            return base().collect();
        };
        // A state from a later version may name tools that this one does not have.
        names.retain(|name| self.tool(name).is_some());
        if self.is_overlong(&names) {
            names.retain(|name| self.toolbox.servers.find(name).is_none());
        }
        names
    }

    /// Whether the tools of servers among these have more tokens than are sent. A server may have longer texts since they were chosen.
    pub(crate) fn is_overlong(&self, names: &[String]) -> bool {
        self.server_tokens(names) > self.most_server_tokens()
    }

    fn most_server_tokens(&self) -> usize {
        usize::try_from(self.config.settings.budgets.input_tokens / 4).unwrap_or(usize::MAX)
    }

    fn server_tokens(&self, names: &[String]) -> usize {
        let theirs = names
            .iter()
            .filter(|name| self.toolbox.servers.find(name).is_some());
        let specs: Vec<_> = theirs
            .filter_map(|name| self.tool(name))
            .map(|tool| self.sent(&tool))
            .collect();
        if specs.is_empty() {
            return 0;
        }
        O200k.count(&table::as_sent(&specs))
    }

    pub(crate) fn active_tools(&self) -> Vec<ToolSpec> {
        let names = self.active_names();
        let found = names.iter().filter_map(|name| self.tool(name));
        found.map(|tool| self.sent(&tool)).collect()
    }

    /// A tool as it is sent: a search of the provider's own takes the place of ours.
    pub(crate) fn sent(&self, tool: &Tool) -> ToolSpec {
        let search = self.config.settings.web.search_tool.as_deref();
        match search.filter(|_| tool.name == "web_search" && self.searches_itself()) {
            Some(kind) => {
                let spec = json!({"type": kind, "name": "web_search", "max_uses": SEARCHES});
                Raw::of(&spec).map_or_else(|_| tool.spec(), ToolSpec::Server)
            }
            None if tool.name == "set_tools" => self.with_groups(tool),
            None => tool.spec(),
        }
    }

    /// `set_tools`, with the groups of other programs.
    fn with_groups(&self, tool: &Tool) -> ToolSpec {
        let groups = self.toolbox.servers.groups();
        let mut tool = tool.clone();
        if !groups.is_empty() {
            tool.description = format!(
                "{} Other programs: {}.",
                tool.description,
                groups.join(", ")
            );
        }
        tool.spec()
    }

    /// Whether the provider has such tools.
    fn searches_itself(&self) -> bool {
        self.brain.info().provider == "anthropic"
    }

    pub(crate) fn conversation_read(&self, args: &Args) -> Result<ToolResult, ToolError> {
        const MOST: u64 = 100;
        let from = args.number("from").unwrap_or(1).max(1);
        let limit = args.number("limit").unwrap_or(20).min(MOST);
        // Results repeat texts of the calls before them, so those of the first message are read, too.
        let first = from.saturating_sub(1).max(1);
        let read = conversation::range(self.files, first, (limit + (from - first)) as usize);
        let part = read.map_err(ToolError::from_io)?;
        let before = part.messages.partition_point(|message| message.n < from);
        let (before, messages) = part.messages.split_at(before);
        let messages = &messages[..messages.len().min(limit as usize)];
        let rows: Vec<_> = messages
            .iter()
            .map(|message| {
                let said = &message.said;
                let parts: Vec<_> = said.message.content.iter().filter_map(plain).collect();
                json!({"n": message.n, "by": said.by, "role": said.message.role, "text": parts.join("\n")})
            })
            .collect();
        let mut answer = json!({"messages": rows, "of": part.last});
        if !part.unread.is_empty() {
            answer["unread"] = json!(part.unread);
        }
        let is_result =
            |block: &llm_client::Block| matches!(block.kind, BlockKind::ToolResult { .. });
        let of_calls = match (messages.first(), before.last()) {
            (Some(first), calls) if first.said.message.content.iter().any(is_result) => {
                let calls = calls.filter(|calls| calls.n + 1 == first.n);
                calls.map_or_else(Origins::unknown, |calls| calls.said.from.clone())
            }
            _ => Origins::default(),
        };
        let shown = messages.iter().map(|message| &message.said.from);
        let from = Origins::union(shown.chain([&of_calls]));
        Ok(ToolResult::of(answer).with_from(&from))
    }
}

fn stopped() -> ToolError {
    ToolError::new(ErrorKind::Stopped, "it was stopped")
}

fn compile_failed(errors: Vec<ShellError>, caller: &mut ToolCaller<'_>) -> ToolResult {
    let first = errors.first().map_or_else(String::new, |error| {
        let place = match (error.line, error.column) {
            (Some(line), Some(column)) => format!("line {line}, column {column}: "),
            (Some(line), None) => format!("line {line}: "),
            _ => String::new(),
        };
        format!("{place}{}", error.message)
    });
    caller.events.send(Event::ShellFailed {
        rev: None,
        message: first.clone(),
    });
    let mut outcome = ToolResult::from(
        ToolError::new(ErrorKind::Compile, first)
            .hint("the face before stays; fix the fault and recompile"),
    );
    outcome.content["errors"] = json!(errors);
    caller.facts.fail(errors);
    outcome
}

/// A part of a message as plain text; `None` if a person does not read it.
pub(crate) fn plain(piece: &llm_client::Block) -> Option<String> {
    match &piece.kind {
        BlockKind::Text { text } => Some(text.clone()),
        BlockKind::ToolUse { name, .. } => Some(format!("[calls {name}]")),
        BlockKind::ToolResult {
            content, is_error, ..
        } => {
            let text: String = content
                .iter()
                .filter_map(llm_client::Block::as_text)
                .collect();
            let short: String = text.chars().take(200).collect();
            let failed = if *is_error { " (failed)" } else { "" };
            Some(format!("[result{failed}: {short}]"))
        }
        _ => None,
    }
}

/// The line of `source` that has most words of `wanted`'s first line.
fn near_line<'a>(source: &'a str, wanted: &str) -> Option<(usize, &'a str)> {
    let words: Vec<_> = wanted
        .lines()
        .find(|line| !line.trim().is_empty())?
        .split_whitespace()
        .collect();
    let score = |line: &str| words.iter().filter(|word| line.contains(**word)).count();
    let lines = source.lines().enumerate();
    let (index, line) = lines.max_by_key(|(index, line)| (score(line), usize::MAX - index))?;
    (score(line) > 0).then(|| (index + 1, line.trim()))
}
