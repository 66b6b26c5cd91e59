//! Messages and arrows between them.

use crate::measures::lineage::{Lineage, Parent};
use crate::pool::MessageId;
use crate::verify::Transcript;

/// Arrows between messages, in the order of what they point to.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) edges: Vec<Edge>,
}

/// An arrow from a message to a newer one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) from: MessageId,
    pub(super) to: MessageId,
    /// What is known about descent; none for exposure.
    pub(super) descent: Option<Descent>,
}

/// An arrow of a lineage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent {
    pub(super) parent: Parent,
    /// Whether it is the best of its child's.
    pub(super) best: bool,
}

impl Graph {
    /// From every parent to its child.
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

    /// From everything that a call read to everything that it added.
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
