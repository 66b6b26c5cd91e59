//! The uses of a log: to revert edits, to make them again, and to rebuild a block.

use super::{LogEntry, LoggedOp};
use crate::{Block, Inverse, Op};

/// The result of an undo or a redo.
pub(super) struct Stepped {
    /// The revisions of the edits, in the order in which they were taken back or made again.
    pub revs: Vec<u64>,
    /// The inverse of all of it.
    pub inverse: Inverse,
}

/// The edits that an undo and a redo of a block concern.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Steps {
    /// The revisions of the edits that an undo reverts, the first one first.
    pub undo: Vec<u64>,
    /// The revisions of the edits that a redo makes again, the first one first.
    pub redo: Vec<u64>,
}

impl Steps {
    /// The edits of the block whose entries are `log`.
    pub fn of(log: &[LogEntry]) -> Self {
        let revs = |entry: &LogEntry| entry.rev;
        Self {
            undo: done(log).map(revs).collect(),
            redo: undone(log).map(revs).collect(),
        }
    }
}

fn find(log: &[LogEntry], rev: u64) -> Option<&LogEntry> {
    let index = log.binary_search_by_key(&rev, |entry| entry.rev).ok()?;
    log.get(index)
}

/// A way back through a log, from its newest entry: which of the entries are the edits that led to the block as it is.
#[derive(Default)]
pub(super) struct UndoWalk {
    /// The revision and the hash of the block before the edits so far. `None` at the beginning.
    before: Option<(u64, Option<String>)>,
}

impl UndoWalk {
    /// Takes the next older entry; returns whether it is such an edit. `None` where the way ends: at the block's making, at
    /// an entry without inverse, at a missing entry.
    pub fn step(&mut self, entry: &LogEntry) -> Option<bool> {
        let (at, hash) = match self.before.take() {
            Some(before) => before,
            None => (entry.rev, entry.after_hash.clone()),
        };
        if entry.rev > at {
            self.before = Some((at, hash));
            return Some(false);
        }
        if entry.rev < at || entry.after_hash != hash {
            return None;
        }
        // The block after an undo is the one before the oldest of its edits.
        let (back, hash, is_edit) = match &entry.op {
            LoggedOp::Create { .. } | LoggedOp::Delete => return None,
            LoggedOp::Edit(_) => {
                entry.inverse.as_ref()?;
                (entry.rev.saturating_sub(1), entry.before_hash.clone(), true)
            }
            LoggedOp::Undo { revs, .. } => (revs.last()?.checked_sub(1)?, hash, false),
            LoggedOp::Redo { revs } => (*revs.last()?, hash, false),
        };
        self.before = (back < entry.rev).then_some((back, hash));
        self.before.is_some().then_some(is_edit)
    }
}

/// The edits that led to the block as it is, newest first: see [`UndoWalk`].
pub(super) fn done(log: &[LogEntry]) -> impl Iterator<Item = &LogEntry> {
    let mut walk = UndoWalk::default();
    let found = log
        .iter()
        .rev()
        .map_while(move |entry| Some((walk.step(entry)?, entry)));
    found.filter_map(|(is_edit, entry)| is_edit.then_some(entry))
}

/// The edits that were taken back since the last edit, the last one first, up to a missing entry.
pub(super) fn undone(log: &[LogEntry]) -> impl Iterator<Item = &LogEntry> {
    let is_step =
        |entry: &LogEntry| matches!(entry.op, LoggedOp::Undo { .. } | LoggedOp::Redo { .. });
    let steps = log
        .iter()
        .rposition(|entry| !is_step(entry))
        .map_or(0, |last| last + 1);
    let mut stack: Vec<u64> = Vec::new();
    for entry in &log[steps..] {
        match &entry.op {
            // Older programs took an undo back as if it were an edit.
            LoggedOp::Undo { revs, .. }
                if revs.iter().any(|rev| find(log, *rev).is_some_and(is_step)) =>
            {
                stack.clear();
            }
            LoggedOp::Undo { revs, .. } => stack.extend(revs),
            LoggedOp::Redo { revs } => stack.truncate(stack.len().saturating_sub(revs.len())),
            _ => {}
        }
    }
    stack.into_iter().rev().map_while(|rev| find(log, rev))
}

