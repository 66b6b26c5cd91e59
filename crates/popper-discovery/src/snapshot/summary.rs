//! The summary of an iteration, which is stored in `iterations.summary_json`.

use std::collections::BTreeMap;

use popper_harness::decide::Status;
use serde::{Deserialize, Deserializer, Serialize};

use super::knowledge::{Snapshot, Totals};
use crate::rank::Ranked;

/// The plan and the result of one iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The laws of the snapshot that the proposer received.
    pub snapshot: ShownLaws,
    /// The proposer's notes for its next turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research_log: Option<String>,
    /// The problem with the reply as a whole, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The position of the proposer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cursor: BTreeMap<String, u64>,
    /// Number of proposals, invalid and repeated ones included.
    pub proposed: u64,
    /// Number of invalid proposals.
    pub rejected: u64,
    /// Number of proposals that the run had stored before, or that were proposed twice.
    pub duplicates: u64,
    /// Fingerprints of the laws that were not tested because the database has their verdict.
    pub known: Vec<String>,
    /// The best 50 of the ranked laws, best first. Older programs kept all of them.
    pub ranking: Vec<Ranked>,
    /// The laws to test, in this order.
    pub selected: Vec<Selected>,
    /// The verdicts on the laws to test, once all are decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<Verdicts>,
}

/// The laws of a snapshot, by the first 16 digits of their fingerprints: the laws themselves are in the table `laws`. A summary of an
/// older program, which has the whole snapshot, reads as one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShownLaws {
    /// The latest of the accepted laws, at most 50.
    #[serde(deserialize_with = "beginnings")]
    pub accepted: Vec<String>,
    /// The latest of the refuted laws, at most 50.
    #[serde(deserialize_with = "beginnings")]
    pub falsified: Vec<String>,
    /// The latest of the undecided laws, at most 50.
    #[serde(deserialize_with = "beginnings")]
    pub unknown: Vec<String>,
    /// Numbers of laws in the whole run.
    pub totals: Totals,
}

/// Laws of a list that are kept, the latest ones.
const SHOWN: usize = 50;
/// Digits of a fingerprint that are kept.
const DIGITS: usize = 16;

impl ShownLaws {
    /// The laws of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self {
            accepted: latest(snapshot.accepted.iter().map(|law| &law.law_fingerprint)),
            falsified: latest(snapshot.falsified.iter().map(|law| &law.law_fingerprint)),
            unknown: latest(snapshot.unknown.iter().map(|law| &law.law_fingerprint)),
            totals: snapshot.totals,
        }
    }
}

fn latest<'a>(laws: impl ExactSizeIterator<Item = &'a String>) -> Vec<String> {
    let skip = laws.len().saturating_sub(SHOWN);
    let laws = laws.skip(skip);
    laws.map(|law| law.chars().take(DIGITS).collect()).collect()
}

/// Reads the laws of a list, each as a text or as the object that older programs stored.
fn beginnings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Entry {
        Beginning(String),
        Law { law_fingerprint: String },
    }
    let laws = Vec::<Entry>::deserialize(deserializer)?;
    let laws: Vec<String> = laws
        .into_iter()
        .map(|law| match law {
            Entry::Beginning(law)
            | Entry::Law {
                law_fingerprint: law,
            } => law,
        })
        .collect();
    Ok(latest(laws.iter()))
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
