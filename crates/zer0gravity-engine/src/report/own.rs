//! The scores by the user's rubric.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::grouped::{Group, over_texts};
use crate::ExperimentResult;
use crate::metrics::stats::MeanEstimate;
use crate::result::{OwnScore, OwnStatus};

/// The scores of an encoding system by one scorer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OwnStatistics {
    /// The scorer's id.
    pub id: String,
    /// The lowest and the highest score.
    pub scale: [f64; 2],
    /// The results for which the scorer failed.
    pub failed: usize,
    /// The mean over texts of all results with a score.
    #[serde(flatten)]
    pub mean: MeanEstimate,
}

impl OwnStatistics {
    pub(super) fn of(groups: &[&Group<'_>]) -> Vec<Self> {
        let items = || groups.iter().flat_map(|group| group.items.iter().copied());
        let scorers = scorers(items()).into_iter();
        scorers
            .map(|(id, scale)| Self {
                id: id.to_owned(),
                scale,
                failed: items()
                    .filter_map(|item| find(item, id))
                    .filter(|score| is_failed(score))
                    .count(),
                mean: over_texts(groups, |item| score(item, id), (scale[0], scale[1])),
            })
            .collect()
    }
}

/// The scorers of results with their scales, in the order of the rubric.
pub(super) fn scorers<'a>(
    results: impl IntoIterator<Item = &'a ExperimentResult>,
) -> Vec<(&'a str, [f64; 2])> {
    let mut scorers: Vec<(&str, [f64; 2])> = Vec::new();
    let mut known = BTreeSet::new();
    for own in results.into_iter().flat_map(|result| &result.own_scores) {
        if known.insert(&own.id) {
            scorers.push((&own.id, own.scale));
        }
    }
    scorers
}

/// The score of a result by a scorer, if it has one.
pub(super) fn score(result: &ExperimentResult, id: &str) -> Option<f64> {
    find(result, id)?.score.filter(|score| score.is_finite())
}

/// The score of a result by a scorer, with its reason.
pub(super) fn find<'a>(result: &'a ExperimentResult, id: &str) -> Option<&'a OwnScore> {
    result.own_scores.iter().find(|score| score.id == id)
}

fn is_failed(score: &OwnScore) -> bool {
    score.status == OwnStatus::ScorerFailed
}
