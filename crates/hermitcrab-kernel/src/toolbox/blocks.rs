//! The tools on blocks.

use std::collections::BTreeSet;

use pscale_blocks::store::{Edited, LogEntry, LogRange, Origins};
use pscale_blocks::{
    Appended, Applied, Block, BlockError, BlockName, BlockStore, EditAuthor, Op, Path, Stamp,
    StoreError, Summary, SummaryKind,
};
use serde_json::{Value, json};

use super::review::{RanEdit, ReviewGate, ReviewOp, ReviewQueue};
use crate::prompt::Receipt;
use crate::table::{Args, ToolResult};
use crate::{ErrorKind, ToolError};

/// The most characters of a whole block.
const WHOLE: usize = 6_000;
/// The most characters of a list of blocks, of a row without its head, and of a head.
const LISTED: usize = 11_000;
const ROW: usize = 90;
const HEAD: usize = 160;
/// The most hits of a search, and rows of a log.
const ROWS: usize = 50;

/// Runs a tool on blocks outside of a kernel: `block_read` and the others of that family, and no other tool. A failure is
/// an answer, too. With `review` an edit of the blocks that say who the model is waits there for the person if its stamp
/// names a place outside.
pub fn run_block_tool(
    name: &str,
    input: Value,
    store: &dyn BlockStore,
    stamp: &Stamp,
    review: Option<&ReviewQueue>,
) -> ToolResult {
    let unknown = || {
        ToolError::new(
            ErrorKind::UnknownTool,
            format!("{name} is not a tool on blocks"),
        )
    };
    let Some(tool) = crate::table::tool(name) else {
        return unknown().into();
    };
    Args::check(input, &tool.schema)
        .and_then(|args| {
            run(name, &args, store, stamp, review, None).unwrap_or_else(|| Err(unknown()))
        })
        .into()
}

/// The nodes whose summaries were questioned.
pub(crate) type Questioned = BTreeSet<(BlockName, Path)>;

/// Runs a tool on blocks; `None` if `name` is not one of them. With `questioned` a summary that adds facts to the texts below
/// is answered with a question, once a node.
pub(crate) fn run(
    name: &str,
    args: &Args,
    store: &dyn BlockStore,
    stamp: &Stamp,
    review: Option<&ReviewQueue>,
    questioned: Option<&mut Questioned>,
) -> Option<Result<ToolResult, ToolError>> {
    let edits = Edits {
        store,
        stamp,
        review,
    };
    Some(match name {
        "block_read" => read(args, store),
        "block_list" => list(store),
        "block_create" => create(args, &edits),
        "block_write" => write(args, &edits),
        "block_append" => append(args, &edits, questioned),
        "block_grow" => grow(args, &edits, questioned),
        "block_move" => relocate(args, &edits),
        "block_remove" => remove(args, &edits),
        "block_search" => search(args, store),
        "block_log" => log(args, store),
        "block_undo" => step(args, &edits, |count| ReviewOp::Undo { count }, "undone"),
        "block_redo" => step(args, &edits, |count| ReviewOp::Redo { count }, "redone"),
        _ => return None,
    })
}

/// Whether what such a tool answered means that a block is another one now.
pub(crate) fn changed(name: &str, outcome: &ToolResult) -> bool {
    let reads = matches!(
        name,
        "block_read" | "block_list" | "block_search" | "block_log"
    );
    let answer = &outcome.content;
    // Asking for a summary changes nothing, unless one came with it; so does a question about one, and an edit that waits for
    // the person.
    let asks = answer.get("needs_summary").is_some() && answer["stored_summary"] != true
        || answer["written"] == false;
    let waits = answer.get("queued").is_some();
    !reads && !outcome.is_error && !asks && !waits
}

