//! What a log can do for a block: take edits back, and make the block again.

use super::{LogEntry, LoggedOp};
use crate::{Block, Inverse, Op};

/// What an undo came to.
pub(super) struct Undone {
    /// How many edits.
    pub edits: u32,
    /// What makes them again.
    pub redo: Inverse,
}

/// Takes the edits at the end of `log` back, up to where one cannot be: where the block was made, where an entry is
/// missing. None if what comes out is not what the log says was there; then `block` is as it was.
pub(super) fn undo(block: &mut Block, log: &[LogEntry], count: u32) -> Option<Undone> {
    let before = block.clone();
    let mut hash = log.last().and_then(|entry| entry.after_hash.clone());
    let mut redo = Inverse::default();
    let mut edits = 0;
    for entry in log.iter().rev().take(count as usize) {
        let fits = entry.after_hash == hash;
        let Some(inverse) = entry.inverse.as_ref().filter(|_| fits) else {
            break;
        };
        redo = block.take_back(inverse);
        hash.clone_from(&entry.before_hash);
        edits += 1;
    }
    if hash.is_some_and(|hash| hash != hex(&block.hash())) {
        *block = before;
        return None;
    }
    if edits > 1 {
        // Shorter than all the steps, if there are many.
        redo = Inverse::block(before);
    }
    Some(Undone { edits, redo })
}

/// Makes the block again that `log` ends with: from the last whole block in it, or from `known`, a block that it was
/// once. None if it cannot be done, or something else comes out.
pub(super) fn rebuild(log: &[LogEntry], known: Option<&Block>) -> Option<Block> {
    let last = log.last()?.after_hash.as_deref()?;
    let known_hash = known.map(|block| hex(&block.hash()));
    let begin = |entry: &LogEntry| {
        let is_known = known_hash.is_some() && entry.after_hash == known_hash;
        whole(entry).or(known.filter(|_| is_known)).cloned()
    };
    let (start, mut block) = log
        .iter()
        .enumerate()
        .rev()
        .find_map(|(index, entry)| Some((index, begin(entry)?)))?;
    for (index, entry) in log.iter().enumerate().skip(start + 1) {
        match &entry.op {
            LoggedOp::Create { .. } | LoggedOp::Delete => return None,
            LoggedOp::Edit(op) => {
                block.apply(op).ok()?;
            }
            LoggedOp::Undo { count } => {
                for undone in log[..index].iter().rev().take(*count as usize) {
                    block.take_back(undone.inverse.as_ref()?);
                }
            }
        }
    }
    (hex(&block.hash()) == last).then_some(block)
}

fn whole(entry: &LogEntry) -> Option<&Block> {
    match &entry.op {
        LoggedOp::Create { block } | LoggedOp::Edit(Op::Replace { block }) => Some(block),
        _ => None,
    }
}

/// A hash as it is written in logs.
pub(crate) fn hex(hash: &[u8; 32]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    hash.iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
