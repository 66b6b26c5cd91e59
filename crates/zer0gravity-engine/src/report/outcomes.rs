//! How the experiments of a run ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::grouped::OutcomeCounts;
use crate::{ExperimentResult, StageName, StageStatus};

/// How many experiments ended how.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Outcomes {
    /// All of them.
    pub items: usize,
    /// Those with a total: the only ones that count in a mean of totals.
    pub scored: usize,
    /// Those that no rules came with: scored of 95, without a total.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partial: usize,
    /// Those that did not end `ok`. A compatible judge parser may leave a few that are neither: `ok` without a total.
    pub failed: usize,
    /// By status and stage, `ok` first.
    pub counts: Vec<OutcomeCount>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// How many experiments ended this way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OutcomeCount {
    /// How.
    pub status: StageStatus,
    /// Where; none for `ok`.
    pub stage: Option<StageName>,
    /// How many, at least 1.
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
