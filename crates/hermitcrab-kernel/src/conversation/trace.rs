//! The way of a text back to where it came from.

use std::path::Path;

use jiff::Timestamp;
use llm_client::{BlockKind, Message, Redactor, ToolInput};
use pscale_blocks::store::{LogEntry, LogRange, LoggedOp, Origin, Origins};
use pscale_blocks::{Block, BlockName, BlockStore, EditAuthor, Op, Path as BlockPath};
use serde::Serialize;

use super::author::Author;
use super::pages::{NumberedMessage, range};
use crate::storage::FileStore;
use crate::{ErrorKind, ToolError};

/// The longest arguments of a call, in characters.
const ARGUMENTS: usize = 200;
/// The number of log entries that are read at once.
const STEP: usize = 64;

/// The last writer of a node's text, and the places outside that it comes from.
///
/// A text that has moved, or that an undo brought back, is that of the edit that wrote it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Trace {
    /// The block.
    pub block: BlockName,
    /// The node.
    pub path: BlockPath,
    /// The text.
    pub text: String,
    /// The revision that wrote it.
    pub rev: u64,
    /// The time of the edit.
    pub at: Timestamp,
    /// The author of the edit.
    pub by: EditAuthor,
    /// The reason for the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The number of the message that asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The places outside that the text may come from.
    pub from: Vec<TracedOrigin>,
    /// The least number of further ones.
    pub more: u64,
}

/// A place outside, and the message that brought its text to the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TracedOrigin {
    /// The place.
    pub origin: Origin,
    /// The number of the message. `None` if no message on record did: the text was in a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// The tool call that this message answers: `web_fetch {"url":"https://example.org"}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

impl Trace {
    /// Traces a text in a data directory, also while another process writes.
    ///
    /// # Errors
    /// There is no such text, or the log or the record cannot be read.
    pub fn open(
        data: &Path,
        store: &dyn BlockStore,
        name: &BlockName,
        path: &BlockPath,
    ) -> Result<Self, ToolError> {
        let files = FileStore::new(Some(data), false, &Redactor::default());
        Self::read(&files, store, name, path)
    }

    pub(crate) fn read(
        files: &FileStore,
        store: &dyn BlockStore,
        name: &BlockName,
        path: &BlockPath,
    ) -> Result<Self, ToolError> {
        let found = store.load(name)?.block;
        let text = found.text(path).map_err(|error| error.in_block(name))?;
        let no_text = || ToolError::new(ErrorKind::NotFound, format!("{name} {path} has no text"));
        let text = text.ok_or_else(no_text)?.to_owned();
        let no_entry = || {
            let detail = format!("the log of {name} does not say who wrote {path}");
            ToolError::new(ErrorKind::NotFound, detail)
        };
        let entry = last_write(store, name, path, &text)?.ok_or_else(no_entry)?;
        let origins = Origins::union([&entry.origins()].into_iter().chain(entry.labels.get(path)));
        let messages = if entry.n.is_some() && !origins.is_empty() {
            let part = range(files, 1, usize::MAX).map_err(ToolError::from_io)?;
            part.messages
        } else {
            Vec::new()
        };
        // The next message has the results of the same reply.
        let last = entry.n.map(|n| n + 1);
        let before = messages.partition_point(|message| Some(message.n) <= last);
        let traced = |origin: &Origin| traced(origin, &messages[..before]);
        Ok(Self {
            block: name.clone(),
            path: *path,
            text,
            rev: entry.rev,
            at: entry.at,
            by: entry.by,
            note: entry.note,
            n: entry.n,
            from: origins.listed().iter().map(traced).collect(),
            more: origins.more(),
        })
    }
}

/// The message that last brought a text of a place before an edit.
fn traced(origin: &Origin, before: &[NumberedMessage]) -> TracedOrigin {
    // A message by the model has the origins of all that it was sent.
    let has = |message: &NumberedMessage| message.said.from.listed().contains(origin);
    let brings = |message: &NumberedMessage| message.said.by != Author::Model && has(message);
    // A search of the provider is in the model's own message.
    let found = (before.iter().rposition(brings)).or_else(|| before.iter().position(has));
    let call = found.and_then(|at| {
        let caller = before.get(at.checked_sub(1)?)?;
        call_for(origin, &caller.said.message)
    });
    TracedOrigin {
        origin: origin.clone(),
        message: found.map(|at| before[at].n),
        call,
    }
}

/// The call of a message that fits an origin best.
fn call_for(origin: &Origin, message: &Message) -> Option<String> {
    let (family, word) = match origin {
        Origin::Web { url } => ("web_", url.as_str()),
        Origin::File { path, .. } => ("fs_", path.as_str()),
        Origin::Store { key } => ("idb_", key.as_str()),
        Origin::Server { name } => (name.as_str(), ""),
        _ => ("", ""),
    };
    let calls = message
        .content
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::ToolUse { name, input, .. } => {
                let input = match input {
                    ToolInput::Json(input) => input.get(),
                    ToolInput::Invalid(input) => input,
                };
                Some((name, input))
            }
            _ => None,
        });
    let calls = calls.filter(|(name, _)| name.starts_with(family));
    let best = calls.clone().find(|(_, input)| input.contains(word));
    let (name, input) = best.or_else(|| calls.clone().next())?;
    let input: String = input.chars().take(ARGUMENTS).collect();
    Some(format!("{name} {input}"))
}

/// The place of a text in the edit that wrote it.
enum Written {
    Here,
    /// At another place, from which it has moved.
    Elsewhere,
    /// In a whole block, which may have had it before.
    InWhole,
}

/// The newest edit that wrote a text.
fn last_write(
    store: &dyn BlockStore,
    name: &BlockName,
    path: &BlockPath,
    text: &str,
) -> Result<Option<LogEntry>, ToolError> {
    let (mut elsewhere, mut in_whole) = (None, None);
    let mut next = LogRange::newest(STEP);
    loop {
        let entries = store.log(name, next)?;
        let Some(last) = entries.last().map(|entry| entry.rev) else {
            return Ok(elsewhere.or(in_whole));
        };
        for entry in entries {
            match written(&entry, path, text) {
                Some(Written::Here) => return Ok(Some(entry)),
                Some(Written::Elsewhere) => elsewhere = elsewhere.or(Some(entry)),
                // The oldest one brought it.
                Some(Written::InWhole) => in_whole = Some(entry),
                None => {}
            }
        }
        next = LogRange::newest(STEP).before(last);
    }
}

fn written(entry: &LogEntry, path: &BlockPath, text: &str) -> Option<Written> {
    let place = |is_here| {
        if is_here {
            Written::Here
        } else {
            Written::Elsewhere
        }
    };
    let here = entry.path == Some(*path);
    match &entry.op {
        LoggedOp::Edit(Op::Write {
            path: at,
            text: new,
        }) => (new == text).then(|| place(at == path)),
        LoggedOp::Edit(Op::Append { text: new, summary }) => {
            let is_summary = summary.as_ref().is_some_and(|summary| summary.text == text);
            (new == text || is_summary).then(|| place(here && new == text))
        }
        LoggedOp::Edit(Op::Grow { summary }) => (summary.text == text).then(|| place(here)),
        LoggedOp::Create { block } | LoggedOp::Edit(Op::Replace { block }) => {
            has_text(block, text).then_some(Written::InWhole)
        }
        _ => None,
    }
}

fn has_text(block: &Block, text: &str) -> bool {
    let nodes = block.subtree(&BlockPath::root(), None).unwrap_or_default();
    nodes.iter().any(|node| node.text.as_deref() == Some(text))
}
