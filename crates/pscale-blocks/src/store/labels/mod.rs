//! The labels of nodes: the places outside that their texts come from.
//!
//! They are derived from the log. An edit costs nothing for them: they are brought up to date when they are asked for.

mod file;
mod update;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use file::{decode, encode};
pub(super) use update::{KEEP_EVERY, LabelledBlock, current};

use super::{LogEntry, LoggedOp, Origins};
use crate::block::Restore;
use crate::{Block, EditAuthor, Inverse, Op, Path};

/// The labels of a block's nodes. The label of a node is the [`Origins`] of its last write; a node that was last written without
/// any has no label.
///
/// Growth, a move and an undo carry labels. A write by the person removes a label, also one that the person approved and that keeps
/// its origins in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// The revision of the block.
    rev: u64,
    /// The hash of the block at that revision, as its log has it.
    hash: Option<String>,
    /// The label of the block's name.
    name: Origins,
    nodes: BTreeMap<Path, Origins>,
    /// The labels that each of the last edits replaced or removed, by its revision.
    replaced: BTreeMap<u64, BTreeMap<Path, Origins>>,
    /// The revision of the labels that are kept.
    kept: u64,
    /// Whether others are kept.
    is_changed: bool,
}

impl Labels {
    /// The label of the node at `path`. `None` if its text comes from no place outside.
    pub fn at(&self, path: &Path) -> Option<&Origins> {
        self.nodes.get(path)
    }

    /// The places outside that the name of the block comes from: those of its creation.
    pub fn name(&self) -> &Origins {
        &self.name
    }

