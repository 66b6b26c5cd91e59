//! What an iteration leaves behind besides rows: `iterations.summary_json`.

use popper_harness::decide::Status;
use serde::{Deserialize, Serialize};

use super::knowledge::Snapshot;
use crate::rank::Ranked;

/// The compact memory of one iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What the proposer was shown.
    pub snapshot: Snapshot,
    /// What the proposer noted for its next turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research_log: Option<String>,
    /// What could not be read of the proposer's answer as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Proposals, broken ones and repetitions included.
    pub proposed: u64,
    /// Proposals that are no law.
    pub rejected: u64,
    /// Proposals that the run had stored before, or that were proposed twice.
    pub duplicates: u64,
    /// Laws that were not tested because the database knows their verdict, by fingerprint.
    pub known: Vec<String>,
    /// The laws that were ranked, best first.
    pub ranking: Vec<Ranked>,
    /// The laws to test, in this order.
    pub selected: Vec<Selected>,
    /// The verdicts on them, once all are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<Verdicts>,
}

/// A law to test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected {
    /// The law.
    pub law_fingerprint: String,
    /// The seed of the attempt.
    pub seed: u64,
}

/// Verdicts, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// PASS.
    pub pass: u64,
    /// FAIL.
    pub fail: u64,
    /// UNKNOWN.
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
