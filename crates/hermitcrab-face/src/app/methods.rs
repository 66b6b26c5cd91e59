//! The props of a shell and the buttons of the bar: the answer to each method of the table.

use std::pin::pin;
use std::sync::Arc;

use hermitcrab_kernel::faces::ShellInfo;
use hermitcrab_kernel::prompt::Receipt;
use hermitcrab_kernel::table::{self, Access, Prop, ToolResult};
use hermitcrab_kernel::{EventSink, Kernel, ToolError, may_block};
use pscale_blocks::{BlockName, EditAuthor, Op, PathError, Stamp, StoreError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{App, log};

/// The caller of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The host page itself: its bar, panels and chat, which no model wrote.
    Bar,
    /// The shell of this revision.
    Shell(u64),
}

impl Caller {
    /// Whether there is such a method for the caller.
    fn has(self, prop: &Prop) -> bool {
        match self {
            Self::Bar => true,
            Self::Shell(_) => prop.who == Access::Face,
        }
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

/// A text of a method's checked arguments; empty without it.
fn text<'a>(input: &'a Value, name: &str) -> &'a str {
    input[name].as_str().unwrap_or_default()
}

fn block_name(input: &Value) -> Result<BlockName, ToolError> {
    Ok(BlockName::new(text(input, "name")).map_err(StoreError::from)?)
}

