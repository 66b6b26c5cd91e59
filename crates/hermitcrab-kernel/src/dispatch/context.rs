use std::collections::BTreeMap;

use llm_client::Clock;
use pscale_blocks::EditAuthor;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::conversation::HistoryBlocks;
use crate::faces::{FaceManager, ShellError};
use crate::prompt::Identity;
use crate::spending::SpendMeter;
use crate::storage::FileStore;
use crate::toolbox::blocks::Questioned;
use crate::toolbox::{PagesRead, Toolbox};
use crate::{Brain, EventSink, KernelConfig};

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
