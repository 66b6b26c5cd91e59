use std::collections::BTreeMap;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::{BlockError, Path};

/// A node: its text, if it has one, and the nodes below. Without any below it is a leaf.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Node {
    pub text: Option<String>,
    pub children: BTreeMap<u8, Node>,
}

/// The size of a node and all below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Size {
    /// The number of nodes.
    pub nodes: usize,
    /// Nodes that have a text.
    pub texts: usize,
    /// Bytes of their texts as JSON strings, without the quotes.
    pub text: usize,
}

impl Node {
    pub fn leaf(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            children: BTreeMap::new(),
        }
    }

    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// The node at `digits` below this one.
    pub fn at(&self, digits: &[u8]) -> Option<&Self> {
        digits
            .iter()
            .try_fold(self, |node, digit| node.children.get(digit))
    }

    pub fn at_mut(&mut self, digits: &[u8]) -> Option<&mut Self> {
        digits
            .iter()
            .try_fold(self, |node, digit| node.children.get_mut(digit))
    }

    /// The highest digit of 1 to 9 that is used.
    pub fn highest(&self) -> Option<u8> {
        self.children
            .range(1..=9)
            .next_back()
            .map(|(digit, _)| *digit)
    }

    /// The digit for the next entry: after the highest used one; if 9 is used, the lowest free one.
    pub fn next_free(&self) -> Option<u8> {
        match self.highest() {
            None => Some(1),
            Some(9) => (1..=9).find(|digit| !self.children.contains_key(digit)),
            Some(digit) => Some(digit + 1),
        }
    }

    /// The number of levels below. 0 for a leaf.
    pub fn height(&self) -> usize {
        let below = self.children.values().map(|child| child.height() + 1);
        below.max().unwrap_or(0)
    }

    pub fn size(&self) -> Size {
        let own = Size {
            nodes: 1,
            texts: usize::from(self.text.is_some()),
            text: self.text.as_deref().map_or(0, json_length),
        };
        self.children.values().fold(own, |sum, child| {
            let child = child.size();
            Size {
                nodes: sum.nodes + child.nodes,
                texts: sum.texts + child.texts,
                text: sum.text + child.text,
            }
        })
    }

    /// Changes the texts of this node and of those below, in order of their paths.
    pub fn change_texts(&mut self, change: &mut impl FnMut(&mut String)) {
        self.text.iter_mut().for_each(&mut *change);
        for child in self.children.values_mut() {
            child.change_texts(change);
        }
    }

    /// Visits this node, which is at `path`, and those below in order of their paths. `visit` says whether to go below.
    pub fn walk<'a>(&'a self, path: Path, visit: &mut impl FnMut(Path, &'a Self) -> bool) {
        if !visit(path, self) {
            return;
        }
        for (digit, child) in &self.children {
            // A block holds no deeper node than a path can name.
            if let Ok(below) = path.child(*digit) {
                child.walk(below, visit);
            }
        }
    }
}

/// Bytes of `text` as a JSON string without its quotes.
pub(super) fn json_length(text: &str) -> usize {
    text.bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
            0..=0x1f => 6,
            _ => 1,
        })
        .sum()
}

/// `text` as the text of a node.
pub(crate) fn checked(text: &str) -> Result<&str, BlockError> {
    if text.trim().is_empty() {
        return Err(BlockError::EmptyContent);
    }
    if text.len() > crate::MAX_TEXT {
        return Err(BlockError::TooLarge {
            what: "text in bytes",
            limit: crate::MAX_TEXT,
            size: text.len(),
        });
    }
    if text.contains('\0') {
        return Err(BlockError::Format {
            reason: "a text holds the character U+0000, which no block may".to_owned(),
        });
    }
    Ok(text)
}

/// The normal form: a leaf is its text; a branch has `_` first, then the digits in order.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) if self.is_leaf() => serializer.serialize_str(text),
            _ => self.as_branch().serialize(serializer),
        }
    }
}

/// A node that is written as an object in any case.
pub(crate) struct Branch<'a>(&'a Node);

impl Node {
    /// As the tree of a block is written: it is an object even if a text is all it has.
    pub fn as_branch(&self) -> Branch<'_> {
        Branch(self)
    }
}

impl Serialize for Branch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(Node { text, children }) = self;
        let entries = children.len() + usize::from(text.is_some());
        let mut map = serializer.serialize_map(Some(entries))?;
        if let Some(text) = text {
            map.serialize_entry("_", text)?;
        }
        for (digit, child) in children {
            map.serialize_entry(DIGITS[usize::from(*digit)], child)?;
        }
        map.end()
    }
}

/// The keys of the nodes below a node.
pub(super) const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
