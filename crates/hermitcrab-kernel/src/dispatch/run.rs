//! One tool call: find the tool, check its arguments, run it, and never fail in another way than by its answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use llm_client::Message;
use pscale_blocks::{Block, BlockName, EditAuthor, Stamp};
use serde_json::{Value, json};

use super::context::{ToolCaller, TurnContext};
use super::origins::{origin_of, with_origin};
use crate::config::timestamp;
use crate::table::{Args, ToolResult};
use crate::toolbox::{Server, blocks};
use crate::{BrainRequest, ErrorKind, Event, EventSink, Face, Tier, ToolError};

impl TurnContext<'_> {
    /// Runs a tool. A panic in it is its failure; keys are taken out of what it answers.
    pub(crate) async fn run_tool(
        &self,
        name: &str,
        mut input: Value,
        caller: &mut ToolCaller<'_>,
    ) -> ToolResult {
        self.files.gates().arguments(&mut input);
        let run = AssertUnwindSafe(self.dispatch(name, input, caller)).catch_unwind();
        let mut outcome = match run.await {
            Ok(result) => result,
            Err(_) => ToolError::new(
                ErrorKind::Bug,
                format!("{name} stopped with a fault of the program"),
            )
            .hint("nothing else is lost; go another way")
            .into(),
        };
        self.files.gates().answer(&mut outcome.content);
        // The next calls of the same reply are taken to follow from this result.
        caller.facts.add_origins(&outcome.from);
        outcome
    }

    async fn dispatch(&self, name: &str, input: Value, caller: &mut ToolCaller<'_>) -> ToolResult {
        let Some(tool) = self.tool(name) else {
            let fault =
                ToolError::new(ErrorKind::UnknownTool, format!("there is no tool {name:?}"));
            let hint = match self.near_names(name).as_slice() {
                [] => "block_read(\"capabilities\") lists them".to_owned(),
                near => format!("did you mean {}?", near.join(", ")),
            };
            return fault.hint(hint).into();
        };
        if let Some((server, theirs)) = self.toolbox.servers.find(name) {
            if caller.facts.unprompted {
                let detail = "a face alone calls no tool of another program";
                let fault = ToolError::new(ErrorKind::Denied, detail);
                return fault.hint("wait for the person").into();
            }
            return self.on_server(server, &theirs, input, caller).await;
        }
        let args = match Args::check(input, &tool.schema) {
            Ok(args) => args,
            Err(fault) => return fault.into(),
        };
        let before = self.own_block(&args, caller);
        let (store, stamp) = (&*self.toolbox.store, self.stamp(caller));
        let review = Some(&self.toolbox.review);
        let questioned = caller.facts.questioned.as_mut();
        if let Some(result) = blocks::run(name, &args, store, &stamp, review, questioned) {
            let result = ToolResult::from(result);
            if let Some((name, before)) = before {
                self.tell_of_edit(&name, &before, caller);
            }
            tell_of_change(name, &args, &result, caller);
            return self.name_origins(name, &args, result, caller);
        }
        let origin = origin_of(name, &args);
        let result = self.run_other(name, args, caller).await;
        with_origin(result, origin, caller)
    }

    /// The stamp of an edit that a caller makes now.
    pub(super) fn stamp(&self, caller: &ToolCaller<'_>) -> Stamp {
        let stamp = Stamp::new(timestamp(self.clock), caller.provenance.clone());
        let stamp = stamp.with_from(caller.facts.from.clone());
        match caller.facts.n {
            Some(n) => stamp.with_message(n),
            None => stamp,
        }
    }

    /// Runs a tool that is not one on blocks.
    async fn run_other(
        &self,
        name: &str,
        args: Args,
        caller: &mut ToolCaller<'_>,
    ) -> Result<ToolResult, ToolError> {
        match name {
            "get_source" => self.get_source(),
            "recompile" => self.recompile(args.text("jsx"), caller).await,
            "patch_source" => {
                // The new shell has most of its text from the running one, and an error quotes it.
                let rev = self.faces.state().shell;
                let from = rev.map(|rev| self.faces.origins_of_source(rev));
                let from = from.unwrap_or_default();
                caller.facts.add_origins(&from);
                let patched = self.patch_source(&args, caller).await;
                Ok(ToolResult::from(patched).with_from(&from))
            }
            "get_datetime" => Ok(self.datetime()),
            "set_tools" => Ok(self.set_tools(&args.texts("names"), caller).await),
            "shell_list" => Ok(self.shell_list()),
            "shell_use" => {
                let rev = args.number("rev").unwrap_or_default();
                self.use_shell(rev, caller).await
            }
            "usage" => Ok(ToolResult::of(self.spending.usage())),
            "conversation_read" => self.conversation_read(&args),
            "call_llm" => self.delegate(&args, caller).await,
            _ => {
                (self
                    .toolbox
                    .run(name, args, &mut caller.facts.read, caller.cancel))
                .await
            }
        }
    }

    /// Calls a tool of another program. Its answer has texts of that program, and so have its errors.
    async fn on_server(
        &self,
        server: &Server,
        theirs: &str,
        input: Value,
        caller: &mut ToolCaller<'_>,
    ) -> ToolResult {
        let tell = |line: String| caller.events.notice(line);
        let before = self.own_blocks();
        let called = (self.toolbox.servers).call((server, theirs), input, caller.cancel, &tell);
        let called = called.await;
        self.hold_outside_edits(&before, server, caller);
        ToolResult::from(called).with_from(&server.origins())
    }

    /// The block that a model is about to touch, if it is one that says who the model is.
    fn own_block(&self, args: &Args, caller: &ToolCaller<'_>) -> Option<(BlockName, Arc<Block>)> {
        let is_model = matches!(caller.provenance, EditAuthor::Model { .. });
        let name = args.text("name");
        if !is_model || !matches!(name, "keystone" | "constitution") {
            return None;
        }
        let name = BlockName::new(name).ok()?;
        let block = self.toolbox.store.load(&name).ok()?.block;
        Some((name, block))
    }

    /// Shows the person an edit of the model to its own blocks. A page shows it by [`Event::BlockChanged`], with a
    /// button that reverts it.
    fn tell_of_edit(&self, name: &BlockName, before: &Block, caller: &ToolCaller<'_>) {
        const SHOWN: usize = 5;
        if self.config.face == Face::Page {
            return;
        }
        let Ok(after) = self.toolbox.store.load(name) else {
            return;
        };
        let changes = before.diff(&after.block);
        if changes.is_empty() {
            return;
        }
        let origin = match &caller.facts.read.last {
            Some(url) => format!(" after reading {url}"),
            None => String::new(),
        };
        caller.events.notice(format!(
            "{} changed {name}{origin}; it holds from the next start on, /undo {name} takes it back",
            caller.by
        ));
        let quoted = |text: &Option<String>| match text {
            Some(text) => format!("\"{text}\""),
            None => "nothing".to_owned(),
        };
        for change in changes.iter().take(SHOWN) {
            caller.events.notice(format!(
                "  {} {}: {} is now {}",
                name,
                change.path,
                quoted(&change.before),
                quoted(&change.after)
            ));
        }
        if changes.len() > SHOWN {
            let more = changes.len() - SHOWN;
            caller.events.notice(format!("  and {more} more places"));
        }
    }

    fn datetime(&self) -> ToolResult {
        let now = timestamp(self.clock);
        let zone = &self.config.zone;
        let local = now.to_zoned(zone.clone());
        ToolResult::of(json!({
            "utc": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "local": local.strftime("%Y-%m-%d %H:%M:%S %:z").to_string(),
            "weekday": local.strftime("%A").to_string(),
            "zone": zone.iana_name().unwrap_or("UTC"),
        }))
    }

    /// Asks a model for small work: no tools, and what it takes counts in the turn.
    async fn delegate(
        &self,
        args: &Args,
        caller: &mut ToolCaller<'_>,
    ) -> Result<ToolResult, ToolError> {
        let tier = match args.optional("model") {
            Some("default") => Tier::Default,
            _ => Tier::Fast,
        };
        let system = args
            .optional("system")
            .filter(|text| !text.trim().is_empty());
        let request = BrainRequest {
            system: system.map(llm_client::Block::text).into_iter().collect(),
            tools: Vec::new(),
            tools_off: false,
            messages: vec![Message::user(args.text("prompt"))],
            tier,
            model: None,
            thinking_off: false,
            max_tokens: args
                .number("max_tokens")
                .map(|tokens| tokens.clamp(1, 8_192) as u32),
            ..BrainRequest::default()
        };
        if caller.facts.unprompted {
            self.spending.count_face_call()?;
        }
        let _place = self.spending.queue(caller.cancel).await?;
        // Its words are for the model, not for the person.
        let answer = self
            .spending
            .ask(
                self.brain,
                request,
                &EventSink::none(),
                caller.events,
                caller.cancel,
            )
            .await?;
        // The request may repeat any text that the model has read, and the answer repeats that.
        let from = &caller.facts.from;
        Ok(ToolResult::of(json!({
            "text": answer.reply.text(),
            "model": answer.model,
        }))
        .with_from(from))
    }
}

/// Shows pages and the person that a block is another one now, or that an edit waits.
fn tell_of_change(tool: &str, args: &Args, result: &ToolResult, caller: &ToolCaller<'_>) {
    let name = args.text("name");
    let text = |key: &str| result.content[key].as_str();
    if let (Some(id), Some(why)) = (text("queued"), text("why")) {
        // The person knows of one that waits already.
        if result.content["waited"] != true {
            caller.events.notice(format!(
                "an edit of {name} waits for you as {id} ({why}): /review, or hermitcrab block review"
            ));
        }
    } else if blocks::changed(tool, result) {
        let name = name.to_owned();
        caller.events.send(Event::BlockChanged { name });
    }
}
