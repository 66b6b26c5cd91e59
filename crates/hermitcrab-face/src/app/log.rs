//! The edits of blocks, newest first, with the text of the node before and afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use hermitcrab_kernel::ToolError;
use jiff::Timestamp;
use pscale_blocks::store::{LogEntry, LogRange, LoggedOp, Steps, newest_edits};
use pscale_blocks::{BlockName, BlockStore, EditAuthor, Op, Path, StoreError};
use serde::Serialize;

/// The most rows.
pub(crate) const MAX_ROWS: usize = 200;

/// The longest text of a node in a row, in characters: a node may have 64 KiB, and a reply has many rows.
const MAX_TEXT: usize = 4_000;

/// A row of the log: one edit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Row {
    name: BlockName,
    rev: u64,
    at: Timestamp,
    by: EditAuthor,
    op: &'static str,
    path: Option<Path>,
    /// The node's text before, cut where it is long; `None` if it had no text, or if the whole block changed.
    before: Option<String>,
    after: Option<String>,
    /// The number of undo steps that revert the edit; `None` if undo cannot.
    undo: Option<usize>,
    /// The number of redo steps that repeat the edit; `None` if redo cannot.
    redo: Option<usize>,
}

/// The newest `limit` edits of a block, or of all.
pub(crate) fn rows(
    store: &dyn BlockStore,
    name: Option<&BlockName>,
    limit: usize,
) -> Result<Vec<Row>, ToolError> {
    let limit = limit.min(MAX_ROWS);
    let mut logs: BTreeMap<BlockName, Vec<LogEntry>> = BTreeMap::new();
    match name {
        Some(name) => {
            let log = store.log(name, LogRange::newest(limit))?;
            logs.insert(name.clone(), log);
        }
        None => {
            for (name, entry) in newest_edits(store, limit)? {
                logs.entry(name).or_default().push(entry);
            }
        }
    }
    let mut rows = Vec::new();
    for (name, log) in logs {
        of_block(store, &name, log, &mut rows)?;
    }
    rows.sort_by(|a, b| (b.at, &b.name, b.rev).cmp(&(a.at, &a.name, a.rev)));
    Ok(rows)
}

/// Adds the rows of a block whose newest entries are `log`, the newest first.
fn of_block(
    store: &dyn BlockStore,
    name: &BlockName,
    mut log: Vec<LogEntry>,
    rows: &mut Vec<Row>,
) -> Result<(), StoreError> {
    let mut block = Arc::unwrap_or_clone(store.load(name)?.block);
    log.reverse();
    let steps = Steps::of(&log);
    let counted = |revs: &[u64], rev| revs.iter().position(|one| *one == rev).map(|at| at + 1);
    for entry in log.into_iter().rev() {
        let text = |block: &pscale_blocks::Block| {
            let path = entry.path.as_ref()?;
            block.text(path).ok().flatten().map(cut)
        };
        let after = text(&block);
        if let Some(inverse) = &entry.inverse {
            block.revert(inverse);
        }
        rows.push(Row {
            name: name.clone(),
            rev: entry.rev,
            at: entry.at,
            op: op(&entry.op),
            before: entry.inverse.as_ref().and_then(|_| text(&block)),
            after,
            undo: counted(&steps.undo, entry.rev),
            redo: counted(&steps.redo, entry.rev),
            path: entry.path,
            by: entry.by,
        });
    }
    Ok(())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn op(logged: &LoggedOp) -> &'static str {
    match logged {
        LoggedOp::Create { .. } => "create",
        LoggedOp::Delete => "delete",
        LoggedOp::Undo { .. } => "undo",
        LoggedOp::Redo { .. } => "redo",
        LoggedOp::Edit(Op::Write { .. }) => "write",
        LoggedOp::Edit(Op::Remove { .. }) => "remove",
        LoggedOp::Edit(Op::Relocate { .. }) => "move",
        LoggedOp::Edit(Op::Append { .. }) => "append",
        LoggedOp::Edit(Op::Grow { .. }) => "grow",
        LoggedOp::Edit(Op::Replace { .. }) => "replace",
        LoggedOp::Edit(Op::SetDecimal { .. }) => "decimal",
    }
}
