//! When the seeds leave the window.

use serde::Serialize;

use super::corpus::Corpus;
use super::window::Window;
use crate::pool::Round;
use crate::verify::Transcript;

/// When the seeds left the window, as rounds; 0 is before round 1. None for what did not happen, and of all for a run
/// without seeds that show anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SeedExit {
    /// Seeds that show anything.
    pub n: usize,
    /// The first round at whose end a seed is out.
    pub first: Option<Round>,
    /// The first round at whose end at most half of them are in.
    pub half_life: Option<Round>,
    /// The first round at whose end none is in.
    pub all: Option<Round>,
}

impl SeedExit {
    /// That of a run's windows.
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

/// When the seeds left these windows.
pub fn seed_exit(run: &Transcript, window: Window) -> SeedExit {
    SeedExit::of(run, &Corpus::of(run), window)
}
