//! The props of a shell and the buttons of the bar: which method asks the kernel for what.

use std::pin::pin;
use std::sync::Arc;

use hermitcrab_kernel::faces::ShellInfo;
use hermitcrab_kernel::table::ToolResult;
use hermitcrab_kernel::{ToolError, may_block};
use pscale_blocks::{BlockName, EditAuthor};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{App, log};

/// The caller of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The host page's own bar.
    Bar,
    /// The shell of this revision; 0 is the program's own.
    Shell(u64),
}

impl Caller {
    /// Whether no model wrote what calls.
    fn is_own(self) -> bool {
        matches!(self, Self::Bar | Self::Shell(0))
    }
}

/// A call, as a page sent it.
#[derive(Debug)]
pub(crate) struct ShellCall {
    pub page: u64,
    pub id: u64,
    pub caller: Caller,
    /// The person is at it.
    pub gesture: bool,
    /// Fires when the frame goes that it came from.
    pub gone: CancellationToken,
    pub method: String,
    pub args: Vec<Value>,
}

/// Methods that are tools: the tool, and its arguments in order.
const TOOLS: &[(&str, &str, &[&str])] = &[
    ("blockRead", "block_read", &["name", "path", "view"]),
    ("blockWrite", "block_write", &["name", "path", "content"]),
    ("blockList", "block_list", &[]),
    ("blockCreate", "block_create", &["name", "pscale0"]),
    (
        "blockAppend",
        "block_append",
        &["name", "content", "summary", "kind"],
    ),
    ("getSource", "get_source", &[]),
    ("recompile", "recompile", &["jsx"]),
    ("patchSource", "patch_source", &["old", "new"]),
    ("setTools", "set_tools", &["names"]),
    ("usage", "usage", &[]),
    ("idb.get", "idb_get", &["key"]),
    ("idb.put", "idb_put", &["key", "value"]),
    ("idb.list", "idb_list", &[]),
    ("idb.delete", "idb_delete", &["key"]),
    ("browser.datetime", "get_datetime", &[]),
    ("fs.list", "fs_list", &["root", "path"]),
    ("fs.read", "fs_read", &["root", "path", "offset"]),
    ("fs.write", "fs_write", &["root", "path", "content"]),
    ("fs.mkdir", "fs_mkdir", &["root", "path"]),
    ("fs.remove", "fs_delete", &["root", "path"]),
];

/// Tools of the bar and of the program's own face only.
const OWN_TOOLS: &[(&str, &str, &[&str])] = &[
    ("useShell", "shell_use", &["rev"]),
    ("undo", "block_undo", &["name", "count"]),
    ("redo", "block_redo", &["name", "count"]),
];

/// The arguments of a method.
struct Args(Vec<Value>);

impl Args {
    fn take(&mut self, index: usize) -> Value {
        self.0.get_mut(index).map(Value::take).unwrap_or_default()
    }

    fn text(&mut self, index: usize, name: &str) -> Result<String, ToolError> {
        match self.take(index) {
            Value::String(text) => Ok(text),
            other => Err(ToolError::new(
                "bad_arguments",
                format!("{name} is a text, not {}", kind(&other)),
            )),
        }
    }

    /// By the names of a tool's arguments; what was left out or null is not there.
    fn named(&mut self, names: &[&str]) -> Result<Value, ToolError> {
        if self.0.len() > names.len() {
            let detail = format!(
                "{} arguments, at most {} are taken",
                self.0.len(),
                names.len()
            );
            return Err(ToolError::new("bad_arguments", detail));
        }
        let given = self.0.iter_mut().map(Value::take);
        let named: Map<String, Value> = names
            .iter()
            .map(|name| (*name).to_owned())
            .zip(given)
            .filter(|(_, value)| !value.is_null())
            .collect();
        Ok(named.into())
    }
}

