//! The score of an episode. It has no weighted sum: each number answers another question.

use serde::{Deserialize, Serialize};

use super::contract::LabContract;
use super::limits::LAB_VERSION;
use super::tier::LabTier;

/// The score of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LabScore {
    /// The version of this form.
    pub schema_version: String,
    /// The tier.
    pub tier: LabTier,
    /// The commitment to the universe.
    pub commitment: String,
    /// Whether the player ended the episode.
    #[serde(rename = "ended")]
    pub is_ended: bool,
    /// The cells of all experiments.
    pub cells: CellCount,
    /// The number of experiments.
    pub experiments: u64,
    /// The number of lines that were answered by an error before the end.
    pub rejected_lines: u64,
    /// The predictions, by time.
    pub predictions: Vec<TimeScore>,
    /// The laws.
    pub laws: LawScore,
}

/// Cells that experiments cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CellCount {
    /// The number of cells that were spent.
    pub spent: u64,
    /// The number of cells that could be spent.
    pub budget: u64,
}

/// The predictions for one time. In tier C a cell is one value of an observable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TimeScore {
    /// The time, in steps after the start.
    pub t: u64,
    /// The number of cells.
    pub cells: u64,
    /// The number of cells that were predicted right.
    pub right: u64,
    /// The number of cells without a prediction.
    pub abstained: u64,
    /// The number of cells that the best constant symbol is right about, or the best constant values in tier C.
    pub chance: u64,
    /// The share of all cells that were predicted right, `0..=1`, rounded down to six decimals.
    pub right_share: f64,
    /// The share of all cells without a prediction, rounded down as well.
    pub abstained_share: f64,
    /// The share of all cells that the best constant is right about, rounded down as well.
    pub chance_share: f64,
}

/// The laws of an episode: each counts once, under one of `proved`, `exhaustive`, `sampled`, `false_laws`, `tautologies`, `undecided` or
/// `repeated`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LawScore {
    /// The number of laws.
    pub stated: u64,
    /// The number of laws that are true on every ring, by a proof.
    pub proved: u64,
    /// The number of laws that are true on all starts of the rings that were exhausted.
    pub exhaustive: u64,
    /// The number of laws that no sampled start refutes.
    pub sampled: u64,
    /// The number of false laws.
    #[serde(rename = "false")]
    pub false_laws: u64,
    /// The number of laws that hold in every universe, whatever its rule.
    pub tautologies: u64,
    /// The number of laws that the harness cannot decide.
    pub undecided: u64,
    /// The number of laws that repeat another one with the same result; a longer or shorter horizon is a repetition.
    pub repeated: u64,
    /// The recall of additive conserved quantities.
    pub additive: FoundCount,
    /// The recall of transforms that commute with the rule.
    pub transforms: FoundCount,
    /// The result of each law, in their order.
    pub results: Vec<LawResult>,
    /// The versions of the harness that decided the laws.
    pub decided_by: String,
    /// sha256 of the harness's configuration.
    pub harness_config_hash: String,
}

/// A number of things that were found, of those that there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FoundCount {
    /// The number of things that were found.
    pub found: u64,
    /// The number of things that there are.
    pub of: u64,
}

/// The result of one law.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LawResult {
    /// The player's name for the law.
    pub law_id: String,
    /// The count in [`LawScore`] that the law belongs to, such as `proved` or `false`.
    pub result: String,
    /// The reason code, for a law that the harness cannot decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl TimeScore {
    pub(super) fn new(t: u64, cells: u64, right: u64, abstained: u64, chance: u64) -> Self {
        // Six decimals: such a number is read back exactly by every reader, and only all cells are 1.
        let share = |count: u64| (count * 1_000_000 / cells.max(1)) as f64 / 1e6;
        Self {
            t,
            cells,
            right,
            abstained,
            chance,
            right_share: share(right),
            abstained_share: share(abstained),
            chance_share: share(chance),
        }
    }
}

impl LabScore {
    pub(super) fn new(
        contract: &LabContract,
        is_ended: bool,
        left: u64,
        experiments: u64,
        rejected_lines: u64,
        predictions: Vec<TimeScore>,
        laws: LawScore,
    ) -> Self {
        let budget = contract.limits.budget_cells;
        Self {
            schema_version: LAB_VERSION.to_owned(),
            tier: contract.tier,
            commitment: contract.commitment.clone(),
            is_ended,
            cells: CellCount {
                spent: budget - left,
                budget,
            },
            experiments,
            rejected_lines,
            predictions,
            laws,
        }
    }

    /// Returns the score as JSON on one line: the answer to `end`.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
