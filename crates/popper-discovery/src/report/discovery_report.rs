//! A run as plain data.

use std::collections::BTreeSet;

use jiff::Timestamp;
use popper_harness::counterexample::Counterexample;
use popper_harness::decide::{Evidence, Power, Status};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::diagram::Diagram;
use super::wording::Wording;
use crate::rank::Ranked;
use crate::recall::Recall;
use crate::snapshot::{RunConfig, Verdicts};
use crate::store::{IterationStatus, RunRow};

/// The version of the report's JSON.
pub const REPORT_VERSION: &str = "3.1.0";

/// The data of the page of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiscoveryReport {
    /// The version of this form.
    pub schema_version: String,
    /// The run's row.
    pub run: RunRow,
    /// The parsed configuration of the run.
    pub config: RunConfig,
    /// The symbols of the universe in order; the first is the background.
    pub symbols: Vec<char>,
    /// Numbers of laws by verdict, in any run of the database.
    pub verdicts: Verdicts,
    /// Number of laws that another run of the database decided.
    pub known: u64,
    /// The newest 500 laws with a verdict: accepted ones by strength, then refuted, then undecided ones by reason; else as stored.
    pub laws: Vec<Judged>,
    /// Number of invalid proposals.
    pub invalid: u64,
    /// The newest 500 invalid proposals, as stored.
    pub rejected: Vec<Rejected>,
    /// Number of laws that wait for a test.
    pub waiting: u64,
    /// Number of completed iterations.
    pub completed: u64,
    /// The newest 500 iterations in order.
    pub iterations: Vec<ProposalTurn>,
    /// The ranking of the last iteration that has one, best first.
    pub ranking: Option<Ranking>,
    /// The calls to models, summed up.
    pub calls: Calls,
    /// The recall of the additive conserved quantities, by window width.
    pub recall: Vec<RecallReport>,
    /// Points of the discovery curve in order. The number of attempts at a point is the sum of its verdicts.
    pub curve: Vec<Point>,
}

impl DiscoveryReport {
    /// The number of laws with a verdict.
    pub fn tested(&self) -> u64 {
        let Verdicts {
            pass,
            fail,
            unknown,
        } = self.verdicts;
        pass + fail + unknown
    }

    /// Whether the report names every law with a verdict.
    pub fn has_all_laws(&self) -> bool {
        self.laws.len() as u64 >= self.tested()
    }
}

/// A law with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Judged {
    /// The key of the law's row.
    pub id: i64,
    /// The proposer's name for the law.
    pub law_id: String,
    /// sha256 of the normal form.
    pub law_fingerprint: String,
    /// The template's name.
    pub template: String,
    /// The text of the law, from its normal form.
    pub wording: Wording,
    /// The claim in the proposer's words.
    pub claim: String,
    /// The forbidden case in the proposer's words.
    pub forbidden: String,
    /// The number of the iteration that proposed it.
    pub iteration: Option<u32>,
    /// The key of the attempt's row.
    pub evaluation_id: i64,
    /// Whether this run made the attempt, and not another run of the database.
    pub own: bool,
    /// The seed of the attempt.
    pub seed: u64,
    /// The verdict.
    pub status: Status,
    /// The reason code of the verdict UNKNOWN.
    pub reason: Option<String>,
    /// The change that would make the law decidable.
    pub needs: Option<String>,
    /// The evidence of the verdict.
    pub evidence: Evidence,
    /// The power of the test. In JSON the facts of the ring sizes are columns: a list of values for each fact.
    #[serde(serialize_with = "ring_columns")]
    pub power: Power,
    /// The notes of the verdict.
    pub notes: Vec<String>,
    /// The counterexample of a FAIL.
    pub refutation: Option<Refutation>,
}

