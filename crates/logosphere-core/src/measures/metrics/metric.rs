//! The metrics, with their names and definitions.

use std::fmt;

use serde::{Serialize, Serializer};

use super::tfidf::ENCODER;

/// A metric, which has a value at the end of each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a caller that measures all names each metric"
)]
pub enum Metric {
    /// The mean similarity of the texts of a window.
    TfidfSimilarity,
    /// The mean similarity of the texts of a round.
    WithinRoundSimilarity,
    /// The mean similarity of the texts of a round to those of the ten rounds before it.
    NearSimilarity,
    /// The mean similarity of the texts of a round to those of rounds at least fifty earlier.
    FarSimilarity,
    /// The mean similarity of texts to the messages that their mind had read.
    InputSimilarity,
    /// The compression ratio of a window.
    CompressionRatio,
    /// The share of different tokens.
    Distinct1,
    /// The share of different bigrams.
    Distinct2,
    /// The share of different trigrams.
    Distinct3,
    /// The share of 5-grams that an earlier text contains.
    Reuse5gram,
    /// The share of pairs of texts that are equal.
    PairIdentity,
    /// The share of texts that the window before did not contain.
    Turnover,
    /// The mean similarity of texts to the nearest seed message.
    SeedEcho,
    /// The number of messages.
    Messages,
    /// The mean length of a text.
    CharsMean,
    /// The median length of a text.
    CharsMedian,
    /// The share of lost answers.
    LostShare,
}

/// The unit that one value of a metric is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Window,
    Round,
}

