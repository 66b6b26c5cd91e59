use std::collections::BTreeMap;

use serde::Serialize;

use super::Block;
use crate::Path;

/// A text that is not the same in two blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NodeDiff {
    /// The node.
    pub path: Path,
    /// The text in the first block. `None` if there is no such node, or the node has no text.
    pub before: Option<String>,
    /// The text in the second block. `None` as in `before`.
    pub after: Option<String>,
}

impl Block {
    /// The texts that differ, in order of their paths. Without any, the trees are equal: a node without text is there only
    /// for those below it. The decimals are not compared, and a node that has moved is two differences.
    pub fn diff(&self, other: &Self) -> Vec<NodeDiff> {
        let mut texts: BTreeMap<Path, [Option<&str>; 2]> = BTreeMap::new();
        for (side, block) in [self, other].into_iter().enumerate() {
            block.tree.walk(Path::root(), &mut |path, node| {
                if node.text.is_some() {
                    texts.entry(path).or_default()[side] = node.text.as_deref();
                }
                true
            });
        }
        let differ = texts
            .into_iter()
            .filter(|(_, [before, after])| before != after);
        differ
            .map(|(path, [before, after])| NodeDiff {
                path,
                before: before.map(str::to_owned),
                after: after.map(str::to_owned),
            })
            .collect()
    }
}