/// Writes the power with its ring sizes by columns, a third of their size by rows: there are up to twenty for each law.
fn ring_columns<S: Serializer>(power: &Power, serializer: S) -> Result<S::Ok, S::Error> {
    let mut json = serde_json::to_value(power).map_err(S::Error::custom)?;
    let rings = power.rings.iter();
    json["rings"] = json!({
        "n": rings.clone().map(|ring| ring.n).collect::<Vec<_>>(),
        "exhausted": rings.clone().map(|ring| ring.exhausted).collect::<Vec<_>>(),
        "attempted": rings.clone().map(|ring| ring.attempted).collect::<Vec<_>>(),
        "used": rings.clone().map(|ring| ring.used).collect::<Vec<_>>(),
        "distinct": rings.clone().map(|ring| ring.distinct).collect::<Vec<_>>(),
        "violation_rate_upper_95": rings.map(|ring| ring.violation_rate_upper_95).collect::<Vec<_>>(),
    });
    json.serialize(serializer)
}

/// A counterexample.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Refutation {
    /// The key of its row.
    pub id: i64,
    /// The data that reproduces the violation.
    pub package: Counterexample,
    /// The diagrams: two for a symmetry, else one. Empty if there are more refutations than diagrams.
    pub diagrams: Vec<Diagram>,
}

/// An invalid proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rejected {
    /// The key of its row.
    pub id: i64,
    /// The proposer's name for the law.
    pub law_id: String,
    /// The number of the iteration that proposed it.
    pub iteration: Option<u32>,
    /// The problems of the proposal.
    pub problems: Vec<RejectionReason>,
    /// The beginning of the proposer's text; the database has the whole text.
    pub raw: String,
    /// The length of the proposer's text in characters.
    pub raw_characters: u64,
}

/// A problem of an invalid proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RejectionReason {
    /// The place in the proposal, as a JSON path.
    pub path: String,
    /// The problem at this place.
    pub message: String,
}

/// An iteration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProposalTurn {
    /// The number of the iteration, from 1.
    pub index: u32,
    /// The status of the iteration.
    pub status: IterationStatus,
    /// The time at which the iteration began.
    pub started_at: Timestamp,
    /// The time at which the iteration was completed.
    pub completed_at: Option<Timestamp>,
    /// sha256 of the prompt, if a model was called.
    pub prompt_hash: Option<String>,
    /// The plan. `None` before the laws to test are selected.
    pub plan: Option<TurnPlan>,
}

/// The plan of an iteration, and its verdicts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TurnPlan {
    /// Number of proposals, invalid and repeated ones included.
    pub proposed: u64,
    /// Number of invalid proposals.
    pub rejected: u64,
    /// Number of repeated proposals.
    pub duplicates: u64,
    /// Number of laws that were not tested because the database had their verdict.
    pub known: u64,
    /// Number of laws to test.
    pub selected: u64,
    /// The verdicts on the laws to test, once all are decided.
    pub verdicts: Option<Verdicts>,
    /// The proposer's notes, if they differ from those before.
    pub research_log: Option<String>,
    /// The problem with the reply as a whole, if there is one.
    pub problem: Option<String>,
}

/// The ranking of an iteration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ranking {
    /// The number of the iteration.
    pub iteration: u32,
    /// The laws, best first.
    pub laws: Vec<Ranked>,
    /// The fingerprints of the laws that were selected for a test.
    pub selected: BTreeSet<String>,
}

/// The calls to models, summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Calls {
    /// The number of calls.
    pub count: u64,
    /// The models that replied.
    pub models: BTreeSet<String>,
    /// Tokens of the prompts, as far as the servers reported them.
    pub input_tokens: u64,
    /// Tokens of the replies, as far as the servers reported them.
    pub output_tokens: u64,
    /// Number of calls whose tokens are unknown.
    pub uncounted: u64,
    /// The price in billionths of a US dollar, as far as it is known.
    pub nano_usd: i64,
    /// Number of calls whose price is unknown.
    pub unpriced: u64,
}

/// The recall of the additive conserved quantities of one window width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecallReport {
    /// The window width in cells.
    pub width: usize,
    /// Number of accepted laws that state a conserved quantity. The recall names the first 500 of them, and those that were new.
    pub laws: u64,
    /// The recall, if it was computed.
    pub recall: Option<Recall>,
    /// The reason if the universe is too large for the computation.
    pub problem: Option<String>,
}

/// A point of the discovery curve: the state of a run after one of its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Point {
    /// The verdicts so far.
    pub verdicts: Verdicts,
    /// Number of independent quantities of the widest known space that were found so far.
    pub found: u64,
}