    /// Whether nothing has a label.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty() && self.nodes.is_empty()
    }

    /// All nodes with a label.
    pub fn nodes(&self) -> &BTreeMap<Path, Origins> {
        &self.nodes
    }

    /// The revision of the block that has these labels. 0 if nothing is known about them.
    pub fn rev(&self) -> u64 {
        self.rev
    }

    /// Labels of the block at a revision at which it has none.
    fn none_at(rev: u64, hash: Option<String>) -> Self {
        Self {
            rev,
            hash,
            ..Self::default()
        }
    }

    /// Takes the next entry of the log in. `log` has the edits that it names; `named` are those that any entry of it names.
    fn follow(&mut self, entry: &LogEntry, log: &[LogEntry], named: &BTreeSet<u64>) {
        let find = |rev: &u64| {
            let at = log.binary_search_by_key(rev, |entry| entry.rev).ok()?;
            log.get(at)
        };
        match &entry.op {
            LoggedOp::Create { block } => {
                self.clear();
                let name = label_of(entry, &block.head());
                self.is_changed |= self.name != name;
                self.name = name;
                for (path, _) in texts(block) {
                    self.set(path, &label_of(entry, &path));
                }
            }
            LoggedOp::Delete => self.clear(),
            LoggedOp::Edit(op) => self.edit(op, entry),
            LoggedOp::Undo { revs, .. } => {
                // Logs of older programs have undos of undos, which bring all back that was there.
                let is_named = named.contains(&entry.rev);
                let before = is_named.then(|| self.nodes.clone());
                revs.iter()
                    .filter_map(find)
                    .for_each(|edit| self.revert(edit));
                self.keep_replaced(entry.rev, before.unwrap_or_default());
            }
            LoggedOp::Redo { revs } => {
                for edit in revs.iter().filter_map(find) {
                    if let LoggedOp::Edit(op) = &edit.op {
                        self.edit(op, edit);
                    }
                }
            }
        }
        self.rev = entry.rev;
        self.hash.clone_from(&entry.after_hash);
    }

    /// Takes an edit in. The steps back say what it did.
    fn edit(&mut self, op: &Op, entry: &LogEntry) {
        // A way back needs no labels but those that are there.
        if let Op::Relocate { from, to } = op {
            return self.relocate(from, to);
        }
        let written = match op {
            Op::Write { path, .. } => Some(*path),
            Op::Append { .. } => entry.path,
            _ => None,
        };
        let mut gone = BTreeMap::new();
        for step in entry
            .inverse
            .iter()
            .flat_map(|inverse| inverse.steps().iter().rev())
        {
            match step {
                Restore::Text { path, .. } => {
                    gone.extend(self.remove(path));
                    self.set(*path, &label_of(entry, path));
                }
                Restore::Node { path, node } => {
                    gone.extend(self.cut(path));
                    if let Some(written) = written.filter(|written| path.holds(written))
                        && node.is_none()
                    {
                        self.set(written, &label_of(entry, &written));
                    }
                }
                Restore::Shrink { decimal } => {
                    let summary = self.grow(head_of(entry), *decimal == 0);
                    if let Some(path) = summary {
                        self.set(path, &label_of(entry, &path));
                    }
                }
                Restore::Block { block: before } => {
                    if let Op::Replace { block: after } = op {
                        gone.extend(self.replace(before, after, entry));
                    }
                }
                Restore::Decimal { .. } | Restore::Regrow { .. } => {}
            }
        }
        // The block before is not known, and any text may have been moved.
        if let Op::Replace { block } = op
            && entry.inverse.is_none()
        {
            let any = Origins::union(self.nodes.values());
            self.clear();
            for (path, _) in texts(block) {
                self.set(path, &Origins::union([&any, &label_of(entry, &path)]));
            }
        }
        self.keep_replaced(entry.rev, gone);
    }

    /// Keeps the labels that the edit of a revision replaced or removed.
    fn keep_replaced(&mut self, rev: u64, gone: BTreeMap<Path, Origins>) {
        self.is_changed |= !gone.is_empty();
        if gone.is_empty() {
            self.is_changed |= self.replaced.remove(&rev).is_some();
        } else {
            self.replaced.insert(rev, gone);
        }
    }

    fn relocate(&mut self, from: &Path, to: &Path) {
        for (path, origins) in self.cut(from) {
            if let Some(place) = moved(&path, from, to) {
                self.set(place, &origins);
            }
        }
    }

    /// Compares a block with the one in its place, node by node; returns the labels that are replaced. A text that has another
    /// place keeps its label.
    fn replace(
        &mut self,
        before: &Block,
        after: &Block,
        entry: &LogEntry,
    ) -> BTreeMap<Path, Origins> {
        let changes = before.diff(after);
        let mut gone = BTreeMap::new();
        let mut by_text: BTreeMap<&String, Origins> = BTreeMap::new();
        for change in &changes {
            if let Some((path, origins)) = self.remove(&change.path) {
                if let Some(text) = &change.before {
                    // Which of two equal texts is where is not known.
                    let all = by_text.entry(text).or_default();
                    *all = Origins::union([&*all, &origins]);
                }
                gone.insert(path, origins);
            }
        }
        for change in &changes {
            if let Some(text) = &change.after {
                let label = label_of(entry, &change.path);
                let carried = by_text.get(text).into_iter();
                self.set(change.path, &Origins::union(carried.chain([&label])));
            }
        }
        // A text that was there already may have come from these places, too.
        for (path, label) in &entry.labels {
            if after.text(path).is_ok_and(|text| text.is_some()) {
                let known = self.nodes.get(path).into_iter();
                let all = Origins::union(known.chain([label]));
                self.set(*path, &all);
            }
        }
        gone
    }

    /// Takes an edit back.
    fn revert(&mut self, entry: &LogEntry) {
        let replaced = self.replaced.get(&entry.rev).cloned();
        if let LoggedOp::Undo { .. } = entry.op {
            self.is_changed = true;
            self.nodes = replaced.unwrap_or_default();
            return;
        }
        if let LoggedOp::Edit(Op::Relocate { from, to }) = &entry.op {
            return self.relocate(to, from);
        }
        for step in entry.inverse.iter().flat_map(Inverse::steps) {
            match (step, &entry.op) {
                (Restore::Text { path, .. }, _) => {
                    self.remove(path);
                }
                (Restore::Node { path, .. }, _) => {
                    self.cut(path);
                }
                (Restore::Shrink { decimal }, _) => self.shrink(head_of(entry), *decimal == 0),
                (Restore::Block { block }, LoggedOp::Edit(Op::Replace { block: after })) => {
                    for change in block.diff(after) {
                        self.remove(&change.path);
                    }
                }
                // The rest is in undos alone, or changes no text.
                (Restore::Block { .. } | Restore::Regrow { .. } | Restore::Decimal { .. }, _) => {}
            }
        }
        for (path, origins) in replaced.unwrap_or_default() {
            self.set(path, &origins);
        }
    }

    /// Moves what is below the head to its child 1, and a head without decimal below the tree. Returns the place of the summary.
    fn grow(&mut self, head: Path, is_first: bool) -> Option<Path> {
        let old = if is_first { Path::root() } else { head };
        let summary = head.child(1).ok()?;
        self.rename(|path| match path {
            path if *path == old => Some(head),
            path => moved(path, &old, &summary).or(Some(*path)),
        });
        Some(summary)
    }

    fn shrink(&mut self, head: Path, is_first: bool) {
        let old = if is_first { Path::root() } else { head };
        let Ok(summary) = head.child(1) else { return };
        self.rename(|path| match path {
            path if *path == head => Some(old),
            path if *path == summary => None,
            path => moved(path, &summary, &old).or(Some(*path)),
        });
    }

    /// Gives every label another path, or removes it.
    fn rename(&mut self, to: impl Fn(&Path) -> Option<Path>) {
        self.is_changed |= !self.nodes.is_empty();
        let nodes = std::mem::take(&mut self.nodes).into_iter();
        self.nodes = nodes
            .filter_map(|(path, origins)| Some((to(&path)?, origins)))
            .collect();
    }

    fn set(&mut self, path: Path, origins: &Origins) {
        if origins.is_empty() {
            self.remove(&path);
        } else {
            self.is_changed = true;
            self.nodes.insert(path, origins.clone());
        }
    }

    fn remove(&mut self, path: &Path) -> Option<(Path, Origins)> {
        let removed = self.nodes.remove_entry(path);
        self.is_changed |= removed.is_some();
        removed
    }

    /// Removes the labels of the node at `path` and of those below it.
    fn cut(&mut self, path: &Path) -> Vec<(Path, Origins)> {
        let below = self.nodes.range(path..).map(|(below, _)| *below);
        let below: Vec<_> = below.take_while(|below| path.holds(below)).collect();
        below
            .iter()
            .filter_map(|below| self.remove(below))
            .collect()
    }

    fn clear(&mut self) {
        self.is_changed |= !self.nodes.is_empty();
        self.nodes.clear();
    }
}