impl Metric {
    /// All metrics in the order of results.
    pub const ALL: &[Self] = &[
        Self::TfidfSimilarity,
        Self::WithinRoundSimilarity,
        Self::NearSimilarity,
        Self::FarSimilarity,
        Self::InputSimilarity,
        Self::CompressionRatio,
        Self::Distinct1,
        Self::Distinct2,
        Self::Distinct3,
        Self::Reuse5gram,
        Self::PairIdentity,
        Self::Turnover,
        Self::SeedEcho,
        Self::Messages,
        Self::CharsMean,
        Self::CharsMedian,
        Self::LostShare,
    ];

    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::TfidfSimilarity => "tfidf_similarity",
            Self::WithinRoundSimilarity => "within_round_similarity",
            Self::NearSimilarity => "near_similarity",
            Self::FarSimilarity => "far_similarity",
            Self::InputSimilarity => "input_similarity",
            Self::CompressionRatio => "compression_ratio",
            Self::Distinct1 => "distinct_1",
            Self::Distinct2 => "distinct_2",
            Self::Distinct3 => "distinct_3",
            Self::Reuse5gram => "reuse_5gram",
            Self::PairIdentity => "pair_identity",
            Self::Turnover => "turnover",
            Self::SeedEcho => "seed_echo",
            Self::Messages => "messages",
            Self::CharsMean => "chars_mean",
            Self::CharsMedian => "chars_median",
            Self::LostShare => "lost_share",
        }
    }

    /// Returns the metric with this name.
    pub fn named(name: &str) -> Option<Self> {
        (Self::ALL.iter().copied()).find(|metric| metric.name() == name)
    }

    /// Returns the title for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::TfidfSimilarity => "similarity of visible texts",
            Self::WithinRoundSimilarity => "similarity within a round",
            Self::NearSimilarity => "similarity to ten rounds before",
            Self::FarSimilarity => "similarity to 50 rounds before",
            Self::InputSimilarity => "similarity to what was read",
            Self::CompressionRatio => "compression ratio",
            Self::Distinct1 => "different words",
            Self::Distinct2 => "different pairs of words",
            Self::Distinct3 => "different runs of 3 words",
            Self::Reuse5gram => "reused runs of 5 words",
            Self::PairIdentity => "identical pairs",
            Self::Turnover => "new texts in the window",
            Self::SeedEcho => "similarity to a seed",
            Self::Messages => "messages of a round",
            Self::CharsMean => "characters of a text, mean",
            Self::CharsMedian => "characters of a text, median",
            Self::LostShare => "share of lost answers",
        }
    }

    /// Returns the reason why a round has no value.
    pub fn missing(self) -> &'static str {
        match self {
            Self::TfidfSimilarity | Self::WithinRoundSimilarity | Self::PairIdentity => {
                "fewer than two texts"
            }
            Self::NearSimilarity | Self::FarSimilarity => "no texts so far apart",
            Self::InputSimilarity => "no text from a call that read a message",
            Self::CompressionRatio => "fewer than 2 000 bytes",
            Self::Distinct1 | Self::Distinct2 | Self::Distinct3 => "fewer than 200 tokens",
            Self::Reuse5gram => "no text of 5 tokens",
            Self::Turnover => "no text in the window",
            Self::SeedEcho => "no seed, or no other text",
            Self::Messages | Self::CharsMean | Self::CharsMedian => "no message",
            Self::LostShare => "no answer",
        }
    }

    /// Returns the definition in words.
    pub fn definition(self) -> &'static str {
        match self {
            Self::TfidfSimilarity => {
                "mean cosine of all pairs of texts of the window; raw counts x (ln((1+D)/(1+df))+1), D and df over all texts of the run, length 1; texts without a token left out"
            }
            Self::WithinRoundSimilarity => {
                "mean cosine, as in tfidf_similarity, of all pairs of texts of the round"
            }
            Self::NearSimilarity => {
                "mean cosine, as in tfidf_similarity, of each text of the round with each of the 10 rounds before it; without seeds"
            }
            Self::FarSimilarity => {
                "mean cosine, as in tfidf_similarity, of each text of the round with each that is 50 or more rounds older; without seeds"
            }
            Self::InputSimilarity => {
                "mean over the round's texts of their mean cosine, as in tfidf_similarity, to the texts that their call read"
            }
            Self::CompressionRatio => {
                "size before / after deflate level 6 of the first 20 000 bytes of the window's texts joined by line feeds; no value below 2 000 bytes"
            }
            Self::Distinct1 => {
                "different / all tokens in the first 2 000 tokens of the window; no value below 200 tokens"
            }
            Self::Distinct2 => {
                "different / all runs of 2 tokens of a text in the first 2 000 tokens of the window; no value below 200 tokens"
            }
            Self::Distinct3 => {
                "different / all runs of 3 tokens of a text in the first 2 000 tokens of the window; no value below 200 tokens"
            }
            Self::Reuse5gram => {
                "mean over the round's texts of the share of runs of 5 tokens found in any earlier text; texts under 5 tokens left out"
            }
            Self::PairIdentity => "share of pairs of texts of the window that are equal",
            Self::Turnover => {
                "share of the different texts of the window that were not in the window a round before"
            }
            Self::SeedEcho => {
                "mean over the window's texts, seeds left out, of the highest cosine, as in tfidf_similarity, to one of the first 1 000 different seeds"
            }
            Self::Messages => "messages that the round added",
            Self::CharsMean => "mean number of characters of the round's texts",
            Self::CharsMedian => "median number of characters of the round's texts",
            Self::LostShare => {
                "share of the round's answers that sent no message, without silences"
            }
        }
    }

    /// Returns the encoder that texts are compared by; `None` if texts are not compared.
    pub fn encoder(self) -> Option<&'static str> {
        match self {
            Self::TfidfSimilarity
            | Self::WithinRoundSimilarity
            | Self::NearSimilarity
            | Self::FarSimilarity
            | Self::InputSimilarity
            | Self::SeedEcho => Some(ENCODER),
            _ => None,
        }
    }

    /// Returns whether the metric can be computed from samples of equal number and length.
    pub fn can_match(self) -> bool {
        !matches!(
            self,
            Self::InputSimilarity
                | Self::Reuse5gram
                | Self::Turnover
                | Self::Messages
                | Self::CharsMean
                | Self::CharsMedian
                | Self::LostShare
        )
    }

    /// Returns whether the metric depends on which texts occur, and not on their number or length alone. Only such a metric is compared with a null model.
    pub fn is_of_texts(self) -> bool {
        !matches!(
            self,
            Self::Messages | Self::CharsMean | Self::CharsMedian | Self::LostShare
        )
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::TfidfSimilarity
            | Self::CompressionRatio
            | Self::Distinct1
            | Self::Distinct2
            | Self::Distinct3
            | Self::PairIdentity
            | Self::Turnover
            | Self::SeedEcho => Unit::Window,
            _ => Unit::Round,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