/// A kind of JSON value in words, such as `a list`.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl App {
    /// Does what is called. The answer, or `{error, detail, hint}`.
    pub async fn call(self: &Arc<Self>, call: ShellCall) -> Result<Value, Value> {
        let gone = call.gone.clone();
        if gone.is_cancelled() {
            return Err(json!(left()));
        }
        // These take their own frame away, by the face that comes next.
        let may_outlast = call.caller.is_own()
            || matches!(call.method.as_str(), "recompile" | "patchSource" | "send");
        let cancel = gone.child_token();
        let stop = self.until_stopped();
        let mut work = pin!(self.dispatch(call, cancel.clone()));
        let done = tokio::select! {
            done = &mut work => done,
            () = stop.cancelled() => {
                cancel.cancel();
                work.await
            }
        };
        let answer = done.map_err(|fault| json!(fault)).and_then(answer);
        let is_cut = matches!(&answer, Err(fault) if fault["error"] == "stopped");
        if gone.is_cancelled() && (is_cut || !may_outlast) {
            return Err(json!(left()));
        }
        answer
    }

    async fn dispatch(
        self: &Arc<Self>,
        call: ShellCall,
        cancel: CancellationToken,
    ) -> Result<ToolResult, ToolError> {
        let ShellCall {
            page,
            id,
            caller,
            gesture,
            method,
            args,
            ..
        } = call;
        let mut args = Args(args);
        let is_own = caller.is_own();
        let own_tools = if is_own { OWN_TOOLS } else { &[] };
        let mut tools = TOOLS.iter().chain(own_tools);
        if let Some((_, tool, names)) = tools.find(|(name, ..)| *name == method) {
            let input = args.named(names)?;
            let kernel = &self.kernel;
            let events = self.sink(None, false);
            let by = self.author(caller);
            let makes_face = matches!(*tool, "recompile" | "patch_source");
            if makes_face && !is_own && !self.may_make_face() {
                let fault = ToolError::new("too_often", "faces have made too many faces");
                return Err(fault.hint("ask the person, or wait five minutes"));
            }
            let outcome = (kernel.call_tool(tool, input, by, events, cancel)).await;
            if makes_face && !is_own && !outcome.is_error {
                let text = "The face wrote a new one of itself. Previous face goes back.";
                self.broadcast("notice", json!({ "text": text }));
            }
            return Ok(outcome);
        }
        let deltas = || self.sink(Some((page, id)), false);
        let kernel = if gesture || caller == Caller::Bar {
            self.kernel.clone()
        } else {
            self.kernel.unprompted()
        };
        let done = match method.as_str() {
            "send" => {
                let text = args.text(0, "text")?;
                if self.is_busy() {
                    return Err(busy());
                }
                let by_face = match caller {
                    Caller::Shell(rev) if !(gesture && self.may_be_said()) => Some((rev, cancel)),
                    _ => None,
                };
                self.send(text, (page, id), by_face).await?
            }
            "callLLM" => {
                let (messages, opts) = (args.take(0), args.take(1));
                return Ok((kernel.call_llm(messages, opts, deltas(), cancel)).await);
            }
            "callAPI" => {
                return Ok((kernel.call_api(args.take(0), deltas(), cancel)).await);
            }
            "callWithToolLoop" => {
                let (params, by) = (args.take(0), self.author(caller));
                return Ok((kernel.call_with_tools(params, by, deltas(), cancel)).await);
            }
            "conversation.load" => self.conversation(&args.take(0)).await?,
            "conversation.save" => return Ok(self.kernel.faces().save_display(args.take(0))),
            "conversation.clear" => return Ok(self.kernel.faces().save_display(Value::Null)),
            "state.get" => json!(self.kernel.faces().face_state()),
            "state.set" => return Ok(self.kernel.faces().set_face_state(args.take(0))),
            "log" if is_own => self.log(&args.take(0), &args.take(1))?,
            "shells" if is_own => self.shells().await,
            "previousShell" if is_own => return self.previous_shell().await,
            "safeFace" if is_own => {
                self.show_safe("the person asked for it", Vec::new()).await;
                json!({"rev": 0})
            }
            "boot" if is_own => {
                if !self.boot().await {
                    return Err(busy());
                }
                json!({"rev": self.kernel.faces().shells().last().map(|shell| shell.rev)})
            }
            _ => {
                let detail = format!("there is no method {method:?}");
                return Err(ToolError::new("unknown_method", detail)
                    .hint("the props are listed in block constitution at 0.6.2"));
            }
        };
        Ok(ToolResult::of(done))
    }

    /// The newest part of the conversation, or the one before the message that `options` names, and the display that a face
    /// saved.
    async fn conversation(&self, options: &Value) -> Result<Value, ToolError> {
        const LIMIT: u64 = 200;
        const MAX_LIMIT: u64 = 1_000;
        if !matches!(options, Value::Object(_) | Value::Null) {
            let detail = format!("the options are an object, not {}", kind(options));
            return Err(ToolError::new("bad_arguments", detail));
        }
        let number = |name: &str| match &options[name] {
            Value::Null => Ok(None),
            value => (value.as_u64().map(Some)).ok_or_else(|| {
                let detail = format!("{name} is a whole number, not {}", kind(value));
                ToolError::new("bad_arguments", detail)
            }),
        };
        let before = number("before")?;
        let limit = number("limit")?.unwrap_or(LIMIT).clamp(1, MAX_LIMIT) as usize;
        let page = may_block(async { self.kernel.said_before(before, limit) }).await;
        let page = page.map_err(|error| ToolError::new("io", error.to_string()))?;
        let mut answer = json!(page);
        answer["saved"] = json!(self.kernel.faces().saved_display());
        Ok(answer)
    }

    /// A turn, as the shell gets it. What a face says while no person is at it is marked as such, and ends with it.
    async fn send(
        self: &Arc<Self>,
        text: String,
        caller: (u64, u64),
        by_face: Option<(u64, CancellationToken)>,
    ) -> Result<Value, ToolError> {
        if by_face.is_some() {
            if !self.may_say() {
                let fault =
                    ToolError::new("too_often", "faces have said too much without the person");
                return Err(fault.hint("wait for the person, or five minutes"));
            }
            self.kernel.count_unprompted()?;
        }
        let said = self.say(text, caller, by_face).await.ok_or_else(busy)?;
        let report = said.map_err(|error| ToolError::new("model", error.to_string()))?;
        Ok(json!({
            "text": report.text,
            "rounds": report.rounds,
            "tools": report.tools,
            "stopped": report.stopped,
            "usage": report.usage,
        }))
    }

    fn log(&self, name: &Value, limit: &Value) -> Result<Value, ToolError> {
        let name = name.as_str().filter(|name| !name.is_empty());
        let name = name.map(BlockName::new).transpose();
        let name = name.map_err(|error| ToolError::new("bad_name", error.to_string()))?;
        let limit = limit.as_u64().map_or(log::MAX_ROWS, |limit| limit as usize);
        let rows = log::rows(&*self.kernel.store(), name.as_ref(), limit)?;
        Ok(json!(rows))
    }

    /// The author of an edit. The author of a shell is responsible for its calls: a click of a person cannot be told from the shell's own action.
    fn author(&self, caller: Caller) -> EditAuthor {
        let Caller::Shell(rev @ 1..) = caller else {
            return EditAuthor::Person;
        };
        let shells = self.kernel.faces().shells();
        let shell = shells.iter().find(|shell| shell.rev == rev);
        // A shell that a shell wrote is by the author of that one.
        let by = shell.and_then(|shell| shell.by.split(" (face ").next());
        EditAuthor::Model {
            id: format!("{} (face {rev})", by.unwrap_or("unknown")),
            web: None,
        }
    }

    /// The kept shells; the one that the pages show is running.
    async fn shells(&self) -> Value {
        let shown = self.host.settled().await;
        let row = |shell: &ShellInfo| {
            let mut row = json!(shell);
            row["running"] = (Some(shell.rev) == shown).into();
            row
        };
        self.kernel.faces().shells().iter().map(row).collect()
    }

    /// The sound shell before the one that is shown.
    async fn previous_shell(&self) -> Result<ToolResult, ToolError> {
        let current = self.host.settled().await.unwrap_or_default();
        let shells = self.kernel.faces().shells();
        let before = shells
            .iter()
            .rfind(|shell| shell.mounted != Some(false) && (current == 0 || shell.rev < current));
        let Some(before) = before else {
            return Err(
                ToolError::new("not_found", "there is no face before this one")
                    .hint("the safe face is always there"),
            );
        };
        Ok(self.kernel.use_shell(before.rev).await)
    }
}

fn answer(outcome: ToolResult) -> Result<Value, Value> {
    if outcome.is_error {
        Err(outcome.content)
    } else {
        Ok(outcome.content)
    }
}

fn left() -> ToolError {
    ToolError::new("gone", "the face that asked has gone")
}

fn busy() -> ToolError {
    ToolError::new("busy", "a turn is under way").hint("wait for its end, or stop it")
}
