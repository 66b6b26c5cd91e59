use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::{Block, Node};
use crate::{BlockError, Path};

/// A node and one level below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NodeView {
    /// The node.
    pub path: Path,
    /// The width; see [`Block::pscale`].
    pub pscale: i32,
    /// The text of the node.
    pub content: Option<String>,
    /// The nodes below, digit by digit, with their texts. `None` for a leaf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<BTreeMap<u8, Option<String>>>,
    /// The digits of the children that have children themselves.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "digits")]
    pub more: Option<Vec<u8>>,
    /// The place of the next entry. `None` when nine are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_free: Option<Option<Path>>,
}

/// A digit is a key, and keys are texts.
#[expect(clippy::ref_option, reason = "serde gives the field")]
fn digits<S: Serializer>(digits: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(digits.iter().flatten().map(u8::to_string))
}

/// A node on the way, or of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NodeLine {
    /// The node.
    pub path: Path,
    /// The width; see [`Block::pscale`].
    pub pscale: i32,
    /// The text of the node.
    pub text: Option<String>,
}

/// A whole block, or as much of it as fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum BlockExcerpt {
    /// All of it.
    Full(Block),
    /// Cut at a level.
    Cut(CutBlock),
}

/// The upper levels of a block. A branch that is cut is its text and the number of nodes left out: `text (+n)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CutBlock {
    decimal: u8,
    /// Always `true`; a block has no such field.
    truncated: bool,
    #[serde(serialize_with = "branch")]
    tree: Node,
}

fn branch<S: Serializer>(tree: &Node, serializer: S) -> Result<S::Ok, S::Error> {
    tree.as_branch().serialize(serializer)
}

impl Block {
    /// The text of the node at `path`. `None` if the node has no text.
    ///
    /// # Errors
    /// [`BlockError::NotFound`].
    pub fn text(&self, path: &Path) -> Result<Option<&str>, BlockError> {
        Ok(self.found(path)?.text.as_deref())
    }

    /// The node at `path` and one level below.
    ///
    /// # Errors
    /// [`BlockError::NotFound`].
    pub fn view(&self, path: &Path) -> Result<NodeView, BlockError> {
        let node = self.found(path)?;
        let branch = !node.is_leaf();
        Ok(NodeView {
            path: *path,
            pscale: self.pscale(path),
            content: node.text.clone(),
            children: branch.then(|| {
                let below = node.children.iter();
                below
                    .map(|(digit, child)| (*digit, child.text.clone()))
                    .collect()
            }),
            more: branch.then(|| {
                let below = node.children.iter();
                let branches = below.filter(|(_, child)| !child.is_leaf());
                branches.map(|(digit, _)| *digit).collect()
            }),
            next_free: branch.then(|| path.child(node.next_free()?).ok()),
        })
    }

    /// The nodes on the way to `path`, widest first, the node itself last. The tree itself is one of them with decimal 0.
    ///
    /// # Errors
    /// [`BlockError::NotFound`].
    pub fn spindle(&self, path: &Path) -> Result<Vec<NodeLine>, BlockError> {
        self.found(path)?;
        let first = usize::from(self.decimal > 0).min(path.depth());
        Ok((first..=path.depth())
            .filter_map(|depth| {
                let above = path.prefix(depth);
                self.node(&above).map(|node| self.step(above, node))
            })
            .collect())
    }

    /// The node at `path` and those below it, in order of their paths; `depth` levels, or all.
    ///
    /// # Errors
    /// [`BlockError::NotFound`].
    pub fn subtree(&self, path: &Path, depth: Option<u8>) -> Result<Vec<NodeLine>, BlockError> {
        let node = self.found(path)?;
        let mut steps = Vec::new();
        let last = depth.map_or(usize::MAX, |depth| path.depth() + usize::from(depth));
        node.walk(*path, &mut |path, node| {
            if !(path.is_root() && node.text.is_none()) {
                steps.push(self.step(path, node));
            }
            path.depth() < last
        });
        Ok(steps)
    }

    /// All nodes of one width, in order of their paths; see [`Block::pscale`].
    pub fn level(&self, pscale: i32) -> Vec<NodeLine> {
        let mut steps = Vec::new();
        self.tree.walk(Path::root(), &mut |path, node| {
            let here = self.pscale(&path);
            if here == pscale && !(path.is_root() && node.text.is_none()) {
                steps.push(self.step(path, node));
            }
            here > pscale
        });
        steps
    }

    fn step(&self, path: Path, node: &Node) -> NodeLine {
        NodeLine {
            path,
            pscale: self.pscale(&path),
            text: node.text.clone(),
        }
    }

    /// The block if its JSON has at most `budget` characters, else cut at the deepest level that fits (at least one).
    pub fn whole(&self, budget: usize) -> BlockExcerpt {
        let fits = |json: &str| json.chars().count() <= budget;
        if self.size.text <= 4 * budget && fits(&crate::render_json(self)) {
            return BlockExcerpt::Full(self.clone());
        }
        let cut = |levels| {
            BlockExcerpt::Cut(CutBlock {
                decimal: self.decimal,
                truncated: true,
                tree: cut(&self.tree, levels),
            })
        };
        let mut best = cut(1);
        for levels in 2..=crate::path::MAX_DEPTH {
            let next = cut(levels);
            let json = serde_json::to_string(&next).unwrap_or_default();
            if !fits(&json) {
                break;
            }
            best = next;
        }
        best
    }
}

/// `node` with `levels` levels below it.
fn cut(node: &Node, levels: usize) -> Node {
    if node.is_leaf() {
        return node.clone();
    }
    if levels == 0 {
        let left_out = format!("(+{})", node.size().nodes - 1);
        return Node::leaf(match &node.text {
            Some(text) => format!("{text} {left_out}"),
            None => left_out,
        });
    }
    let below = node.children.iter();
    Node {
        text: node.text.clone(),
        children: below
            .map(|(digit, child)| (*digit, cut(child, levels - 1)))
            .collect(),
    }
}