impl App {
    /// Does what is called. The answer, or `{error, detail, hint}`.
    pub async fn call(self: &Arc<Self>, call: ShellCall) -> Result<Value, Value> {
        let gone = call.gone.clone();
        if gone.is_cancelled() {
            return Err(json!(left()));
        }
        // These take their own frame away, by the face that comes next.
        let may_outlast = call.caller == Caller::Bar
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
        let is_own = caller == Caller::Bar;
        let known = table::prop(&method).filter(|prop| caller.has(prop));
        let Some(prop) = known else {
            let detail = format!("there is no method {method:?}");
            return Err(ToolError::new("unknown_method", detail)
                .hint("the props are listed in block constitution at 0.6.2"));
        };
        let mut input = prop.input(args)?;
        if let Some(tool) = &prop.tool {
            let kernel = self.kernel_for(caller);
            let events = self.sink(None, false);
            let by = self.author(caller);
            let makes_face = matches!(&**tool, "recompile" | "patch_source");
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
        let kernel = if gesture || is_own {
            self.kernel_for(caller)
        } else {
            self.kernel_for(caller).unprompted()
        };
        let mut take = |name: &str| input[name].take();
        let done = match &*prop.name {
            "send" => {
                if self.is_busy() {
                    return Err(busy());
                }
                let by_face = match caller {
                    Caller::Shell(rev) if !(gesture && self.may_be_said()) => Some((rev, cancel)),
                    _ => None,
                };
                let said = text(&input, "text").to_owned();
                self.send(said, &kernel, (page, id), by_face).await?
            }
            "callLLM" => {
                let (messages, options) = (take("messages"), take("options"));
                return Ok((kernel.call_llm(messages, options, deltas(), cancel)).await);
            }
            "callAPI" => {
                return Ok((kernel.call_api(take("params"), deltas(), cancel)).await);
            }
            "callWithToolLoop" => {
                let (params, by) = (take("params"), self.author(caller));
                return Ok((kernel.call_with_tools(params, by, deltas(), cancel)).await);
            }
            "conversation.load" => self.conversation(&take("options")).await?,
            "conversation.save" => return Ok(self.kernel.faces().save_display(take("display"))),
            "conversation.clear" => return Ok(self.kernel.faces().save_display(Value::Null)),
            "state.get" => json!(self.kernel.faces().face_state()),
            "state.set" => return Ok(self.kernel.faces().set_face_state(take("state"))),
            "log" => self.log(&input)?,
            "blockNode" => return self.node(input, cancel).await,
            "blockSave" => self.save_node(&input)?,
            "review" => self.waiting_edits()?,
            "approveEdit" => self.approve_edit(text(&input, "id"))?,
            "dropEdit" => self.drop_edit(text(&input, "id"))?,
            "newWindow" => json!({"begun": self.kernel.begin_window(self.sink(None, false)).await}),
            "shells" => self.shells().await,
            "previousShell" => return self.previous_shell().await,
            "safeFace" => {
                self.show_safe("the person asked for it", Vec::new()).await;
                json!({"safe": true})
            }
            "boot" => {
                if !self.boot().await {
                    return Err(busy());
                }
                json!({"rev": self.kernel.faces().shells().last().map(|shell| shell.rev)})
            }
            // The socket itself answers `stop`.
            other => {
                let detail = format!("the program has no answer to {other:?}");
                return Err(ToolError::new("unknown_method", detail));
            }
        };
        Ok(ToolResult::of(done))
    }

    /// The kernel for a caller. What a face writes and asks for may come from the face.
    fn kernel_for(&self, caller: Caller) -> Kernel {
        match caller {
            Caller::Shell(rev) => self.kernel.of_face(rev),
            Caller::Bar => self.kernel.clone(),
        }
    }

    /// The newest part of the conversation, or the one before the message that `options` names, and the display that a face
    /// saved.
    async fn conversation(&self, options: &Value) -> Result<Value, ToolError> {
        const LIMIT: u64 = 200;
        const MAX_LIMIT: u64 = 1_000;
        let number = |name: &str| match &options[name] {
            Value::Null => Ok(None),
            value => (value.as_u64().map(Some)).ok_or_else(|| {
                let detail = format!("{name} is a whole number, not {value}");
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

    /// A turn, as the shell gets it. What a face says while no person is at it is marked as such, and ends with it. `kernel` is
    /// that of the caller: a face chooses the words also when a person clicks in it.
    async fn send(
        self: &Arc<Self>,
        text: String,
        kernel: &Kernel,
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
        let said = self
            .say(text, kernel, caller, by_face)
            .await
            .ok_or_else(busy)?;
        let report = said.map_err(|error| ToolError::new("model", error.to_string()))?;
        Ok(json!({
            "text": report.text,
            "rounds": report.rounds,
            "tools": report.tools,
            "stopped": report.stopped,
            "usage": report.usage,
        }))
    }

    fn log(&self, input: &Value) -> Result<Value, ToolError> {
        let is_of_all = text(input, "name").is_empty();
        let name = (!is_of_all).then(|| block_name(input)).transpose()?;
        let limit = input["limit"].as_u64();
        let limit = limit.map_or(log::MAX_ROWS, |limit| limit as usize);
        let rows = log::rows(&*self.kernel.store(), name.as_ref(), limit)?;
        Ok(json!(rows))
    }

    /// A node as `blockRead` shows it, with the receipt of a summary and the revision of its block for [`Self::save_node`].
    async fn node(&self, input: Value, cancel: CancellationToken) -> Result<ToolResult, ToolError> {
        let found = self.kernel.store().load(&block_name(&input)?)?;
        let (by, events) = (EditAuthor::Person, EventSink::none());
        let kernel = &self.kernel;
        let mut seen = (kernel.call_tool("block_read", input, by, events, cancel)).await;
        if let (false, Some(node)) = (seen.is_error, seen.content.as_object_mut()) {
            node.insert("rev".to_owned(), found.rev.into());
            let path = node["path"].as_str().and_then(|path| path.parse().ok());
            if let Some(receipt) = path.and_then(|path| Receipt::quick(&found.block, &path)) {
                node.insert("receipt".to_owned(), json!(receipt));
            }
        }
        Ok(seen)
    }

    /// Sets the text of a node, if the block still has the revision that the person saw.
    fn save_node(&self, input: &Value) -> Result<Value, ToolError> {
        let name = block_name(input)?;
        let path = text(input, "path").parse();
        let path =
            path.map_err(|error: PathError| ToolError::new("bad_path", error.to_string()))?;
        let text = text(input, "content").to_owned();
        let stamp = Stamp::new(self.kernel.now(), EditAuthor::Person);
        let (rev, op) = (input["rev"].as_u64(), Op::Write { path, text });
        let edited = (self.kernel.store()).edit(&name, rev, &op, &stamp)?;
        self.broadcast("block_changed", json!({ "name": name }));
        Ok(json!({"name": name, "rev": edited.rev}))
    }

    /// The author of an edit. The author of a shell is responsible for its calls: a click of a person cannot be told from the shell's own action.
    fn author(&self, caller: Caller) -> EditAuthor {
        let Caller::Shell(rev) = caller else {
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
        let current = self.host.settled().await;
        let shells = self.kernel.faces().shells();
        let before = shells.iter().rfind(|shell| {
            shell.mounted != Some(false) && current.is_none_or(|rev| shell.rev < rev)
        });
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
