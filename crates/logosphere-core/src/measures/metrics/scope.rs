//! Windows and rounds as ranges of the measured texts, and sums that follow a sliding window.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::corpus::{Corpus, Text};
use super::window::{Window, ablated, round_ranges};
use crate::pool::{SampleRng, draw};
use crate::verify::Transcript;

/// A set of indexes of texts of a [`Corpus`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextRange {
    /// All indexes of a range.
    Range(Range<usize>),
    /// Some indexes, in order.
    Picked(Vec<usize>),
}

impl TextRange {
    /// Returns the number of indexes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Range(range) => range.len(),
            Self::Picked(picked) => picked.len(),
        }
    }

    /// Returns the indexes in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let (range, picked) = match self {
            Self::Range(range) => (range.clone(), [].as_slice()),
            Self::Picked(picked) => (0..0, picked.as_slice()),
        };
        range.chain(picked.iter().copied())
    }

    /// Returns the texts at the indexes.
    pub(crate) fn texts(&self, corpus: &Corpus<'_>) -> impl Iterator<Item = Text> {
        self.iter().map(|place| corpus.texts()[place])
    }
}

/// The windows and rounds of a run.
///
/// There is a window at the end of each round, and the messages that each round added. The first entry of both is the
/// time before round 1, when the seed messages were added.
#[derive(Debug)]
pub(crate) struct Scopes {
    pub(crate) windows: Vec<TextRange>,
    pub(crate) rounds: Vec<TextRange>,
}

impl Scopes {
    /// Returns the windows and rounds with all measured texts.
    pub(crate) fn of(run: &Transcript, corpus: &Corpus<'_>, window: Window) -> Self {
        let all = |ranges: Vec<Range<usize>>| {
            let places = ranges
                .iter()
                .map(|range| TextRange::Range(corpus.places(range)));
            places.collect()
        };
        let mut windows: Vec<TextRange> = all(window.ranges(run));
        if window == Window::Active && !run.ablated.is_empty() {
            for (at, places) in windows.iter_mut().enumerate() {
                let gone = ablated(run, at);
                let is_there = |place: &usize| !gone.contains(&corpus.texts()[*place].message);
                let there: Vec<usize> = places.iter().filter(is_there).collect();
                if there.len() < places.len() {
                    *places = TextRange::Picked(there);
                }
            }
        }
        Self {
            windows,
            rounds: all(round_ranges(run)),
        }
    }

    /// Draws `windows` texts of each window and `rounds` of each round at random. A window or round with fewer texts
    /// becomes empty.
    pub(crate) fn thin(&mut self, seed: u64, windows: usize, rounds: usize) {
        let key = Sha256::digest(format!("logosphere/match/v1\n{seed}"));
        let mut rng = SampleRng::keyed(key.into());
        for (scopes, size) in [(&mut self.windows, windows), (&mut self.rounds, rounds)] {
            for places in scopes {
                let all: Vec<usize> = places.iter().collect();
                let mut picked = if all.len() < size {
                    Vec::new()
                } else {
                    draw(size, all.len(), &mut rng)
                };
                picked.sort_unstable();
                *places = TextRange::Picked(picked.into_iter().map(|at| all[at]).collect());
            }
        }
    }
}

/// A measure of a window, updated as texts enter and leave it.
pub(crate) trait SlidingMeasure {
    /// A text of this kind enters.
    fn add(&mut self, kind: usize);
    /// A text of this kind leaves.
    fn remove(&mut self, kind: usize);
}

/// A measure that follows a sliding window. Every text enters and leaves it about once or twice.
#[derive(Debug)]
pub(crate) struct Sliding<'a, 'b, T> {
    corpus: &'a Corpus<'b>,
    tally: T,
    now: TextRange,
    /// The number of texts that left since the measure was computed from the start.
    left: usize,
}

impl<'a, 'b, T: SlidingMeasure> Sliding<'a, 'b, T> {
    /// Returns an empty window.
    pub(crate) fn new(corpus: &'a Corpus<'b>, tally: T) -> Self {
        Self {
            corpus,
            tally,
            now: TextRange::Range(0..0),
            left: 0,
        }
    }

    /// Moves to a window and returns its measure.
    pub(crate) fn at(&mut self, places: &TextRange) -> &T {
        let kind = |place: usize| self.corpus.texts()[place].kind;
        match (&self.now, places) {
            // Rounding errors grow with every step, so it is made afresh before more texts left than are in it.
            (TextRange::Range(old), TextRange::Range(new))
                if old.start <= new.start
                    && new.start <= old.end
                    && old.end <= new.end
                    && self.left + (new.start - old.start) <= new.len() =>
            {
                (old.start..new.start).for_each(|place| self.tally.remove(kind(place)));
                (old.end..new.end).for_each(|place| self.tally.add(kind(place)));
                self.left += new.start - old.start;
            }
            (old, new) => {
                old.iter().for_each(|place| self.tally.remove(kind(place)));
                new.iter().for_each(|place| self.tally.add(kind(place)));
                self.left = 0;
            }
        }
        self.now = places.clone();
        &self.tally
    }
}
