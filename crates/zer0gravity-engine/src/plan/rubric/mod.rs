//! Own measures of a user: a file of scorers, and the ones that need no model.
//!
//! [`Rubric::read`] reads the file. A run scores every decoded text by it: [`Scorer::of_texts`] compares texts, and judges are asked
//! with prompts of the file. Own measures never change the five numbers of the built-in rubric.

mod of_texts;
mod read;
mod scorer;
mod template;

use serde::{Deserialize, Serialize};

pub use of_texts::{ScoredTexts, TextScore};
pub use read::RubricError;
pub use scorer::{
    CommandScorer, JudgeScorer, MetricName, MetricScorer, PatternScorer, PatternTarget, ScoredBy,
    Scorer,
};
pub(crate) use template::fill;

use crate::text::hash::canonical_sha256;

/// The version of the file.
pub const RUBRIC_SCHEMA_VERSION: u32 = 1;

/// The scorers of a file.
///
/// ```
/// use zer0gravity_engine::plan::rubric::Rubric;
/// let rubric = Rubric::read(r#"
/// schema_version = 1
/// name = "contracts"
/// [[scorer]]
/// id = "obligations"
/// kind = "judge"
/// scale = [0, 10]
/// system = 'Reply with JSON: {"score": 0 to 10, "reasoning": "..."}'
/// user = "ORIGINAL:\n{original}\n\nDECODED:\n{decoded}"
/// "#).unwrap();
/// assert_eq!(rubric.scorers[0].id, "obligations");
/// let error = Rubric::read("schema_version = 1\nname = 'a'\nscorers = 3").unwrap_err();
/// assert_eq!((error.line, error.column), (3, 1));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Rubric {
    /// The name of the rubric.
    pub name: String,
    /// The scorers, at least one, each with a unique id.
    pub scorers: Vec<Scorer>,
}

impl Rubric {
    /// The SHA-256 of the scorers as canonical JSON in hex.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "strings and finite numbers make JSON"
    )]
    pub fn sha256(&self) -> String {
        canonical_sha256(serde_json::to_value(self).expect("a rubric as JSON"))
    }

    /// The programs of its scorers.
    pub fn programs(&self) -> impl Iterator<Item = &CommandScorer> {
        self.scorers.iter().filter_map(|scorer| match &scorer.by {
            ScoredBy::Command(program) => Some(program),
            _ => None,
        })
    }

    /// The scorers that ask a judge.
    pub fn judges(&self) -> impl Iterator<Item = (&Scorer, &JudgeScorer)> {
        self.scorers.iter().filter_map(|scorer| match &scorer.by {
            ScoredBy::Judge(judge) => Some((scorer, judge)),
            _ => None,
        })
    }
}
