//! The rounds at which the seed messages leave the window.

use serde::Serialize;

use super::corpus::Corpus;
use super::window::Window;
use crate::pool::Round;
use crate::verify::Transcript;

/// The rounds at which the seed messages left the window; 0 is before round 1.
///
/// A value is `None` if it did not happen. All are `None` for a run without visible seed messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct SeedExit {
    /// The number of seed messages with a visible character.
    pub n: usize,
    /// The first round at whose end a seed message has left.
    pub first: Option<Round>,
    /// The first round at whose end at most half of the seed messages are in the window.
    pub half_life: Option<Round>,
    /// The first round at whose end no seed message is in the window.
    pub all: Option<Round>,
}

impl SeedExit {
    /// Returns the rounds for the windows of a run.
    pub(crate) fn of(run: &Transcript, corpus: &Corpus<'_>, window: Window) -> Self {
        let n = corpus.places(&(0..run.seeds)).len();
        let numbers =
            std::iter::once(Round::default()).chain(run.rounds.iter().map(|round| round.round));
        let inside = window.ranges(run).into_iter().map(|window| {
            let places = corpus.places(&window);
            places.end.min(n) - places.start.min(n)
        });
        let inside: Vec<(Round, usize)> = numbers.zip(inside).collect();
        let first_with = |fits: fn(usize, usize) -> bool| {
            let mut rounds = inside.iter().filter(|_| n > 0);
            let found = rounds.find(|&&(_, inside)| fits(inside, n));
            found.map(|&(round, _)| round)
        };
        Self {
            n,
            first: first_with(|inside, n| inside < n),
            half_life: first_with(|inside, n| 2 * inside <= n),
            all: first_with(|inside, _| inside == 0),
        }
    }
}

/// Returns the rounds at which the seed messages left these windows.
pub fn seed_exit(run: &Transcript, window: Window) -> SeedExit {
    SeedExit::of(run, &Corpus::of(run), window)
}
