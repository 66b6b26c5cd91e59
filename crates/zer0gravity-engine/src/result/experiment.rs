use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::judge::flags::Flag;
use crate::metrics::cost::Cost;
use crate::result::{
    Details, Metadata, Metrics, OwnScore, PartialTotal, PreviousScores, Procedural, ResultScores,
};
use crate::{Outcome, StageRecord};

/// The result of one experiment: one text, encoding, trial and decoding. A failed experiment has no [`Self::scores`] and no
/// [`Self::total`], and only the other fields that were reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExperimentResult {
    /// The id of the case.
    pub test_case_id: String,
    /// One sentence that names stage and cause; `None` unless the experiment failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The text of the case.
    #[serde(with = "crate::text::arc")]
    pub original_text: Arc<str>,
    /// The encoder's reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoded_text: Option<String>,
    /// The decoder's reply, trimmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded_text: Option<String>,
    /// The rules that were used.
    #[serde(with = "crate::text::arc")]
    pub encoding_system: Arc<str>,
    /// The number of tokens of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_tokens: Option<i64>,
    /// The number of tokens of the encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoded_tokens: Option<i64>,
    /// The saved share, three decimals, negative for an expansion.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::judge::number::plain_option"
    )]
    pub compression_ratio: Option<f64>,
    /// The parts of the score.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::result::complete"
    )]
    pub scores: Option<ResultScores>,
    /// The sum of the parts, 0 to 100; `None` where [`Self::partial_total`] is `Some`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u8>,
    /// The points of 95 of a result without rules, whose implementability is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_total: Option<PartialTotal>,
    /// The judges' replies and the figures that the score was computed from.
    pub details: Details,
    /// The models, the time and the calls of the experiment.
    pub metadata: Metadata,
    /// Whether no model was asked.
    pub offline: bool,
    /// The status of the first stage that failed, or `ok`.
    pub outcome: Outcome,
    /// Every stage, in order.
    pub stages: Vec<StageRecord>,
    /// The similarity of the decoded text to the original, by text metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
    /// The scores by the user's rubric, which change no other number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_scores: Vec<OwnScore>,
    /// The findings for a reader; no flag changes the score.
    pub flags: Vec<Flag>,
    /// Whether the decoded instruction still gives the expected result.
    pub procedural: Procedural,
    /// The saving of the encoding; `None` unless the plan asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Box<Cost>>,
    /// The level of a built-in case.
    pub level: Option<u32>,
    /// The number of this encoding of the text, from 1.
    pub trial: u32,
    /// The number of this decoding of the encoded text, from 1.
    pub decode: u32,
    /// The encoding's id.
    pub encoding_id: String,
    /// The scores before the latest rescore.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::result::complete"
    )]
    pub previous_scores: Option<PreviousScores>,
    /// The version of the JSON format.
    #[serde(rename = "schema_version")]
    pub schema_version: u32,
}
