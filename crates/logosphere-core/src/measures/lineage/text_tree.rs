//! The descendants of one root as a tree of texts that is small enough to be drawn.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::parent::Method;
use super::tree::Lineage;
use crate::measures::lists::Lists;
use crate::measures::metrics::corpus::Corpus;
use crate::pool::{MessageId, Round};
use crate::verify::Transcript;

/// The texts that descend from one root, folded to a limited number of nodes.
///
/// A node is all messages of equal tokens whose best parents are in one node. A node of one message with one child is a
/// part of the line to that child. If there are more nodes than wanted, those without children and with fewest messages
/// are folded into their parents.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextTree {
    /// The nodes in the order of a depth-first walk; the first is the root.
    pub nodes: Vec<TextNode>,
    /// The number of nodes that were folded.
    pub folded: usize,
}

/// A node of a [`TextTree`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextNode {
    /// The first message with this text.
    pub id: MessageId,
    /// The round of that message; 0 for seed messages.
    pub round: Round,
    /// The index of the parent node; `None` for the root.
    pub parent: Option<usize>,
    /// Whether all steps of the line from the parent are copies with equal tokens, or some are similar only; `None` for
    /// the root.
    pub method: Option<Method>,
    /// The number of nodes of one message that are a part of the line from the parent.
    pub passed: usize,
    /// The number of messages.
    pub messages: usize,
    /// The number of messages in nodes that were folded into this one.
    pub folded: usize,
}

/// A node before it is folded.
struct FullNode {
    id: usize,
    parent: Option<usize>,
    children: Vec<usize>,
    method: Option<Method>,
    passed: usize,
    messages: usize,
    folded: usize,
    is_drawn: bool,
}

impl Lineage {
    /// Returns the roots, seed messages and innovations, with most messages in their lines, the largest first; at most
    /// `most`.
    pub fn largest_roots(&self, most: usize) -> Vec<MessageId> {
        let nodes = self.nodes().iter();
        let mut roots: Vec<_> = nodes.filter(|node| node.parents.is_empty()).collect();
        roots.sort_by_key(|node| (Reverse(node.descendants), node.id));
        roots.into_iter().take(most).map(|node| node.id).collect()
    }

    /// Returns the tree of the texts that descend from a root, with at most `most` nodes. `run` is the run of this
    /// lineage.
    pub fn text_tree(&self, run: &Transcript, root: MessageId, most: usize) -> TextTree {
        let mut nodes = self.texts_below(run, root);
        pass(&mut nodes);
        let folded = fold(&mut nodes, most.max(1));
        TextTree {
            nodes: self.walk(&nodes),
            folded,
        }
    }

    /// Returns the nodes of a root before they are folded, parents before their children.
    fn texts_below(&self, run: &Transcript, root: MessageId) -> Vec<FullNode> {
        let lists = Lists::of(&Corpus::of(run));
        let mut nodes: Vec<FullNode> = Vec::new();
        let mut node_of: HashMap<usize, usize> = HashMap::new();
        let mut known: HashMap<(usize, u32), usize> = HashMap::new();
        let in_line = self.nodes().iter().filter(|node| node.root == root);
        for message in in_line {
            let id = message.id.index();
            let parent = message.parent();
            let above = parent.and_then(|parent| node_of.get(&parent.id.index()).copied());
            let next = nodes.len();
            let place = match above {
                Some(above) => *known.entry((above, lists.kind_of(id))).or_insert(next),
                None => next,
            };
            if place == next {
                nodes.push(FullNode {
                    id,
                    parent: above,
                    children: Vec::new(),
                    method: parent.map(|parent| parent.method),
                    passed: 0,
                    messages: 0,
                    folded: 0,
                    is_drawn: true,
                });
                if let Some(above) = above {
                    nodes[above].children.push(place);
                }
            }
            nodes[place].messages += 1;
            node_of.insert(id, place);
        }
        nodes
    }

    /// Returns the nodes that are drawn, in the order of a depth-first walk.
    fn walk(&self, nodes: &[FullNode]) -> Vec<TextNode> {
        let mut drawn: Vec<TextNode> = Vec::new();
        let mut waiting: Vec<(usize, Option<usize>)> = Vec::new();
        if !nodes.is_empty() {
            waiting.push((0, None));
        }
        while let Some((index, parent)) = waiting.pop() {
            let node = &nodes[index];
            let place = drawn.len();
            drawn.push(TextNode {
                id: MessageId::at(node.id),
                round: self.nodes()[node.id].round,
                parent,
                method: node.method,
                passed: node.passed,
                messages: node.messages,
                folded: node.folded,
            });
            let children = node.children.iter().rev();
            let children = children.filter(|child| nodes[**child].is_drawn);
            waiting.extend(children.map(|child| (*child, Some(place))));
        }
        drawn
    }
}

/// Makes each node of one message with one child a part of the line to that child. The root stays.
fn pass(nodes: &mut [FullNode]) {
    // Children come after their parents, so a line is passed on from its end to its start.
    for index in (1..nodes.len()).rev() {
        let (&[child], 1, Some(parent)) = (
            &nodes[index].children[..],
            nodes[index].messages,
            nodes[index].parent,
        ) else {
            continue;
        };
        let method = nodes[index].method.max(nodes[child].method);
        nodes[child].method = method;
        nodes[child].passed += nodes[index].passed + 1;
        nodes[child].parent = Some(parent);
        nodes[index].is_drawn = false;
        for place in &mut nodes[parent].children {
            if *place == index {
                *place = child;
            }
        }
    }
}

/// Folds nodes without children into their parents until at most `most` are drawn, those with fewest messages first and
/// of these the newest. Returns their number.
fn fold(nodes: &mut [FullNode], most: usize) -> usize {
    let weight = |node: &FullNode| node.messages + node.folded + node.passed;
    let mut left = nodes.iter().filter(|node| node.is_drawn).count();
    let mut open: Vec<usize> = nodes.iter().map(|node| node.children.len()).collect();
    let leaves = (0..nodes.len()).filter(|index| nodes[*index].is_drawn && open[*index] == 0);
    let mut waiting: BinaryHeap<_> = leaves
        .map(|index| (Reverse(weight(&nodes[index])), index))
        .collect();
    let mut folded = 0;
    while left > most
        && let Some((Reverse(messages), index)) = waiting.pop()
    {
        let Some(parent) = nodes[index].parent else {
            break;
        };
        nodes[index].is_drawn = false;
        nodes[parent].folded += messages;
        open[parent] -= 1;
        if open[parent] == 0 {
            waiting.push((Reverse(weight(&nodes[parent])), parent));
        }
        left -= 1;
        folded += 1;
    }
    folded
}
