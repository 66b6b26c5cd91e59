//! Texts of equal number and length, so that rounds and runs can be compared.

use serde::Serialize;

use super::corpus::Corpus;
use super::scope::{Scopes, TextRange};
use super::window::Window;
use crate::verify::Transcript;

/// The share of texts, windows and rounds that may be left out as too short.
const LEFT_OUT: f64 = 0.1;

/// Texts drawn from a window or round, at most.
const MOST_TEXTS: usize = 200;

/// What is compared when number and length of texts must not matter: texts cut to the same number of tokens, and the same
/// number of them in each window and in each round. Shorter texts are left out, and so are windows and rounds with fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Match {
    /// Tokens of each text.
    pub tokens: usize,
    /// Texts of each window.
    pub window_texts: usize,
    /// Texts of each round.
    pub round_texts: usize,
}

impl Match {
    /// Sizes that nine tenths of the texts, of the windows and of the rounds of these runs reach, 200 texts at most. None
    /// without a window of two texts.
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

/// The size that all but a tenth reach.
fn low(sizes: impl Iterator<Item = usize>) -> Option<usize> {
    let mut sizes: Vec<usize> = sizes.collect();
    sizes.sort_unstable();
    let at = (sizes.len() as f64 * LEFT_OUT) as usize;
    sizes.get(at).copied()
}
