//! One tool call: find the tool, check its arguments, run it, and never fail in another way than by its answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use llm_client::Message;
use pscale_blocks::{Block, BlockName, EditAuthor, Stamp};
use serde_json::{Value, json};

use super::context::{ToolCaller, TurnContext};
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
        let redactor = &self.config.redactor;
        clean(&mut input, &|text| redactor.redact_exact(text));
        let run = AssertUnwindSafe(self.dispatch(name, input, caller)).catch_unwind();
        let mut outcome = match run.await {
            Ok(result) => ToolResult::from(result),
            Err(_) => ToolError::new(
                ErrorKind::Bug,
                format!("{name} stopped with a fault of the program"),
            )
            .hint("nothing else is lost; go another way")
            .into(),
        };
        clean(&mut outcome.content, &|text| redactor.redact(&text));
        outcome
    }

    async fn dispatch(
        &self,
        name: &str,
        input: Value,
        caller: &mut ToolCaller<'_>,
    ) -> Result<ToolResult, ToolError> {
        let Some(tool) = self.tool(name) else {
            let fault =
                ToolError::new(ErrorKind::UnknownTool, format!("there is no tool {name:?}"));
            return Err(match self.near_names(name).as_slice() {
                [] => fault.hint("block_read(\"capabilities\") lists them"),
                near => fault.hint(format!("did you mean {}?", near.join(", "))),
            });
        };
        if let Some((server, theirs)) = self.toolbox.servers.find(name) {
            return Ok(self.on_server(server, &theirs, input, caller).await);
        }
        let args = Args::check(input, &tool.schema)?;
        let stamp = Stamp::new(timestamp(self.clock), caller.provenance.clone());
        let before = self.own_block(&args, caller);
        if let Some(result) = blocks::run(
            name,
            &args,
            &*self.toolbox.store,
            &stamp,
            caller.facts.questioned.as_mut(),
        ) {
            if let Some((name, before)) = before {
                self.tell_of_edit(&name, &before, caller);
            }
            if result
                .as_ref()
                .is_ok_and(|outcome| blocks::changed(name, outcome))
            {
                caller.events.send(Event::BlockChanged {
                    name: args.text("name").to_owned(),
                });
            }
            return result;
        }
        match name {
            "get_source" => self.get_source(),
            "recompile" => self.recompile(args.text("jsx"), caller).await,
            "patch_source" => self.patch_source(&args, caller).await,
            "get_datetime" => Ok(self.datetime()),
            "set_tools" => self.set_tools(&args.texts("names"), caller).await,
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
        let called = (self.toolbox.servers).call((server, theirs), input, caller.cancel, &tell);
        ToolResult::from(called.await).with_from(&server.origins())
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
        Ok(ToolResult::of(json!({
            "text": answer.reply.text(),
            "model": answer.model,
        })))
    }
}

/// Takes keys out of every text, by `hide`.
pub(crate) fn clean(value: &mut Value, hide: &dyn Fn(String) -> String) {
    match value {
        Value::String(text) => *text = hide(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(|item| clean(item, hide)),
        Value::Object(map) => map.values_mut().for_each(|item| clean(item, hide)),
        _ => {}
    }
}
