//! The forest of descent.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use super::parent::{Parent, ParentSearch, VectorRule, given, readable};
use crate::measures::lists::Lists;
use crate::measures::metrics::Window;
use crate::measures::metrics::corpus::Corpus;
use crate::pool::{MessageId, Round};
use crate::verify::Transcript;

/// The lineage of every message of a run. Parents are always older than their children, so there is no cycle.
///
/// A message can have several parents. Descendants, depth and roots are counted in the forest of the best parents only.
#[derive(Debug, Clone, PartialEq)]
pub struct Lineage {
    /// A node for each message; the index is the id.
    nodes: Vec<Node>,
    /// The number of seed messages, which are the first messages.
    seeds: usize,
    /// The messages after the seeds that were put in from outside.
    injected: BTreeSet<usize>,
    /// The ids that can be read before round 1 and at the end of each round.
    windows: Vec<Range<usize>>,
}

/// A message with its parents and descendants.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Node {
    /// The id of the message.
    pub id: MessageId,
    /// The round in which it was added; 0 for seed messages.
    pub round: Round,
    /// The parents, the best one first; empty for seed messages and innovations.
    pub parents: Vec<Parent>,
    /// The seed message or innovation at which the line of best parents begins.
    pub root: MessageId,
    /// The number of steps from the root.
    pub depth: u32,
    /// The number of messages whose best parent it is.
    pub children: u32,
    /// The number of its descendants by best parents.
    pub descendants: u32,
    /// The number of rounds at whose end it is readable.
    pub lifetime: u32,
    /// Whether it is readable when the run ends.
    pub alive: bool,
}

impl Node {
    /// Returns the best parent.
    pub fn parent(&self) -> Option<&Parent> {
        self.parents.first()
    }
}

impl Lineage {
    /// Infers the lineage of a run.
    pub fn of(run: &Transcript) -> Self {
        Self::within(run, &Corpus::of(run))
    }

    /// Infers the lineage of a run with this corpus.
    pub(crate) fn within(run: &Transcript, corpus: &Corpus<'_>) -> Self {
        Self::in_lists(run, &Lists::of(corpus))
    }

    /// Infers the lineage of a run with these token lists.
    pub(crate) fn in_lists(run: &Transcript, lists: &Lists) -> Self {
        let mut search = ParentSearch::default();
        Self::with(run, |reads, child| search.all(lists, reads, child))
    }

    /// Infers the lineage of a run by the vectors of its texts.
    pub fn by_vectors(run: &Transcript, rule: VectorRule<'_>) -> Self {
        let lists = Lists::of(&Corpus::of(run));
        Self::with(run, |reads, child| rule.all(run, &lists, reads, child))
    }

    /// Returns the lineage with the parents that `find` names for the texts that were read and a child.
    fn with(run: &Transcript, mut find: impl FnMut(&[usize], usize) -> Vec<Parent>) -> Self {
        let mut parents = vec![Vec::new(); run.messages.len()];
        for call in &run.calls {
            let all = run.messages.len();
            for &child in call.added.iter().filter(|child| child.index() < all) {
                let known = &run.messages[child.index()].given_parents;
                parents[child.index()] = if known.is_empty() {
                    let reads = readable(&call.sampled, child);
                    find(&reads, child.index())
                } else {
                    given(known)
                };
            }
        }
        let mut lineage = Self {
            nodes: Vec::with_capacity(parents.len()),
            seeds: run.seeds,
            injected: (run.messages.iter().enumerate().skip(run.seeds))
                .filter(|(_, message)| message.call.is_none())
                .map(|(id, _)| id)
                .collect(),
            windows: Window::Active.ranges(run),
        };
        for (id, parents) in parents.into_iter().enumerate() {
            lineage.push(id, run.messages[id].round, parents);
        }
        lineage.count();
        lineage
    }

    fn push(&mut self, id: usize, round: Round, parents: Vec<Parent>) {
        let parent = parents.first().map(|parent| &self.nodes[parent.id.index()]);
        let (root, depth) = parent.map_or((MessageId::at(id), 0), |parent| {
            (parent.root, parent.depth + 1)
        });
        let ends = self.readable(id);
        self.nodes.push(Node {
            id: MessageId::at(id),
            round,
            parents,
            root,
            depth,
            children: 0,
            descendants: 0,
            // The first window is before round 1.
            lifetime: (ends.end - ends.start.max(1).min(ends.end)) as u32,
            alive: !ends.is_empty() && ends.end == self.windows.len(),
        });
    }

    fn count(&mut self) {
        for id in (0..self.nodes.len()).rev() {
            let Some(parent) = self.nodes[id].parent().map(|parent| parent.id.index()) else {
                continue;
            };
            let own = self.nodes[id].descendants + 1;
            self.nodes[parent].children += 1;
            self.nodes[parent].descendants += own;
        }
    }

    /// Returns a node for each message; the index is the id.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the number of seed messages, which are the first messages.
    pub fn seeds(&self) -> usize {
        self.seeds
    }

    /// Returns the share of innovations among the messages of minds; `None` without such messages.
    pub fn novelty_rate(&self) -> Option<f64> {
        let of_minds = self.of_minds().count();
        let new = self.of_minds().filter(|node| node.parents.is_empty());
        (of_minds > 0).then(|| new.count() as f64 / of_minds as f64)
    }

    /// Returns the nodes of the messages of minds.
    pub(super) fn of_minds(&self) -> impl Iterator<Item = &Node> {
        let after = self.nodes.iter().skip(self.seeds);
        after.filter(|node| !self.injected.contains(&node.id.index()))
    }

    /// Returns the windows that contain a message: 0 is before round 1, then the end of each round.
    pub(super) fn readable(&self, id: usize) -> Range<usize> {
        let first = self.windows.partition_point(|window| window.end <= id);
        let behind = self.windows.partition_point(|window| window.start <= id);
        first..behind.max(first)
    }

    /// Returns the ids that are readable before round 1 and at the end of each round.
    pub(super) fn windows(&self) -> &[Range<usize>] {
        &self.windows
    }
}
