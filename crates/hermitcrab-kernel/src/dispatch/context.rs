use std::borrow::Cow;
use std::collections::BTreeMap;

use llm_client::Clock;
use pscale_blocks::EditAuthor;
use pscale_blocks::store::{Origin, Origins};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::conversation::HistoryBlocks;
use crate::faces::{FaceManager, ShellError};
use crate::prompt::Identity;
use crate::spending::SpendMeter;
use crate::storage::FileStore;
use crate::table::{self, Tool};
use crate::toolbox::blocks::Questioned;
use crate::toolbox::{PagesRead, Toolbox};
use crate::{Brain, ErrorKind, EventSink, KernelConfig, ToolError};

/// The parts of the kernel that a turn borrows: its owners, and the brain.
#[derive(Clone, Copy)]
pub(crate) struct TurnContext<'a> {
    pub config: &'a KernelConfig,
    pub brain: &'a dyn Brain,
    pub clock: &'a dyn Clock,
    /// The record as it is on the disk.
    pub files: &'a FileStore,
    pub identity: &'a Identity,
    /// The blocks of older turns.
    pub history: &'a HistoryBlocks,
    pub toolbox: &'a Toolbox,
    pub faces: &'a FaceManager,
    pub spending: &'a SpendMeter,
}

impl TurnContext<'_> {
    /// The tool with this name: the kernel's own, or one that a server has listed. Every lookup of a name is made here.
    pub fn tool(&self, name: &str) -> Option<Cow<'static, Tool>> {
        let own = table::tool(name).map(Cow::Borrowed);
        own.or_else(|| self.toolbox.servers.tool(name).map(Cow::Owned))
    }

    /// The tools of the group with this name; empty if there is none.
    pub fn tool_group(&self, name: &str) -> Vec<Cow<'static, Tool>> {
        let own = table::tool_group(name).iter().map(Cow::Borrowed);
        let theirs = self.toolbox.servers.group(name).into_iter();
        own.chain(theirs.map(Cow::Owned)).collect()
    }

    /// Names of tools and groups that `name` may have been meant for.
    pub fn near_names(&self, name: &str) -> Vec<String> {
        let groups = self.toolbox.servers.groups();
        let near = table::nearest(name, groups.iter().map(String::as_str));
        near.into_iter().map(str::to_owned).collect()
    }

    /// Asks the servers of these tools and groups what they have: those that were not asked yet or, `again`, all.
    pub async fn list_servers(
        &self,
        names: &[String],
        again: bool,
        events: &EventSink,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        let tell = |line: String| events.notice(line);
        let servers = &self.toolbox.servers;
        servers.list(names, again, cancel, &tell).await
    }

    /// Asks the servers of the tools that the model has chosen, if they were not asked yet.
    pub async fn list_chosen_servers(&self, events: &EventSink, cancel: &CancellationToken) {
        let chosen = self.faces.state().tools.clone().unwrap_or_default();
        if let Err(fault) = self.list_servers(&chosen, false, events, cancel).await
            && fault.kind != ErrorKind::Stopped
        {
            events.notice(format!("{}; its tools are off", fault.detail));
        }
        if self.is_overlong(&chosen) {
            events.notice(
                "the chosen tools of other programs have more tokens than a quarter of budgets.input_tokens and are not sent: `hermitcrab mcp deny` takes some away".to_owned(),
            );
        }
    }
}

/// The caller of a tool, with its turn.
pub(crate) struct ToolCaller<'a> {
    /// The caller in a word: a model's id, or `person`.
    pub by: String,
    /// The caller for the log of blocks.
    pub provenance: EditAuthor,
    /// Whether this is a boot.
    pub boot: bool,
    /// The facts of the turn so far.
    pub facts: &'a mut TurnFacts,
    pub events: &'a EventSink,
    pub cancel: &'a CancellationToken,
}

/// The facts that a turn has collected.
#[derive(Debug, Default)]
pub(crate) struct TurnFacts {
    /// No person is at the face that asks.
    pub unprompted: bool,
    /// The places outside that a call may come from: those of all that the request sent, and of earlier results of its round.
    pub from: Origins,
    /// The number of the message that calls; `None` if it is not on record.
    pub n: Option<u64>,
    /// The tokens that are left for marks in results; 0 where no model reads them.
    pub marks: usize,
    /// The pages that were read.
    pub read: PagesRead,
    /// The number of shells that became the face.
    pub mounted: u32,
    /// The number of shells that did not.
    pub failed: u32,
    /// The errors of the last of these.
    pub errors: Vec<ShellError>,
    /// The summaries that were questioned; `None` where no model would answer.
    pub questioned: Option<Questioned>,
    /// The number of calls by name and arguments.
    calls: BTreeMap<String, u32>,
    /// The tools that were called, in order.
    pub used: Vec<String>,
}

impl TurnFacts {
    /// The facts of a turn in which a model is asked about its summaries.
    pub fn questioning() -> Self {
        Self {
            questioned: Some(Questioned::new()),
            ..Self::default()
        }
    }

    /// Adds places outside that the next calls may come from.
    pub fn add_origins(&mut self, from: &Origins) {
        self.from = Origins::union([&self.from, from]);
    }

    /// Adds a search of the provider, whose results the reply itself has.
    pub fn add_provider_search(&mut self) {
        let url = "a search of the provider".to_owned();
        self.read.last = Some(url.clone());
        self.add_origins(&Origin::Web { url }.into());
    }

    pub fn fail(&mut self, errors: Vec<ShellError>) {
        self.failed += 1;
        self.errors = errors;
    }

    /// Counts a call and returns the number of equal calls.
    pub fn called(&mut self, name: &str, input: &Value) -> u32 {
        self.used.push(name.to_owned());
        let times = self.calls.entry(format!("{name} {input}")).or_default();
        *times += 1;
        *times
    }
}

/// The author of an edit in a word.
pub(crate) fn author(by: &EditAuthor) -> String {
    match by {
        EditAuthor::Model { id, .. } => id.clone(),
        EditAuthor::Person => "person".to_owned(),
        EditAuthor::Web { url } => url.clone(),
        EditAuthor::Import { source } => source.clone(),
        EditAuthor::Kernel => "kernel".to_owned(),
    }
}
