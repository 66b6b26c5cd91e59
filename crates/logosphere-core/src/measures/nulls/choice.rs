//! The test of choice: whether texts with a feature are passed on more often than the texts that were read with them.

use std::collections::BTreeMap;

use crate::measures::lineage::ParentSearch;
use crate::measures::lists::Lists;

/// The smallest variance with which a word takes part in a test.
pub const LEAST_VARIANCE: f64 = 4.0;

/// The score of a feature: how far the texts with it were chosen more often than at random.
///
/// Scores of several runs are added. Under neutral descent `u` has mean 0 and about the variance `v`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Score {
    /// The sum over contests of the children of each text above the mean, times its feature.
    pub u: f64,
    /// The variance of `u` if each text is equally likely to be chosen; 0 or more.
    pub v: f64,
}

impl Score {
    /// Returns `u` over its standard deviation; `None` without a variance.
    pub fn z(self) -> Option<f64> {
        (self.v > 0.0).then(|| self.u / self.v.sqrt())
    }

    /// Returns the factor by which one unit of the feature changes a text's chance, with its 95 % interval.
    pub fn weight(self) -> [f64; 3] {
        let half = 1.96 * self.v.sqrt();
        [self.u, self.u - half, self.u + half].map(|u| (u / self.v).exp())
    }

    fn add(&mut self, other: Self) {
        self.u += other.u;
        self.v += other.v;
    }
}

/// The scores of all features of a run, or of several runs together.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Choice {
    /// The score of each word: texts with the word against texts without it.
    pub words: BTreeMap<String, Score>,
    /// The score of the length, ln(1 + words).
    pub length: Score,
    /// The score of the age: the id, standardised over the texts of a call. Newer texts have a higher one.
    pub age: Score,
    /// The score of the centrality: the mean similarity to the other texts of a call, 0 to 1.
    pub centrality: Score,
    /// The number of contests: calls that read at least two different texts and passed one on.
    pub contests: usize,
}

impl Choice {
    /// Adds the scores of another run, words by their text.
    pub fn add(&mut self, other: &Self) {
        for (word, score) in &other.words {
            match self.words.get_mut(word) {
                Some(sum) => sum.add(*score),
                None => {
                    self.words.insert(word.clone(), *score);
                }
            }
        }
        self.length.add(other.length);
        self.age.add(other.age);
        self.centrality.add(other.centrality);
        self.contests += other.contests;
    }

    /// Returns the largest distance of a z from 0, over words with a variance of at least [`LEAST_VARIANCE`] and the
    /// other features.
    pub fn largest_z(&self) -> f64 {
        let words = self.words.values();
        let tested = words.filter(|score| score.v >= LEAST_VARIANCE);
        largest(tested.chain([&self.length, &self.age, &self.centrality]))
    }
}

fn largest<'a>(scores: impl Iterator<Item = &'a Score>) -> f64 {
    let sizes = scores.filter_map(|score| score.z()).map(f64::abs);
    super::statistics::comparable(sizes.fold(0.0, f64::max))
}

/// The scores of a run, by token.
#[derive(Debug, Default)]
pub(super) struct Scores {
    pub(super) words: Vec<Score>,
    /// The number of texts read in contests with each token.
    pub(super) holders: Vec<u32>,
    /// The number of texts read in contests.
    pub(super) reads: u32,
    pub(super) length: Score,
    pub(super) age: Score,
    pub(super) centrality: Score,
    pub(super) contests: usize,
    counter: Counter,
}

/// The texts of a contest with each token.
#[derive(Debug, Default)]
struct Counter {
    /// The text in which each token was seen last, counted over all contests.
    last: Vec<u32>,
    text: u32,
    /// The number of texts with each token, and their children above the mean.
    texts: Vec<(u32, f64)>,
    touched: Vec<u32>,
}

impl Scores {
    /// Returns scores of nothing, for `vocabulary` different tokens.
    pub(super) fn new(vocabulary: usize) -> Self {
        Self {
            words: vec![Score::default(); vocabulary],
            holders: vec![0; vocabulary],
            counter: Counter {
                last: vec![0; vocabulary],
                texts: vec![(0, 0.0); vocabulary],
                ..Counter::default()
            },
            ..Self::default()
        }
    }