fn read(args: &Args, store: &dyn BlockStore) -> Result<ToolResult, ToolError> {
    let name = args.block("name")?;
    let found = store.load(&name)?;
    let Some((path, note)) = args.path("path")? else {
        if args.optional("view").is_none_or(|view| view == "node") {
            return Ok(ToolResult::of(found.block.whole(WHOLE)));
        }
        let seen = view(&found.block, &found.block.head(), args, None);
        return seen.map_err(fault);
    };
    view(&found.block, &path, args, note).map_err(|error| fault(error.in_block(&name)))
}

fn view(
    block: &Block,
    path: &Path,
    args: &Args,
    note: Option<String>,
) -> Result<ToolResult, BlockError> {
    let mut outcome = match args.optional("view") {
        Some("spindle") => ToolResult::of(json!({
            "path": path,
            "spindle": block.spindle(path)?,
        })),
        Some("subtree") => ToolResult::of(json!({
            "path": path,
            "subtree": block.subtree(path, None)?,
        })),
        _ => ToolResult::of(block.view(path)?),
    };
    if let Some(note) = note {
        outcome.content["note"] = note.into();
    }
    Ok(outcome)
}

/// An error of a block; the hint says how a model can continue.
fn fault(error: BlockError) -> ToolError {
    let hint = match &error {
        BlockError::NewRoot { head, .. } => Some(format!("begin the path with {head}")),
        _ => None,
    };
    let fault = ToolError::from(error);
    match hint {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

/// An error of a store; that of a block with its hint.
pub(super) fn store_fault(error: StoreError) -> ToolError {
    match error {
        StoreError::Block(error) => fault(*error),
        other => other.into(),
    }
}

fn list(store: &dyn BlockStore) -> Result<ToolResult, ToolError> {
    let rows = store.names()?;
    // With many blocks less is said of each, so that all are named.
    let room = (LISTED / rows.len().max(1)).saturating_sub(ROW).min(HEAD);
    let rows: Vec<_> = rows
        .into_iter()
        .map(|row| {
            let head = row.head.unwrap_or_default();
            json!({
                "name": row.name,
                "head": head.chars().take(room).collect::<String>(),
                "decimal": row.decimal,
                "nodes": row.nodes,
                "bytes": row.bytes,
            })
        })
        .collect();
    Ok(ToolResult::of(rows))
}

fn create(args: &Args, edits: &Edits<'_>) -> Result<ToolResult, ToolError> {
    let name = args.block("name")?;
    let text = args.text("pscale0");
    if text.trim().is_empty() {
        return Err(fault(BlockError::EmptyContent)
            .hint("pscale0 says what the block is and how to use it"));
    }
    let text = text.to_owned();
    let done = match edits.run(&name, &ReviewOp::Create { text })? {
        EditOutcome::Done(done) => done,
        EditOutcome::Waits(answer) => return Ok(ToolResult::of(answer)),
    };
    let head = edits.store.load(&name)?.block.head();
    Ok(ToolResult::of(
        json!({"name": name, "path": head, "rev": done.rev}),
    ))
}

fn write(args: &Args, edits: &Edits<'_>) -> Result<ToolResult, ToolError> {
    let (path, note) = required(args, "path")?;
    let op = Op::Write {
        path,
        text: args.text("content").to_owned(),
    };
    edit(args, edits, &op, note)
}

fn remove(args: &Args, edits: &Edits<'_>) -> Result<ToolResult, ToolError> {
    let (path, note) = required(args, "path")?;
    edit(args, edits, &Op::Remove { path }, note)
}

fn relocate(args: &Args, edits: &Edits<'_>) -> Result<ToolResult, ToolError> {
    let (from, _) = required(args, "from")?;
    let (to, note) = required(args, "to")?;
    edit(args, edits, &Op::Relocate { from, to }, note)
}

fn grow(
    args: &Args,
    edits: &Edits<'_>,
    questioned: Option<&mut Questioned>,
) -> Result<ToolResult, ToolError> {
    let summary = summary(args, args.text("summary"));
    if let Some(question) = question(args, edits.store, &summary, None, questioned)? {
        return Ok(question);
    }
    edit(args, edits, &Op::Grow { summary }, None)
}

fn append(
    args: &Args,
    edits: &Edits<'_>,
    questioned: Option<&mut Questioned>,
) -> Result<ToolResult, ToolError> {
    let text = args.text("content");
    let summary = args.optional("summary").map(|text| summary(args, text));
    if let Some(summary) = &summary
        && let Some(question) = question(args, edits.store, summary, Some(text), questioned)?
    {
        return Ok(question);
    }
    let text = text.to_owned();
    edit(args, edits, &Op::Append { text, summary }, None)
}

/// The answer in the place of writing a summary that adds facts: for an entry that is appended, or for a growth. An emergence
/// is what no part contains.
fn question(
    args: &Args,
    store: &dyn BlockStore,
    summary: &Summary,
    entry: Option<&str>,
    questioned: Option<&mut Questioned>,
) -> Result<Option<ToolResult>, ToolError> {
    let Some(questioned) = questioned.filter(|_| summary.kind == SummaryKind::Summary) else {
        return Ok(None);
    };
    let name = args.block("name")?;
    let block = store.load(&name)?.block;
    let at = match entry {
        None => block.head(),
        // What an append without the summary asks for.
        Some(entry) => match Block::clone(&block).append(entry, None) {
            Ok(Appended::NeedsSummary { at, .. }) => at,
            _ => return Ok(None),
        },
    };
    let Some(receipt) = Receipt::draft(&block, &at, &summary.text) else {
        return Ok(None);
    };
    let asks = !receipt.added.is_empty() && questioned.insert((name, at));
    Ok(asks.then(|| ToolResult::of(receipt.question())))
}

fn summary(args: &Args, text: &str) -> Summary {
    let kind = match args.optional("kind") {
        Some("emergence") => SummaryKind::Emergence,
        _ => SummaryKind::Summary,
    };
    Summary {
        kind,
        text: text.to_owned(),
    }
}

fn required(args: &Args, name: &str) -> Result<(Path, Option<String>), ToolError> {
    args.path(name)?
        .ok_or_else(|| ToolError::new(ErrorKind::BadArguments, format!("{name} is missing")))
}

/// The way to edits: to the store, or to the edits that wait for the person.
struct Edits<'a> {
    store: &'a dyn BlockStore,
    stamp: &'a Stamp,
    review: Option<&'a ReviewQueue>,
}

/// The outcome of an edit that did not fail.
enum EditOutcome {
    Done(Box<RanEdit>),
    /// The edit waits for the person: this is the answer.
    Waits(Value),
}

impl Edits<'_> {
    fn run(&self, name: &BlockName, op: &ReviewOp) -> Result<EditOutcome, ToolError> {
        let gate = match self.review {
            Some(review) => review.check(name, op, self.store, self.stamp)?,
            None => ReviewGate::Open { rev: None },
        };
        match gate {
            ReviewGate::Open { rev } => {
                let done = op.run(name, rev, self.store, self.stamp);
                Ok(EditOutcome::Done(Box::new(done.map_err(store_fault)?)))
            }
            ReviewGate::Waits(answer) => Ok(EditOutcome::Waits(answer)),
        }
    }
}

