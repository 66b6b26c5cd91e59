//! The summary of a lineage.

use serde::Serialize;

use super::parent::Method;
use super::survival::{Survival, survival};
use super::tree::Lineage;
use crate::pool::{MessageId, Round};
use crate::verify::Transcript;

/// The number of characters of a text that results show.
const SHOWN: usize = 200;

/// The summary of a lineage.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LineageSummary {
    /// The number of messages of minds.
    pub messages: usize,
    /// The number of messages whose best parent has equal tokens.
    pub exact: usize,
    /// The number of messages whose best parent is similar and not equal.
    pub lcs: usize,
    /// The number of messages whose parent imported data names.
    #[serde(skip_serializing_if = "is_zero")]
    pub given: usize,
    /// The number of messages whose best parent has a similar vector and not equal tokens.
    #[serde(skip_serializing_if = "is_zero")]
    pub embed: usize,
    /// The number of innovations, which descend from no message that was read.
    pub innovations: usize,
    /// The share of innovations; `None` without messages of minds.
    #[serde(rename = "innovation_share")]
    pub novelty_rate: Option<f64>,
    /// The longest line of best parents, in steps.
    pub deepest: u32,
    /// The messages with most descendants, in descending order and then by age. None of them descends from another.
    pub top: Vec<Spreader>,
    /// The descendants of each seed message.
    pub seeds: Vec<SeedShare>,
    /// The survival of lines of descent.
    pub survival: Vec<Survival>,
    /// The number of rounds after which at most half of the lines survive; `None` if that was not observed.
    pub half_life: Option<u32>,
}

/// A message with descendants.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spreader {
    /// The id of the message.
    pub id: MessageId,
    /// The round in which it was added; 0 for seed messages.
    pub round: Round,
    /// The number of its descendants by best parents.
    pub descendants: u32,
    /// The number of messages whose best parent it is.
    pub children: u32,
    /// The number of rounds at whose end it is readable.
    pub lifetime: u32,
    /// The start of its text, 200 characters.
    pub text: String,
}

/// The descendants of a seed message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SeedShare {
    /// The id of the message.
    pub id: MessageId,
    /// The number of its descendants by best parents.
    pub descendants: u32,
    /// The share of its descendants among all messages of minds; `None` without such messages.
    pub message_share: Option<f64>,
    /// The share of the seed message and its descendants in the final window; `None` for an empty window.
    pub window_share: Option<f64>,
    /// The start of its text, 200 characters.
    pub text: String,
}

impl Lineage {
    /// Returns the summary, with the `top` messages that have most descendants. `run` is the run of this lineage.
    pub fn summary(&self, run: &Transcript, top: usize) -> LineageSummary {
        let by = |method| {
            let methods = self.of_minds().filter_map(|node| node.parent());
            methods.filter(|parent| parent.method == method).count()
        };
        let survival = survival(self);
        let half = survival.iter().find(|step| step.share <= 0.5);
        LineageSummary {
            messages: self.of_minds().count(),
            exact: by(Method::Exact),
            lcs: by(Method::Lcs),
            given: by(Method::Given),
            embed: by(Method::Embed),
            innovations: self
                .of_minds()
                .filter(|node| node.parents.is_empty())
                .count(),
            novelty_rate: self.novelty_rate(),
            deepest: self
                .nodes()
                .iter()
                .map(|node| node.depth)
                .max()
                .unwrap_or(0),
            top: self.top(run, top),
            seeds: self.seed_shares(run),
            half_life: half.map(|step| step.rounds),
            survival,
        }
    }

    fn top(&self, run: &Transcript, top: usize) -> Vec<Spreader> {
        let mut nodes: Vec<_> = (self.nodes().iter())
            .filter(|node| node.children > 0)
            .collect();
        nodes.sort_by_key(|node| (std::cmp::Reverse(node.descendants), node.id));
        let mut chosen: Vec<MessageId> = Vec::new();
        // The messages above and below a chosen one: a line is named once, not by its first message and by each of its
        // next ones.
        let mut named = vec![false; self.nodes().len()];
        for node in nodes {
            if chosen.len() == top {
                break;
            }
            if !named[node.id.index()] {
                self.name_line(node.id, &mut named);
                chosen.push(node.id);
            }
        }
        (chosen.into_iter())
            .map(|id| &self.nodes()[id.index()])
            .map(|node| Spreader {
                id: node.id,
                round: node.round,
                descendants: node.descendants,
                children: node.children,
                lifetime: node.lifetime,
                text: start(run, node.id),
            })
            .collect()
    }

    /// Marks a message, those that it descends from and those that descend from it, by best parents.
    fn name_line(&self, id: MessageId, named: &mut [bool]) {
        let mut above = self.nodes()[id.index()].parent();
        while let Some(parent) = above {
            named[parent.id.index()] = true;
            above = self.nodes()[parent.id.index()].parent();
        }
        // A child has a higher id than its parent.
        let mut is_below = vec![false; self.nodes().len()];
        is_below[id.index()] = true;
        for node in &self.nodes()[id.index()..] {
            let parent = node.parent().map(|parent| parent.id.index());
            if parent.is_some_and(|parent| is_below[parent]) {
                is_below[node.id.index()] = true;
            }
            named[node.id.index()] |= is_below[node.id.index()];
        }
    }

    fn seed_shares(&self, run: &Transcript) -> Vec<SeedShare> {
        let of_minds = self.of_minds().count();
        let last = self.windows().last().cloned().unwrap_or(0..0);
        let shares = self.roots_in(last.clone());
        let seeds = self.nodes().iter().take(self.seeds());
        seeds
            .map(|seed| SeedShare {
                id: seed.id,
                descendants: seed.descendants,
                message_share: share(seed.descendants, of_minds),
                window_share: share(shares[seed.id.index()], last.len()),
                text: start(run, seed.id),
            })
            .collect()
    }

    /// Returns the share of each of these roots and its descendants in the window: before round 1 and at the end of each
    /// round. A share is `None` for an empty window.
    pub fn root_curves(&self, roots: &[MessageId]) -> Vec<Vec<Option<f64>>> {
        let mut counts = self.roots_in(0..0);
        let mut curves = vec![Vec::with_capacity(self.windows().len()); roots.len()];
        let mut now = 0..0;
        for window in self.windows() {
            // Windows only move forward.
            for id in now.start..window.start.min(now.end) {
                counts[self.nodes()[id].root.index()] -= 1;
            }
            for id in now.end.max(window.start)..window.end {
                counts[self.nodes()[id].root.index()] += 1;
            }
            now = window.clone();
            for (curve, &root) in curves.iter_mut().zip(roots) {
                let count = counts.get(root.index()).copied().unwrap_or(0);
                curve.push(share(count, window.len()));
            }
        }
        curves
    }

    /// Returns the number of these ids in the line of each message.
    fn roots_in(&self, ids: std::ops::Range<usize>) -> Vec<u32> {
        let mut counts = vec![0; self.nodes().len()];
        for node in &self.nodes()[ids] {
            counts[node.root.index()] += 1;
        }
        counts
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde asks for"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn share(part: u32, whole: usize) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / whole as f64)
}

fn start(run: &Transcript, id: MessageId) -> String {
    run.messages[id.index()].text.chars().take(SHOWN).collect()
}