/// The label that an edit gives to the text that it writes at `path`.
fn label_of(entry: &LogEntry, path: &Path) -> Origins {
    let own = match entry.by {
        EditAuthor::Person => Origins::default(),
        _ => entry.origins(),
    };
    Origins::union([&own].into_iter().chain(entry.labels.get(path)))
}

/// Whether an edit can give a label.
fn gives_labels(entry: &LogEntry) -> bool {
    !(entry.labels.is_empty() && label_of(entry, &Path::root()).is_empty())
}

/// The head of a block that grew: what the edit wrote is the head, or below it.
fn head_of(entry: &LogEntry) -> Path {
    let path = entry.path.unwrap_or_default();
    let digit = path.digits().first().copied().unwrap_or(0);
    Path::root().child(digit).unwrap_or_default()
}

/// The path of a node at or below `from` after that one has moved to `to`.
fn moved(path: &Path, from: &Path, to: &Path) -> Option<Path> {
    let rest = path.digits().strip_prefix(from.digits())?;
    Path::from_digits(to.digits().iter().chain(rest).copied()).ok()
}

/// The nodes of a block that have a text.
fn texts(block: &Block) -> Vec<(Path, &str)> {
    let mut texts = Vec::new();
    block.tree().walk(Path::root(), &mut |path, node| {
        texts.extend(node.text.as_deref().map(|text| (path, text)));
        true
    });
    texts
}