fn edit(
    args: &Args,
    edits: &Edits<'_>,
    op: &Op,
    note: Option<String>,
) -> Result<ToolResult, ToolError> {
    let name = args.block("name")?;
    let edited = match edits.run(&name, &ReviewOp::Edit(op.clone()))? {
        EditOutcome::Done(edited) => edited,
        EditOutcome::Waits(answer) => return Ok(ToolResult::of(answer)),
    };
    let mut answer = json!({"name": name, "rev": edited.rev});
    if let Some(edited) = &edited.edited {
        describe(edited, &mut answer);
        let change = edited.applied.as_ref().and_then(Applied::change);
        // The text of a node may be a summary, too. The edit is done, whether the block can be read again or not.
        if let Some(path) = change.map(|change| change.summary.unwrap_or(change.path))
            && let Ok(found) = edits.store.load(&name)
            && let Some(receipt) = Receipt::quick(&found.block, &path)
        {
            answer["receipt"] = receipt.answer();
        }
    }
    if let Some(note) = note {
        answer["note"] = note.into();
    }
    Ok(ToolResult::of(answer))
}

/// The effect of an edit, as fields of the answer.
fn describe(edited: &Edited, answer: &mut Value) {
    match &edited.applied {
        Some(Applied::Appended(Appended::NeedsSummary {
            at,
            grows,
            entries,
            change,
        })) => {
            answer["needs_summary"] = json!(at);
            answer["grows"] = (*grows).into();
            answer["entries"] = json!(entries);
            answer["stored_summary"] = change.is_some().into();
            answer["hint"] = "nothing was appended: read the nine entries, then call block_append again \
                              with the same content and a summary of them (kind summary or emergence)"
                .into();
        }
        Some(applied) => {
            if let Some(change) = applied.change() {
                answer["path"] = json!(change.path);
                if !change.created.is_empty() {
                    answer["created"] = json!(change.created);
                }
                if let Some(grown) = &change.grown {
                    answer["grown"] = json!(grown);
                }
            }
        }
        None => {}
    }
    if edited.keys_removed > 0 {
        answer["keys_removed"] = edited.keys_removed.into();
    }
}

