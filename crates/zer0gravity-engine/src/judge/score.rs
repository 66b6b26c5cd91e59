//! The rubric of 100 points, computed in `f64` and in the order of the requirement.

use serde::{Deserialize, Serialize};

use crate::judge::number::rounded;

/// The most points for token efficiency.
pub const MAX_TOKEN_EFFICIENCY: u8 = 40;
/// The most points for semantic preservation.
pub const MAX_SEMANTIC: u8 = 40;
/// The most points for learnability.
pub const MAX_LEARNABILITY: u8 = 15;
/// The most points for implementability.
pub const MAX_IMPLEMENTABILITY: u8 = 5;

/// Rounds to the nearest integer, halves towards +infinity: 2.5 gives 3, -2.5 gives -2. NaN and infinities pass through.
///
/// `f64::round` rounds halves away from zero, which differs for negative numbers.
///
/// ```
/// use zer0gravity_engine::judge::score::round_half_up;
/// assert_eq!([2.5, -2.5, -2.6].map(round_half_up), [3.0, -2.0, -3.0]);
/// ```
pub fn round_half_up(x: f64) -> f64 {
    let floor = x.floor();
    if x - floor >= 0.5 { floor + 1.0 } else { floor }
}

/// The tokens of a text and of its encoding. An `original` of 0 or less is valid and makes every derived value 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the two numbers of a formula")]
pub struct TokenPair {
    /// The tokens of the text.
    pub original: i64,
    /// The tokens of the encoded text.
    pub encoded: i64,
}

impl TokenPair {
    /// Returns the saved share, unrounded; negative for an expansion.
    fn saved(self) -> f64 {
        if self.original <= 0 {
            return 0.0;
        }
        let (original, encoded) = (self.original as f64, self.encoded as f64);
        (original - encoded) / original
    }

    /// Returns the saved share in percent, unrounded; negative for an expansion.
    pub fn raw_percent(self) -> f64 {
        self.saved() * 100.0
    }
}

/// Returns the points for saved tokens, 0 to 40: the saved percent, rounded half up.
///
/// ```
/// use zer0gravity_engine::judge::score::{TokenPair, token_efficiency};
/// assert_eq!(token_efficiency(TokenPair { original: 91, encoded: 70 }), 23);
/// assert_eq!(token_efficiency(TokenPair { original: 86, encoded: 165 }), 0);
/// ```
pub fn token_efficiency(t: TokenPair) -> u8 {
    points(t.raw_percent(), MAX_TOKEN_EFFICIENCY)
}

/// Returns the saved share in percent with one decimal; negative for an expansion.
///
/// ```
/// use zer0gravity_engine::judge::score::{TokenPair, compression_percent};
/// assert_eq!(compression_percent(TokenPair { original: 800, encoded: 898 }), -12.2);
/// ```
pub fn compression_percent(t: TokenPair) -> f64 {
    unsigned_zero(rounded(t.raw_percent(), 1))
}

/// Returns the saved share with three decimals; negative for an expansion.
pub fn compression_ratio(t: TokenPair) -> f64 {
    unsigned_zero(rounded(t.saved(), 3))
}

/// Returns the points for learnability from those for semantic preservation (0 to 40, neither rounded nor clamped before).
///
/// ```
/// use zer0gravity_engine::judge::score::learnability;
/// assert_eq!([35.0, 38.0, 39.0].map(learnability), [13.0, 14.0, 15.0]);
/// ```
pub fn learnability(semantic: f64) -> f64 {
    round_half_up(semantic / 40.0 * 15.0)
}

/// The four parts of the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Scores {
    /// Points for saved tokens, 0 to 40.
    pub token_efficiency: u8,
    /// Points for the kept meaning, 0 to 40.
    pub semantic_preservation: u8,
    /// Points that follow from the kept meaning, 0 to 15.
    pub learnability: u8,
    /// Points for the simplicity of the rules, 0 to 5.
    pub implementability: u8,
}

impl Scores {
    /// Returns the sum of the parts, 0 to 100.
    pub fn total(&self) -> u8 {
        self.token_efficiency
            + self.semantic_preservation
            + self.learnability
            + self.implementability
    }
}

/// The parts of a score with their total.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ScoreCard {
    /// The parts.
    pub scores: Scores,
    /// Their sum, 0 to 100.
    pub total: u8,
    /// The saved share in percent, from [`compression_percent`].
    pub compression_percent: f64,
}

/// Computes the score from the tokens and the judges' points, which are limited to their maxima.
///
/// ```
/// use zer0gravity_engine::judge::score::{TokenPair, score_all};
/// assert_eq!(score_all(TokenPair { original: 91, encoded: 70 }, 38, 5).total, 80);
/// ```
pub fn score_all(t: TokenPair, semantic: u8, implementability: u8) -> ScoreCard {
    let semantic = semantic.min(MAX_SEMANTIC);
    let scores = Scores {
        token_efficiency: token_efficiency(t),
        semantic_preservation: semantic,
        learnability: learnability(f64::from(semantic)) as u8,
        implementability: implementability.min(MAX_IMPLEMENTABILITY),
    };
    ScoreCard {
        scores,
        total: scores.total(),
        compression_percent: compression_percent(t),
    }
}

/// Rounds `x` and clamps it to `0..=max`.
pub(crate) fn points(x: f64, max: u8) -> u8 {
    round_half_up(x).clamp(0.0, f64::from(max)) as u8
}

/// Replaces -0 by 0.
fn unsigned_zero(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x }
}
