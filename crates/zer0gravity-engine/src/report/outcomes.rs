//! The ends of a run's experiments.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::grouped::OutcomeCounts;
use crate::{ExperimentResult, StageName, StageStatus};

/// The number of experiments by their end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Outcomes {
    /// The number of all experiments.
    pub items: usize,
    /// Experiments with a total: the only ones that count in a mean of totals.
    pub scored: usize,
    /// Experiments without rules: scored of 95, without a total.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partial: usize,
    /// Experiments that did not end `ok`.
    pub failed: usize,
    /// The numbers by status and stage, `ok` first.
    pub counts: Vec<OutcomeCount>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The number of experiments with one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OutcomeCount {
    /// The status.
    pub status: StageStatus,
    /// The stage; `None` for `ok`.
    pub stage: Option<StageName>,
    /// The number of experiments, at least 1.
    pub count: usize,
}

impl Outcomes {
    pub(super) fn of(results: &[ExperimentResult]) -> Self {
        let tally = OutcomeCounts::of(results);
        let mut counts = BTreeMap::new();
        for result in results {
            let outcome = &result.outcome;
            *counts.entry((outcome.status, outcome.stage)).or_insert(0) += 1;
        }
        Self {
            items: tally.items,
            scored: tally.scored,
            partial: tally.partial,
            failed: tally.failed,
            counts: (counts.into_iter())
                .map(|((status, stage), count)| OutcomeCount {
                    status,
                    stage,
                    count,
                })
                .collect(),
        }
    }
}