fn search(args: &Args, store: &dyn BlockStore) -> Result<ToolResult, ToolError> {
    let query = args.text("query");
    if query.trim().is_empty() {
        return Err(ToolError::new(
            ErrorKind::EmptyContent,
            "the query is empty",
        ));
    }
    let names = match args.optional("name") {
        Some(_) => vec![args.block("name")?],
        None => store.names()?.into_iter().map(|row| row.name).collect(),
    };
    let mut hits = Vec::new();
    for name in names {
        let block = store.load(&name)?.block;
        for hit in block.search(query, ROWS - hits.len()) {
            hits.push(json!({"name": name, "path": hit.path, "text": hit.text}));
        }
        if hits.len() == ROWS {
            break;
        }
    }
    Ok(ToolResult::of(json!({"hits": hits, "limit": ROWS})))
}

fn log(args: &Args, store: &dyn BlockStore) -> Result<ToolResult, ToolError> {
    let name = args.block("name")?;
    store.load(&name)?;
    let limit = args
        .number("limit")
        .map_or(10, |limit| limit.min(ROWS as u64) as usize);
    let entries = store.log(&name, LogRange::newest(limit))?;
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            let mut op = json!(entry.op);
            // Whole blocks are not repeated in a list of what was done.
            if let Some(op) = op.as_object_mut() {
                op.remove("block");
            }
            json!({"rev": entry.rev, "at": entry.at, "by": entry.by, "did": op, "note": entry.note})
        })
        .collect();
    // What the person wrote, or approved, is the person's.
    let is_outside = |entry: &&LogEntry| entry.by != EditAuthor::Person;
    let from: Vec<_> = (entries.iter().filter(is_outside))
        .map(LogEntry::origins)
        .collect();
    Ok(ToolResult::of(rows).with_from(&Origins::union(&from)))
}

/// An undo or a redo; the answer says as `done` how many edits it concerned.
fn step(
    args: &Args,
    edits: &Edits<'_>,
    op: impl FnOnce(u32) -> ReviewOp,
    done: &str,
) -> Result<ToolResult, ToolError> {
    let name = args.block("name")?;
    let count = args.number("count").unwrap_or(1);
    if count == 0 {
        return Err(ToolError::new(
            ErrorKind::BadArguments,
            "count is at least 1",
        ));
    }
    let count = count.min(1_000) as u32;
    let edited = match edits.run(&name, &op(count))? {
        EditOutcome::Done(edited) => edited,
        EditOutcome::Waits(answer) => return Ok(ToolResult::of(answer)),
    };
    Ok(ToolResult::of(
        json!({"name": name, "rev": edited.rev, done: edited.edited.map(|edited| edited.steps)}),
    ))
}