/// Takes up to `count` edits back. None if what comes out is not what the log says was there; then `block` is as it was.
pub(super) fn undo(block: &mut Block, log: &[LogEntry], count: usize) -> Option<Stepped> {
    step(block, done(log).take(count), |block, entry| {
        Some((block.revert(entry.inverse.as_ref()?), &entry.before_hash))
    })
}

/// Makes up to `count` edits again. None if what comes out is not what the log says was there; then `block` is as it was.
pub(super) fn redo(block: &mut Block, log: &[LogEntry], count: usize) -> Option<Stepped> {
    step(block, undone(log).take(count), |block, entry| {
        let LoggedOp::Edit(op) = &entry.op else {
            return None;
        };
        let applied = block.apply(op).ok()?;
        Some((applied.change()?.inverse.clone(), &entry.after_hash))
    })
}

/// Does each of `entries`; `one` answers what takes it back, and the hash of the block that it leads to.
fn step<'a>(
    block: &mut Block,
    entries: impl Iterator<Item = &'a LogEntry>,
    one: impl Fn(&mut Block, &'a LogEntry) -> Option<(Inverse, &'a Option<String>)>,
) -> Option<Stepped> {
    let before = block.clone();
    let mut stepped = Stepped {
        revs: Vec::new(),
        inverse: Inverse::default(),
    };
    let mut expected = None;
    for entry in entries {
        let Some((inverse, hash)) = one(block, entry) else {
            *block = before;
            return None;
        };
        stepped.revs.push(entry.rev);
        stepped.inverse = inverse;
        expected = hash.as_ref();
    }
    if expected.is_some_and(|hash| *hash != hex::encode(block.hash())) {
        *block = before;
        return None;
    }
    if stepped.revs.len() > 1 {
        // Shorter than all the steps, if there are many.
        stepped.inverse = Inverse::block(before);
    }
    Some(stepped)
}

/// As [`replay`], and `None` also if the result is not what the log says.
pub(super) fn rebuild(log: &[LogEntry], known: Option<&Block>) -> Option<Block> {
    let last = log.last()?.after_hash.as_deref()?;
    replay(log, known).filter(|block| hex::encode(block.hash()) == last)
}

/// Makes the block again that `log` ends with: from the last whole block in it, or from `known`, a block that it was
/// once. None if it cannot be done.
pub(super) fn replay(log: &[LogEntry], known: Option<&Block>) -> Option<Block> {
    let known_hash = known.map(|block| hex::encode(block.hash()));
    let begin = |entry: &LogEntry| {
        let is_known = known_hash.is_some() && entry.after_hash == known_hash;
        whole(entry).or(known.filter(|_| is_known)).cloned()
    };
    let (start, mut block) = log
        .iter()
        .enumerate()
        .rev()
        .find_map(|(index, entry)| Some((index, begin(entry)?)))?;
    for entry in &log[start + 1..] {
        match &entry.op {
            LoggedOp::Create { .. } | LoggedOp::Delete => return None,
            LoggedOp::Edit(op) => {
                block.apply(op).ok()?;
            }
            LoggedOp::Undo { revs, .. } => {
                for rev in revs {
                    block.revert(find(log, *rev)?.inverse.as_ref()?);
                }
            }
            LoggedOp::Redo { revs } => {
                for rev in revs {
                    let LoggedOp::Edit(op) = &find(log, *rev)?.op else {
                        return None;
                    };
                    block.apply(op).ok()?;
                }
            }
        }
    }
    Some(block)
}

/// The block that the entry has as a whole.
pub(super) fn whole(entry: &LogEntry) -> Option<&Block> {
    match &entry.op {
        LoggedOp::Create { block } | LoggedOp::Edit(Op::Replace { block }) => Some(block),
        _ => None,
    }
}
