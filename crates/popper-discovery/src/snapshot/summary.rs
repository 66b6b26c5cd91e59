//! The summary of an iteration, which is stored in `iterations.summary_json`.

use popper_harness::decide::Status;
use serde::{Deserialize, Serialize};

use super::knowledge::Snapshot;
use crate::rank::Ranked;

/// The plan and the result of one iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The snapshot that the proposer received.
    pub snapshot: Snapshot,
    /// The proposer's notes for its next turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research_log: Option<String>,
    /// The problem with the reply as a whole, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Number of proposals, invalid and repeated ones included.
    pub proposed: u64,
    /// Number of invalid proposals.
    pub rejected: u64,
    /// Number of proposals that the run had stored before, or that were proposed twice.
    pub duplicates: u64,
    /// Fingerprints of the laws that were not tested because the database has their verdict.
    pub known: Vec<String>,
    /// The ranked laws, best first.
    pub ranking: Vec<Ranked>,
    /// The laws to test, in this order.
    pub selected: Vec<Selected>,
    /// The verdicts on the laws to test, once all are decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<Verdicts>,
}

/// A law to test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Selected {
    /// The law.
    pub law_fingerprint: String,
    /// The seed of the attempt.
    pub seed: u64,
}

/// Numbers of laws by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdicts {
    /// Number of laws with the verdict PASS.
    pub pass: u64,
    /// Number of laws with the verdict FAIL.
    pub fail: u64,
    /// Number of laws with the verdict UNKNOWN.
    pub unknown: u64,
}

impl Verdicts {
    pub(crate) fn count(&mut self, status: Status) {
        match status {
            Status::Pass => self.pass += 1,
            Status::Fail => self.fail += 1,
            Status::Unknown => self.unknown += 1,
        }
    }
}
