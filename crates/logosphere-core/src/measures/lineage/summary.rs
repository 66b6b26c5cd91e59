//! A lineage in numbers.

use serde::Serialize;

use super::parent::Method;
use super::survival::{Survival, survival};
use super::tree::Lineage;
use crate::pool::{MessageId, Round};
use crate::verify::Transcript;

/// Characters of a text that results show.
const SHOWN: usize = 200;

/// A lineage in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineageSummary {
    /// Messages of minds.
    pub messages: usize,
    /// Those with a best parent of equal text.
    pub exact: usize,
    /// Those with a best parent that shares runs of words.
    pub ngram: usize,
    /// Those that come from nothing that was read.
    pub innovations: usize,
    /// Their share; none without messages of minds.
    pub innovation_share: Option<f64>,
    /// The longest line of best parents, in steps.
    pub deepest: u32,
    /// The messages that most come from, most first, equal ones by age; none of them descends from another.
    pub top: Vec<Spreader>,
    /// What became of each seed.
    pub seeds: Vec<SeedShare>,
    /// How long lines last.
    pub survival: Vec<Survival>,
    /// After so many rounds at most half of the lines are still there; none if that was not seen.
    pub half_life: Option<u32>,
}

/// A message that others come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spreader {
    /// Which message.
    pub id: MessageId,
    /// The round that it came in; 0 for seeds.
    pub round: Round,
    /// Messages that come from it by best parents.
    pub descendants: u32,
    /// Messages that it is the best parent of.
    pub children: u32,
    /// At the ends of how many rounds it can be read.
    pub lifetime: u32,
    /// How its text begins: 200 characters.
    pub text: String,
}

/// What became of a seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeedShare {
    /// Which message.
    pub id: MessageId,
    /// Messages that come from it by best parents.
    pub descendants: u32,
    /// Their share of all messages of minds; none without such messages.
    pub message_share: Option<f64>,
    /// The share of what can be read at the end of the last round that is the seed or comes from it; none of nothing.
    pub window_share: Option<f64>,
    /// How its text begins: 200 characters.
    pub text: String,
}

impl Lineage {
    /// The lineage in numbers, with so many of the messages that most come from. `run` is the run that it is of.
    pub fn summary(&self, run: &Transcript, top: usize) -> LineageSummary {
        let of_minds = &self.nodes()[self.seeds().min(self.nodes().len())..];
        let by = |method| {
            let methods = of_minds.iter().filter_map(|node| node.parent());
            methods.filter(|parent| parent.method == method).count()
        };
        let survival = survival(self);
        let half = survival.iter().find(|step| step.share <= 0.5);
        LineageSummary {
            messages: of_minds.len(),
            exact: by(Method::Exact),
            ngram: by(Method::Ngram),
            innovations: of_minds
                .iter()
                .filter(|node| node.parents.is_empty())
                .count(),
            innovation_share: self.novelty_rate(),
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
        for node in nodes {
            if chosen.len() == top {
                break;
            }
            // A line is named once: not by its first message and by each of its next ones.
            if !chosen.iter().any(|other| self.is_one_line(*other, node.id)) {
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

    /// Whether one of two messages descends from the other by best parents.
    fn is_one_line(&self, a: MessageId, b: MessageId) -> bool {
        // A child has a higher id than its parent.
        let (older, mut at) = (a.min(b), a.max(b));
        while at > older {
            match self.nodes()[at.index()].parent() {
                Some(parent) => at = parent.id,
                None => return false,
            }
        }
        at == older
    }

    fn seed_shares(&self, run: &Transcript) -> Vec<SeedShare> {
        let of_minds = self.nodes().len().saturating_sub(self.seeds());
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

    /// For each of these seeds, the share of what can be read that is the seed or comes from it: before round 1 and at
    /// the end of each round. None where nothing can be read.
    pub fn seed_curves(&self, seeds: &[MessageId]) -> Vec<Vec<Option<f64>>> {
        let mut counts = self.roots_in(0..0);
        let mut curves = vec![Vec::with_capacity(self.windows().len()); seeds.len()];
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
            for (curve, &seed) in curves.iter_mut().zip(seeds) {
                let count = counts.get(seed.index()).copied().unwrap_or(0);
                curve.push(share(count, window.len()));
            }
        }
        curves
    }

    /// For each message, how many of these ids are in its line.
    fn roots_in(&self, ids: std::ops::Range<usize>) -> Vec<u32> {
        let mut counts = vec![0; self.nodes().len()];
        for node in &self.nodes()[ids] {
            counts[node.root.index()] += 1;
        }
        counts
    }
}

fn share(part: u32, whole: usize) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / whole as f64)
}

fn start(run: &Transcript, id: MessageId) -> String {
    run.messages[id.index()].text.chars().take(SHOWN).collect()
}
