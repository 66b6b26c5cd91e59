use serde::{Deserialize, Serialize};

use super::JudgeSample;
use crate::StageStatus;

/// The score of a result by a scorer of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OwnScore {
    /// The scorer's id.
    pub id: String,
    /// The scorer's kind: `judge`, `exact`, `contains`, `regex` or `metric`.
    pub kind: String,
    /// The lowest and the highest score.
    pub scale: [f64; 2],
    /// The score; `None` unless the status is `ok`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::judge::number::plain_option"
    )]
    pub score: Option<f64>,
    /// Whether there is a score, and else why not.
    pub status: OwnStatus,
    /// The end of a judge that gave no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<StageStatus>,
    /// The reason of the judge; for a failure its cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Every reply of the judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<JudgeSample>,
}

/// The end of a scorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OwnStatus {
    /// The scorer gave a score.
    Ok,
    /// The text has nothing that is measured: no expected output, or no critical commitment.
    NotApplicable,
    /// The judge gave no score.
    ScorerFailed,
}
