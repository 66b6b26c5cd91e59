//! The tools on blocks.

use std::collections::BTreeSet;

use pscale_blocks::store::{Edited, LogRange};
use pscale_blocks::{
    Appended, Applied, Block, BlockError, BlockName, BlockStore, Op, Path, Stamp, StoreError,
    Summary, SummaryKind,
};
use serde_json::{Value, json};

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
/// an answer, too.
pub fn run_block_tool(
    name: &str,
    input: Value,
    store: &dyn BlockStore,
    stamp: &Stamp,
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
        .and_then(|args| run(name, &args, store, stamp, None).unwrap_or_else(|| Err(unknown())))
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
    questioned: Option<&mut Questioned>,
) -> Option<Result<ToolResult, ToolError>> {
    Some(match name {
        "block_read" => read(args, store),
        "block_list" => list(store),
        "block_create" => create(args, store, stamp),
        "block_write" => write(args, store, stamp),
        "block_append" => append(args, store, stamp, questioned),
        "block_grow" => grow(args, store, stamp, questioned),
        "block_move" => relocate(args, store, stamp),
        "block_remove" => remove(args, store, stamp),
        "block_search" => search(args, store),
        "block_log" => log(args, store),
        "block_undo" => step(args, |name, count| store.undo(name, count, stamp), "undone"),
        "block_redo" => step(args, |name, count| store.redo(name, count, stamp), "redone"),
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
    // Asking for a summary changes nothing, unless one came with it; so does a question about one.
    let asks = answer.get("needs_summary").is_some() && answer["stored_summary"] != true
        || answer["written"] == false;
    !reads && !outcome.is_error && !asks
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
fn store_fault(error: StoreError) -> ToolError {
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

fn create(args: &Args, store: &dyn BlockStore, stamp: &Stamp) -> Result<ToolResult, ToolError> {
    let name = args.block("name")?;
    let text = args.text("pscale0");
    if text.trim().is_empty() {
        return Err(fault(BlockError::EmptyContent)
            .hint("pscale0 says what the block is and how to use it"));
    }
    let mut block = Block::new("-");
    block.write(&block.head(), text).map_err(fault)?;
    let rev = store.create(&name, &block, stamp).map_err(store_fault)?;
    Ok(ToolResult::of(
        json!({"name": name, "path": block.head(), "rev": rev}),
    ))
}

fn write(args: &Args, store: &dyn BlockStore, stamp: &Stamp) -> Result<ToolResult, ToolError> {
    let (path, note) = required(args, "path")?;
    let op = Op::Write {
        path,
        text: args.text("content").to_owned(),
    };
    edit(args, store, stamp, &op, note)
}

fn remove(args: &Args, store: &dyn BlockStore, stamp: &Stamp) -> Result<ToolResult, ToolError> {
    let (path, note) = required(args, "path")?;
    edit(args, store, stamp, &Op::Remove { path }, note)
}

fn relocate(args: &Args, store: &dyn BlockStore, stamp: &Stamp) -> Result<ToolResult, ToolError> {
    let (from, _) = required(args, "from")?;
    let (to, note) = required(args, "to")?;
    edit(args, store, stamp, &Op::Relocate { from, to }, note)
}

fn grow(
    args: &Args,
    store: &dyn BlockStore,
    stamp: &Stamp,
    questioned: Option<&mut Questioned>,
) -> Result<ToolResult, ToolError> {
    let summary = summary(args, args.text("summary"));
    if let Some(question) = question(args, store, &summary, None, questioned)? {
        return Ok(question);
    }
    edit(args, store, stamp, &Op::Grow { summary }, None)
}

fn append(
    args: &Args,
    store: &dyn BlockStore,
    stamp: &Stamp,
    questioned: Option<&mut Questioned>,
) -> Result<ToolResult, ToolError> {
    let text = args.text("content");
    let summary = args.optional("summary").map(|text| summary(args, text));
    if let Some(summary) = &summary
        && let Some(question) = question(args, store, summary, Some(text), questioned)?
    {
        return Ok(question);
    }
    let text = text.to_owned();
    edit(args, store, stamp, &Op::Append { text, summary }, None)
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

fn edit(
    args: &Args,
    store: &dyn BlockStore,
    stamp: &Stamp,
    op: &Op,
    note: Option<String>,
) -> Result<ToolResult, ToolError> {
    let name = args.block("name")?;
    let edited = store.edit(&name, None, op, stamp).map_err(store_fault)?;
    let mut answer = json!({"name": name, "rev": edited.rev});
    describe(&edited, &mut answer);
    let change = edited.applied.as_ref().and_then(Applied::change);
    // The text of a node may be a summary, too. The edit is done, whether the block can be read again or not.
    if let Some(path) = change.map(|change| change.summary.unwrap_or(change.path))
        && let Ok(found) = store.load(&name)
        && let Some(receipt) = Receipt::quick(&found.block, &path)
    {
        answer["receipt"] = receipt.answer();
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
    Ok(ToolResult::of(rows))
}

/// An undo or a redo; the answer says as `done` how many edits it concerned.
fn step(
    args: &Args,
    take: impl FnOnce(&BlockName, u32) -> Result<Edited, StoreError>,
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
    let edited = take(&name, count).map_err(store_fault)?;
    Ok(ToolResult::of(
        json!({"name": name, "rev": edited.rev, done: edited.steps}),
    ))
}
