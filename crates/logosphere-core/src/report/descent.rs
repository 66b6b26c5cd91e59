//! The largest lines of descent as a tree.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use report_kit::Tree;

use super::data::ReportData;
use super::messages::MessageBrowser;
use crate::measures::lineage::Node;

/// The largest number of nodes, of roots among them, and of steps from a root.
const NODES: usize = 60;
const ROOTS: usize = 6;
const DEPTH: u32 = 12;
/// The length of a text in a tooltip, in characters.
const NOTE: usize = 120;

/// Returns the tree of the messages with most descendants; `None` if no message has any.
pub(super) fn tree(data: &ReportData, messages: &MessageBrowser) -> Option<Tree> {
    let nodes = data.lineage.nodes();
    let mut children: BTreeMap<usize, Vec<&Node>> = BTreeMap::new();
    for node in nodes {
        if let Some(parent) = node.parent() {
            children.entry(parent.id.index()).or_default().push(node);
        }
    }
    let rank = |node: &Node| (node.descendants, Reverse(node.id));
    let mut roots: Vec<&Node> = (nodes.iter())
        .filter(|node| node.depth == 0 && node.descendants > 0)
        .collect();
    roots.sort_by_key(|node| Reverse(rank(node)));
    // The message with most descendants is next, so that every parent is before its children.
    let mut waiting: BinaryHeap<_> = (roots.into_iter().take(ROOTS))
        .map(|node| (rank(node), node.id.index(), None))
        .collect();
    let mut left_out: Vec<u64> = Vec::new();
    let mut tree = Tree::new(
        "The messages that most come from, each with those that come from it; + counts the ones left out",
    );
    while let Some((_, id, parent)) = waiting.pop() {
        let node = &nodes[id];
        if let Some(parent) = parent {
            left_out[parent] -= u64::from(node.descendants) + 1;
        }
        let place = add(&mut tree, data, messages, node, parent);
        left_out.push(node.descendants.into());
        if left_out.len() == NODES {
            break;
        }
        if node.depth < DEPTH {
            let below = children.get(&id).into_iter().flatten();
            waiting.extend(below.map(|child| (rank(child), child.id.index(), Some(place))));
        }
    }
    let is_drawn = !left_out.is_empty();
    for (place, count) in left_out.into_iter().enumerate() {
        tree.leave_out(place, count);
    }
    is_drawn.then_some(tree)
}

/// Adds a message to the tree and returns its index.
fn add(
    tree: &mut Tree,
    data: &ReportData,
    messages: &MessageBrowser,
    node: &Node,
    parent: Option<usize>,
) -> usize {
    let run = &data.transcript;
    let seed = if node.id.index() < run.seeds {
        "seed "
    } else {
        ""
    };
    let place = tree.node(parent, format!("{seed}{}", node.id));
    let text = &run.messages[node.id.index()].text;
    tree.note(place, text.chars().take(NOTE).collect::<String>());
    if let Some(anchor) = messages.anchor(node.id) {
        tree.link(place, anchor);
    }
    place
}
