//! The effect of an operation, and its inverse.

use std::{fmt, mem};

use serde::{Deserialize, Serialize, Serializer};

use super::parse::Subtree;
use super::{Block, MAX_DECIMAL, MAX_TEXT, Node};
use crate::Path;
use crate::path::MAX_DEPTH;

/// The effect of an operation on a block.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The node that was written, or the head when the whole block changed.
    pub path: Path,
    /// The levels above it that were made on the way and have no text.
    pub created: Vec<Path>,
    /// The nodes that have another path now, if the block grew.
    pub grown: Option<Grown>,
    /// The node whose text is the summary that was given, if one was written.
    pub summary: Option<Path>,
    /// The inverse of the change.
    pub inverse: Inverse,
}

/// A growth of a block: its nodes at `from.N` are at `to.N` now. In JSON the two fields have that form; displayed, it
/// is a sentence such as `0.1 to 0.9 are now 0.1.1 to 0.1.9`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Grown {
    /// The former place of the entries: the head, or the tree with decimal 0.
    #[serde(serialize_with = "any_below")]
    pub from: Path,
    /// The new place of the entries.
    #[serde(serialize_with = "any_below")]
    pub to: Path,
    /// Their digits, from the lowest to the highest.
    #[serde(skip)]
    pub digits: Vec<u8>,
}

fn below(path: &Path, digit: impl fmt::Display) -> String {
    if path.is_root() {
        digit.to_string()
    } else {
        format!("{path}.{digit}")
    }
}

fn any_below<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&below(path, 'N'))
}

impl fmt::Display for Grown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(first), Some(last)) = (self.digits.first(), self.digits.last()) else {
            return Ok(());
        };
        let all = |path| (below(path, first), below(path, last));
        let (from, to) = (all(&self.from), all(&self.to));
        if first == last {
            write!(f, "{} is now {}", from.0, to.0)
        } else {
            write!(f, "{} to {} are now {} to {}", from.0, from.1, to.0, to.1)
        }
    }
}

/// Takes a change back. It fits only the block as the change left it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Inverse(Vec<Restore>);

/// One step back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Restore {
    /// The node has this text.
    Text { path: Path, text: Option<String> },
    /// Puts this node at the path, or removes what is there.
    Node { path: Path, node: Option<Subtree> },
    /// The decimal is this.
    Decimal { decimal: u8 },
    /// One growth less: the head's child 1 is the head again, with the head's text, and the decimal is this.
    Shrink { decimal: u8 },
    /// One growth more, with this as the text of the old head's new place.
    Regrow { summary: Option<String> },
    /// The whole block is this.
    Block { block: Block },
}

impl Inverse {
    pub(super) fn text(path: Path, text: Option<String>) -> Self {
        Self(vec![Restore::Text { path, text }])
    }

    pub(super) fn node(path: Path, node: Option<Node>) -> Self {
        let node = node.map(Subtree);
        Self(vec![Restore::Node { path, node }])
    }

    pub(super) fn decimal(decimal: u8) -> Self {
        Self(vec![Restore::Decimal { decimal }])
    }

    pub(super) fn shrink(decimal: u8) -> Self {
        Self(vec![Restore::Shrink { decimal }])
    }

    pub(crate) fn block(block: Block) -> Self {
        Self(vec![Restore::Block { block }])
    }

    /// The steps: first the one that reverts what was done last.
    pub(crate) fn steps(&self) -> &[Restore] {
        &self.0
    }

    /// First `later`, then this one.
    pub(crate) fn after(self, mut later: Self) -> Self {
        later.0.extend(self.0);
        later
    }
}

impl Block {
    /// Takes a change back, and answers what makes it again. `inverse` must be that of the block's last change: another
    /// one does what it says where it can, and nothing at all if no block would be left.
    pub fn revert(&mut self, inverse: &Inverse) -> Inverse {
        let before = self.clone();
        let mut redo = Inverse::default();
        for step in &inverse.0 {
            redo = redo.after(Inverse(vec![self.restore(step)]));
        }
        self.size = self.tree.size();
        // A log that was tampered with may hold steps that leave no block.
        if !self.is_sound() || self.check_limits().is_err() {
            *self = before;
            return Inverse::default();
        }
        redo
    }

    /// Whether the block has the form that the parser lets in.
    fn is_sound(&self) -> bool {
        let mut sound = self.decimal == 0 || (self.tree.text.is_none() && !self.tree.is_leaf());
        sound &= self.decimal <= MAX_DECIMAL && self.tree.height() <= MAX_DEPTH;
        self.tree.walk(Path::root(), &mut |_, node| {
            sound &= match &node.text {
                Some(text) => text.len() <= MAX_TEXT && !text.contains('\0'),
                None => !node.is_leaf(),
            };
            sound
        });
        sound
    }

    fn restore(&mut self, step: &Restore) -> Restore {
        match step {
            Restore::Text { path, text } => {
                let node = self.tree.at_mut(path.digits());
                let old = node.map(|node| mem::replace(&mut node.text, text.clone()));
                Restore::Text {
                    path: *path,
                    text: old.flatten(),
                }
            }
            Restore::Node { path, node } => {
                let old = self.put(*path, node.clone().map(|node| node.0));
                Restore::Node {
                    path: *path,
                    node: old.map(Subtree),
                }
            }
            Restore::Decimal { decimal } => Restore::Decimal {
                decimal: mem::replace(&mut self.decimal, *decimal),
            },
            Restore::Shrink { decimal } => Restore::Regrow {
                summary: self.shrink(*decimal),
            },
            Restore::Regrow { summary } => {
                let decimal = self.decimal;
                // Else a log of many such steps makes a tree that no stack holds.
                if self.tree.height() < MAX_DEPTH && decimal < MAX_DECIMAL {
                    self.regrow(summary.clone());
                }
                Restore::Shrink { decimal }
            }
            Restore::Block { block } => Restore::Block {
                block: mem::replace(self, block.clone()),
            },
        }
    }

    /// Puts a node at `path`, or removes the node there; returns the former node. The node above must exist.
    pub(super) fn put(&mut self, path: Path, node: Option<Node>) -> Option<Node> {
        let Some((digit, above)) = path.digits().split_last() else {
            return node.map(|node| mem::replace(&mut self.tree, node));
        };
        let parent = self.tree.at_mut(above)?;
        match node {
            Some(node) => parent.children.insert(*digit, node),
            None => parent.children.remove(digit),
        }
    }
}
