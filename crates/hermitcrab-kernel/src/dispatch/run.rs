//! One tool call: find the tool, check its arguments, run it, and never fail in another way than by its answer.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use llm_client::Message;
use pscale_blocks::{Block, BlockName, EditAuthor, Stamp};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::kernel::Inner;
use crate::table::Args;
use crate::toolbox::blocks;
use crate::{
    BrainRequest, Event, EventSink, Face, Fault, Page, ShellError, Tier, ToolOutcome, near_names,
    tool,
};

/// Who calls a tool, and in what.
pub(crate) struct Caller<'a> {
    /// Who, in a word: a model's id, `person`.
    pub by: String,
    /// Who, for the log of blocks.
    pub provenance: EditAuthor,
    /// In a boot.
    pub boot: bool,
    /// What the turn has seen so far.
    pub facts: &'a mut Facts,
    pub events: &'a EventSink,
    pub cancel: &'a CancellationToken,
}

/// What a turn has seen so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// No person is at the face that asks.
    pub unprompted: bool,
    /// The last page that was read.
    pub web: Option<String>,
    /// Shells that became the face.
    pub mounted: u32,
    /// Shells that did not.
    pub failed: u32,
    /// What was wrong with the last of these.
    pub errors: Vec<ShellError>,
    /// The pages that were fetched, by the addresses that were asked for.
    pub pages: BTreeMap<String, Arc<Page>>,
    /// How often each call was made, by name and arguments.
    calls: BTreeMap<String, u32>,
    /// The tools that were called, in order.
    pub used: Vec<String>,
}

impl Facts {
    pub fn fail(&mut self, errors: Vec<ShellError>) {
        self.failed += 1;
        self.errors = errors;
    }

    /// Notes a call; answers how often this very one was made.
    pub fn called(&mut self, name: &str, input: &Value) -> u32 {
        self.used.push(name.to_owned());
        let times = self.calls.entry(format!("{name} {input}")).or_default();
        *times += 1;
        *times
    }
}

impl Inner {
    /// Runs a tool. A panic in it is its failure; keys are taken out of what it answers.
    pub(crate) async fn run_tool(
        &self,
        name: &str,
        mut input: Value,
        caller: &mut Caller<'_>,
    ) -> ToolOutcome {
        let redactor = &self.config.redactor;
        clean(&mut input, &|text| redactor.clean_exact(text));
        let run = AssertUnwindSafe(self.dispatch(name, input, caller)).catch_unwind();
        let mut outcome = match run.await {
            Ok(result) => ToolOutcome::from(result),
            Err(_) => Fault::new("bug", format!("{name} stopped with a fault of the program"))
                .hint("nothing else is lost; go another way")
                .into(),
        };
        clean(&mut outcome.content, &|text| redactor.clean(&text));
        outcome
    }

    async fn dispatch(
        &self,
        name: &str,
        input: Value,
        caller: &mut Caller<'_>,
    ) -> Result<ToolOutcome, Fault> {
        let Some(tool) = tool(name) else {
            let fault = Fault::new("unknown_tool", format!("there is no tool {name:?}"));
            return Err(match near_names(name).as_slice() {
                [] => fault.hint("block_read(\"capabilities\") lists them"),
                near => fault.hint(format!("did you mean {}?", near.join(", "))),
            });
        };
        let args = Args::check(input, &tool.schema)?;
        let stamp = Stamp {
            at: self.clock.now(),
            by: caller.provenance.clone(),
            note: None,
        };
        let before = self.own_block(&args, caller);
        if let Some(result) = blocks::run(name, &args, &*self.store, &stamp) {
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
            "set_tools" => self.set_tools(&args.texts("names")),
            "shell_list" => Ok(self.shell_list()),
            "shell_use" => {
                let rev = args.number("rev").unwrap_or_default();
                self.use_shell(rev, caller).await
            }
            "usage" => Ok(ToolOutcome::of(self.usage())),
            "conversation_read" => self.conversation_read(&args),
            "call_llm" => self.delegate(&args, caller).await,
            _ => self.outside(tool, args, caller).await,
        }
    }

    /// The block that a model is about to touch, if it is one that says who the model is.
    fn own_block(&self, args: &Args, caller: &Caller<'_>) -> Option<(BlockName, Block)> {
        let is_model = matches!(caller.provenance, EditAuthor::Model { .. });
        let name = args.text("name");
        if !is_model || !matches!(name, "keystone" | "constitution") {
            return None;
        }
        let name = BlockName::new(name).ok()?;
        let block = self.store.load(&name).ok()?.block;
        Some((name, block))
    }

    /// What the model changes of itself, the person sees at once. A page shows it by [`Event::BlockChanged`], with a
    /// button that takes it back.
    fn tell_of_edit(&self, name: &BlockName, before: &Block, caller: &Caller<'_>) {
        const SHOWN: usize = 5;
        if self.config.face == Face::Page {
            return;
        }
        let Ok(after) = self.store.load(name) else {
            return;
        };
        let changes = before.diff(&after.block);
        if changes.is_empty() {
            return;
        }
        let origin = match &caller.facts.web {
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

    fn datetime(&self) -> ToolOutcome {
        let now = self.clock.now();
        let zone = &self.config.zone;
        let local = now.to_zoned(zone.clone());
        ToolOutcome::of(json!({
            "utc": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "local": local.strftime("%Y-%m-%d %H:%M:%S %:z").to_string(),
            "weekday": local.strftime("%A").to_string(),
            "zone": zone.iana_name().unwrap_or("UTC"),
        }))
    }

    /// Asks a model for small work: no tools, and what it takes counts in the turn.
    async fn delegate(&self, args: &Args, caller: &mut Caller<'_>) -> Result<ToolOutcome, Fault> {
        let tier = match args.maybe("model") {
            Some("default") => Tier::Default,
            _ => Tier::Fast,
        };
        let system = args.maybe("system").filter(|text| !text.trim().is_empty());
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
            self.unprompted_request()?;
        }
        // Its words are for the model, not for the person.
        let answer = self
            .ask(request, &EventSink::none(), caller.events, caller.cancel)
            .await?;
        Ok(ToolOutcome::of(json!({
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
