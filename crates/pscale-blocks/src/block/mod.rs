//! The block: a tree of texts with digits as addresses.

mod change;
mod diff;
mod found;
mod grow;
mod lint;
mod node;
mod normal;
mod op;
mod parse;
mod read;
mod search;
mod write;

pub(crate) use change::Restore;
pub use change::{Change, Grown, Inverse};
pub use diff::NodeDiff;
pub(crate) use found::FoundBlock;
pub use grow::{Appended, Summary, SummaryKind};
pub use lint::{Lint, LintKind};
pub(crate) use normal::NormalForm;
pub use normal::render_json;
pub use op::{Applied, Op};
pub use read::{BlockExcerpt, CutBlock, NodeLine, NodeView};
pub use search::Hit;

pub(crate) use node::Node;
use node::{Size, checked};

use crate::{BlockError, Path};

/// The longest text of a node in bytes.
pub const MAX_TEXT: usize = 64 << 10;
/// The longest file of a block in bytes, in its normal form.
pub const MAX_FILE: usize = 4 << 20;
/// The most nodes of a block, the tree itself not counted.
pub const MAX_NODES: usize = 200_000;
/// The highest decimal.
pub const MAX_DECIMAL: u8 = 32;

/// A tree of texts. Every node has up to ten nodes below it, at the digits 0 to 9.
///
/// `decimal` says how many levels lie above the entries: the *pscale* of a node is `decimal - depth`, above 0 wider and
/// below 0 finer. Two blocks are equal when their texts are.
#[derive(Debug, Clone)]
pub struct Block {
    decimal: u8,
    tree: Node,
    /// Of the tree, kept up to date by every change: the limits are checked without a walk.
    size: Size,
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.decimal == other.decimal && self.tree == other.tree
    }
}

impl Eq for Block {}

impl Block {
    /// A block with this head and nothing else. The text is cut at 64 KiB and loses U+0000.
    pub fn new(head_text: impl Into<String>) -> Self {
        let mut text: String = head_text.into();
        text.retain(|letter| letter != '\0');
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        let mut tree = Node::default();
        tree.children.insert(0, Node::leaf(text));
        Self::of(1, tree)
    }

    fn of(decimal: u8, tree: Node) -> Self {
        let size = tree.size();
        Self {
            decimal,
            tree,
            size,
        }
    }

    /// The number of levels above the entries, 0 to 32.
    pub fn decimal(&self) -> u8 {
        self.decimal
    }

    /// The nodes, the tree itself counted only when it has a text.
    pub fn nodes(&self) -> usize {
        self.size.nodes - usize::from(self.tree.text.is_none())
    }

    /// The node that says what the block is: the tree itself if decimal is 0, else its lowest digit.
    pub fn head(&self) -> Path {
        if self.decimal == 0 {
            return Path::root();
        }
        let digit = self.tree.children.keys().next();
        digit
            .and_then(|digit| Path::root().child(*digit).ok())
            .unwrap_or_default()
    }

    /// The head's text.
    pub fn head_text(&self) -> Option<&str> {
        self.node(&self.head())
            .and_then(|head| head.text.as_deref())
    }

    /// The pscale of the node at `path`, whether there is one or not: 0 for the head of a block that has not grown,
    /// -1 for its entries.
    pub fn pscale(&self, path: &Path) -> i32 {
        i32::from(self.decimal) - path.depth() as i32
    }

    /// The number of nodes with a text.
    pub(crate) fn text_count(&self) -> usize {
        self.size.texts
    }

    pub(crate) fn tree(&self) -> &Node {
        &self.tree
    }

    pub(crate) fn node(&self, path: &Path) -> Option<&Node> {
        self.tree.at(path.digits())
    }

    /// Changes texts, none of which may become empty or longer than a text may be.
    pub(crate) fn change_texts(&mut self, mut change: impl FnMut(&mut String)) {
        self.tree.change_texts(&mut change);
        self.size = self.tree.size();
    }

    /// The node at `path`, or how far one gets.
    fn found(&self, path: &Path) -> Result<&Node, BlockError> {
        self.node(path).ok_or_else(|| self.not_found(path))
    }

    fn not_found(&self, path: &Path) -> BlockError {
        let mut node = &self.tree;
        let mut deepest = 0;
        for digit in path.digits() {
            let Some(child) = node.children.get(digit) else {
                break;
            };
            node = child;
            deepest += 1;
        }
        let deepest = path.prefix(deepest);
        let mut parent = deepest;
        let head = self.head();
        if let Some(top) = self.node(&head).filter(|_| deepest.is_root()) {
            (node, parent) = (top, head);
        }
        BlockError::NotFound {
            block: None,
            path: *path,
            deepest,
            parent: Box::new(parent),
            children: node.children.keys().copied().collect(),
            near: self
                .moved_to(path)
                .or_else(|| self.below_head(path))
                .map(Box::new),
        }
    }

    /// The path of the node at `path` after growth: each growth put one digit 1 after the digit of the head.
    fn moved_to(&self, path: &Path) -> Option<Path> {
        let (first, rest) = path.digits().split_first()?;
        let mut places = (1..self.decimal).filter_map(|times| {
            let ones = std::iter::repeat_n(1, usize::from(times));
            let digits = std::iter::once(*first)
                .chain(ones)
                .chain(rest.iter().copied());
            let place = Path::from_digits(digits).ok()?;
            self.node(&place).map(|_| place)
        });
        let place = places.next()?;
        places.next().is_none().then_some(place)
    }

    /// The node at `path` read from the head on.
    fn below_head(&self, path: &Path) -> Option<Path> {
        let head = self.head();
        let digits = head.digits().iter().chain(path.digits()).copied();
        let place = Path::from_digits(digits).ok()?;
        self.node(&place).map(|_| place)
    }

    /// Whether the limits hold.
    fn check_limits(&self) -> Result<(), BlockError> {
        if self.nodes() > MAX_NODES {
            return Err(BlockError::TooLarge {
                what: "number of nodes",
                limit: MAX_NODES,
                size: self.nodes(),
            });
        }
        // A line of the normal form has two levels of indent, a key, quotes, braces and a comma, and a branch has two
        // further ones for its text and its end.
        let most = self.size.text + self.size.nodes * 3 * (2 * (crate::path::MAX_DEPTH + 2) + 12);
        if most <= MAX_FILE {
            return Ok(());
        }
        let size = self.file_bytes();
        if size > MAX_FILE {
            return Err(BlockError::TooLarge {
                what: "file in bytes",
                limit: MAX_FILE,
                size,
            });
        }
        Ok(())
    }
}
