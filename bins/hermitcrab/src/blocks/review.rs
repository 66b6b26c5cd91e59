//! Edits that wait for the person.

use std::io::{self, Write as _};

use bin_support::{Results, escape};
use hermitcrab_kernel::toolbox::{QueuedEdit, ReviewOp, ReviewQueue};
use jiff::Timestamp;
use pscale_blocks::{BlockName, BlockStore, NodeDiff};
use serde::Serialize;

use super::output::differences;
use crate::answer::Answer;
use crate::error::Error;

/// A person approves no text that was not shown: a terminal, too, gets all of it.
const WHOLE: usize = usize::MAX;

/// The edits that wait, with the texts that they would change.
#[derive(Serialize)]
pub struct ReviewAnswer {
    waiting: Vec<WaitingEdit>,
    /// Files that cannot be read, each with the reason.
    unread: Vec<String>,
}

#[derive(Serialize)]
struct WaitingEdit {
    #[serde(flatten)]
    edit: QueuedEdit,
    /// The reason why it waits.
    why: String,
    /// The texts that it would change now. Empty if the block has changed too much, and for a new block.
    changes: Vec<NodeDiff>,
}

/// A decision about an edit.
#[derive(Serialize)]
pub struct DecisionAnswer {
    id: String,
    /// The block. `None` if the file of the edit is damaged.
    block: Option<BlockName>,
    /// The revision of the block with the edit. `None` for an edit that was dropped.
    rev: Option<u64>,
}

/// Lists the edits that wait.
pub fn list(queue: &ReviewQueue, store: &dyn BlockStore) -> Result<ReviewAnswer, Error> {
    let listed = queue.list().map_err(Error::Tool)?;
    let waiting = listed.edits.into_iter().map(|edit| WaitingEdit {
        why: edit.to_string(),
        changes: edit.changes(store),
        edit,
    });
    Ok(ReviewAnswer {
        waiting: waiting.collect(),
        unread: listed.unread,
    })
}

/// Makes an edit that waits.
pub fn approve(
    id: &str,
    queue: &ReviewQueue,
    store: &dyn BlockStore,
    at: Timestamp,
) -> Result<DecisionAnswer, Error> {
    let (edit, rev) = queue.approve(id, store, at).map_err(Error::Tool)?;
    Ok(DecisionAnswer {
        id: edit.id,
        block: Some(edit.block),
        rev: Some(rev),
    })
}

/// Removes an edit that waits.
pub fn drop(id: &str, queue: &ReviewQueue) -> Result<DecisionAnswer, Error> {
    let edit = queue.drop(id).map_err(Error::Tool)?;
    Ok(DecisionAnswer {
        id: id.to_owned(),
        block: edit.map(|edit| edit.block),
        rev: None,
    })
}

impl Answer for ReviewAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        for WaitingEdit { edit, why, changes } in &self.waiting {
            let (id, block) = (&edit.id, &edit.block);
            writeln!(out, "{id}  {block}  {}", escape(why))?;
            match &edit.op {
                ReviewOp::Create { text } => {
                    writeln!(out, "create  {}", escape(text))?;
                }
                ReviewOp::Undo { count } => writeln!(out, "undo {count}")?,
                ReviewOp::Redo { count } => writeln!(out, "redo {count}")?,
                _ if changes.is_empty() => writeln!(out, "the block has changed since")?,
                _ => {}
            }
            differences(changes, WHOLE, out)?;
        }
        for why in &self.unread {
            writeln!(out, "{}", escape(why))?;
        }
        if self.waiting.is_empty() && self.unread.is_empty() {
            writeln!(out, "no edit waits")?;
        }
        Ok(())
    }
}

impl Answer for DecisionAnswer {
    fn write_text(&self, out: &mut Results) -> io::Result<()> {
        let id = escape(&self.id);
        match (&self.block, self.rev) {
            (Some(block), Some(rev)) => writeln!(out, "{id} is approved: {block}, revision {rev}"),
            _ => writeln!(out, "{id} is dropped"),
        }
    }
}