    /// Adds a call: what it read, and the number of children of each of these texts. A call that is not a contest changes
    /// nothing.
    pub(super) fn add(
        &mut self,
        lists: &Lists,
        reads: &[usize],
        children: &[u32],
        search: &mut ParentSearch,
    ) {
        let sent: u32 = children.iter().sum();
        let kinds: Vec<u32> = reads.iter().map(|&read| lists.kind_of(read)).collect();
        if sent == 0 || kinds.iter().all(|kind| *kind == kinds[0]) {
            return;
        }
        let count = reads.len() as f64;
        let mean = f64::from(sent) / count;
        let above: Vec<f64> = children.iter().map(|&n| f64::from(n) - mean).collect();
        // The variance of a feature is this times the sum of its squared deviations.
        let spread = above.iter().map(|above| above * above).sum::<f64>() / (count - 1.0);
        self.contests += 1;
        self.reads += reads.len() as u32;
        self.count_words(lists, &kinds, &above, spread);
        let score = |feature: &[f64]| {
            let middle = feature.iter().sum::<f64>() / count;
            let squares: f64 = feature.iter().map(|x| (x - middle).powi(2)).sum();
            Score {
                u: (feature.iter().zip(&above))
                    .map(|(x, above)| x * above)
                    .sum(),
                v: spread * squares,
            }
        };
        let lengths: Vec<f64> = (kinds.iter())
            .map(|&kind| (lists.of_kind(kind).len() as f64).ln_1p())
            .collect();
        self.length.add(score(&lengths));
        self.age.add(score(&ages(reads, &kinds)));
        let centrality = search.centrality(lists, reads);
        self.centrality.add(score(&centrality));
    }

    fn count_words(&mut self, lists: &Lists, kinds: &[u32], above: &[f64], spread: f64) {
        let counter = &mut self.counter;
        for (&kind, above) in kinds.iter().zip(above) {
            counter.text += 1;
            for &token in lists.of_kind(kind) {
                let at = token as usize;
                if std::mem::replace(&mut counter.last[at], counter.text) == counter.text {
                    continue;
                }
                let entry = &mut counter.texts[at];
                if entry.0 == 0 {
                    counter.touched.push(token);
                }
                *entry = (entry.0 + 1, entry.1 + above);
            }
        }
        let count = kinds.len() as f64;
        for token in counter.touched.drain(..) {
            let at = token as usize;
            let (texts, above) = std::mem::take(&mut counter.texts[at]);
            self.holders[at] += texts;
            let held = f64::from(texts);
            self.words[at].add(Score {
                u: above,
                v: spread * (held - held * held / count),
            });
        }
    }

    /// Returns the largest distance of a z from 0, as [`Choice::largest_z`].
    pub(super) fn largest_z(&self) -> f64 {
        let tested = self.words.iter().filter(|score| score.v >= LEAST_VARIANCE);
        largest(tested.chain([&self.length, &self.age, &self.centrality]))
    }

    /// Returns the scores by the text of each word.
    pub(super) fn by_text(&self, words: &[String]) -> Choice {
        let scores = words.iter().zip(&self.words);
        let scored = scores.filter(|(_, score)| score.v > 0.0);
        Choice {
            words: scored.map(|(word, score)| (word.clone(), *score)).collect(),
            length: self.length,
            age: self.age,
            centrality: self.centrality,
            contests: self.contests,
        }
    }
}

/// Returns the standardised ids of the texts that a call read; equal texts have their mean.
fn ages(reads: &[usize], kinds: &[u32]) -> Vec<f64> {
    let count = reads.len() as f64;
    let ids: Vec<f64> = reads.iter().map(|&id| id as f64).collect();
    let middle = ids.iter().sum::<f64>() / count;
    let variance = ids.iter().map(|id| (id - middle).powi(2)).sum::<f64>() / count;
    let age = |id: f64| {
        if variance > 0.0 {
            (id - middle) / variance.sqrt()
        } else {
            0.0
        }
    };
    let mean = |kind: u32| {
        let equal = || {
            ids.iter()
                .zip(kinds)
                .filter(move |(_, other)| **other == kind)
        };
        equal().map(|(id, _)| age(*id)).sum::<f64>() / equal().count() as f64
    };
    kinds.iter().map(|&kind| mean(kind)).collect()
}
