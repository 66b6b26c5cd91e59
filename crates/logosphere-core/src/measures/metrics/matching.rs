//! Samples of equal number and length of texts, so that rounds and runs of different sizes can be compared.

use serde::Serialize;

use super::corpus::Corpus;
use super::scope::{Scopes, TextRange};
use super::window::Window;
use crate::verify::Transcript;

/// The largest share of texts, windows and rounds that are left out as too short.
const LEFT_OUT: f64 = 0.1;

/// The largest number of texts that are drawn from a window or round.
const MOST_TEXTS: usize = 200;

/// The size of samples: the same number of tokens in each text, and the same number of texts in each window and round.
///
/// Shorter texts are left out, and so are windows and rounds with fewer texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Match {
    /// The number of tokens of each text.
    pub tokens: usize,
    /// The number of texts of each window.
    pub window_texts: usize,
    /// The number of texts of each round.
    pub round_texts: usize,
}

impl Match {
    /// Returns the sizes that nine tenths of the texts, windows and rounds of these runs reach, at most 200 texts. The
    /// result is `None` without a window of two texts.
    pub fn of(runs: &[&Transcript], window: Window) -> Option<Self> {
        let whole: Vec<Corpus<'_>> = runs.iter().map(|run| Corpus::of(run)).collect();
        let lengths = whole.iter().flat_map(|corpus| {
            let worded = corpus.texts().iter().filter(|text| text.worded);
            worded.map(|text| corpus.span(text.kind).len())
        });
        let tokens = low(lengths)?;
        let scopes: Vec<Scopes> = (runs.iter())
            .map(|run| Scopes::of(run, &Corpus::cut(run, tokens), window))
            .collect();
        // The first of both is before round 1.
        let sizes = |all: fn(&Scopes) -> &[TextRange]| {
            let all = scopes.iter().flat_map(move |scopes| &all(scopes)[1..]);
            low(all.map(TextRange::len).filter(|&texts| texts >= 2))
        };
        Some(Self {
            tokens,
            window_texts: sizes(|scopes| &scopes.windows)?.min(MOST_TEXTS),
            round_texts: sizes(|scopes| &scopes.rounds).unwrap_or(2).min(MOST_TEXTS),
        })
    }
}

/// Returns the size that all but a tenth of the sizes reach.
fn low(sizes: impl Iterator<Item = usize>) -> Option<usize> {
    let mut sizes: Vec<usize> = sizes.collect();
    sizes.sort_unstable();
    let at = (sizes.len() as f64 * LEFT_OUT) as usize;
    sizes.get(at).copied()
}
