//! The graph of messages.

use crate::measures::lineage::{Lineage, Parent};
use crate::pool::MessageId;
use crate::verify::Transcript;

/// The edges between messages, sorted by their targets.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) edges: Vec<Edge>,
}

/// An edge from a message to a newer one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) from: MessageId,
    pub(super) to: MessageId,
    /// The facts about descent; `None` for exposure.
    pub(super) descent: Option<Descent>,
}

/// The facts about an edge of a lineage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent {
    pub(super) parent: Parent,
    /// Whether it is the best parent of its child.
    pub(super) best: bool,
}

impl Graph {
    /// Returns the edges from every parent to its child.
    pub(super) fn of_lineage(lineage: &Lineage) -> Self {
        let edges = lineage.nodes().iter().flat_map(|node| {
            let parents = node.parents.iter().enumerate();
            parents.map(|(place, &parent)| Edge {
                from: parent.id,
                to: node.id,
                descent: Some(Descent {
                    parent,
                    best: place == 0,
                }),
            })
        });
        Self {
            edges: edges.collect(),
        }
    }

    /// Returns the edges from each message that a call read to each message that it added.
    pub(super) fn of_exposure(run: &Transcript) -> Self {
        let edges = run.calls.iter().flat_map(|call| {
            call.added.iter().flat_map(|&to| {
                // A message that is not older cannot have been read.
                let older = call.sampled.iter().filter(move |from| **from < to);
                older.map(move |&from| Edge {
                    from,
                    to,
                    descent: None,
                })
            })
        });
        Self {
            edges: edges.collect(),
        }
    }
}
