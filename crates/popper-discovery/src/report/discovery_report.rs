//! A run as plain data.

use std::collections::BTreeSet;

use jiff::Timestamp;
use popper_harness::counterexample::Counterexample;
use popper_harness::decide::{Evidence, Power, Status};
use serde::{Deserialize, Serialize};

use super::diagram::Diagram;
use super::wording::Wording;
use crate::rank::Ranked;
use crate::recall::Recall;
use crate::snapshot::{RunConfig, Verdicts};
use crate::store::{IterationStatus, RunRow};

/// The version of the report's JSON.
pub const REPORT_VERSION: &str = "1.0.0";

/// All that a page tells of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiscoveryReport {
    /// The version of this form.
    pub schema_version: String,
    /// The run's row.
    pub run: RunRow,
    /// Its configuration, read.
    pub config: RunConfig,
    /// The symbols of the universe in order; the first is the background.
    pub symbols: Vec<char>,
    /// The verdicts that count, of whichever run of the database.
    pub verdicts: Verdicts,
    /// The laws with a verdict: accepted ones by strength, then refuted, then undecided ones by reason; else as stored.
    pub laws: Vec<Judged>,
    /// The proposals that are no law, as stored.
    pub rejected: Vec<Rejected>,
    /// Laws that wait for their test.
    pub waiting: u64,
    /// The iterations in order.
    pub iterations: Vec<ProposalTurn>,
    /// The ranking of the last iteration that has one, best first.
    pub ranking: Option<Ranking>,
    /// What models were asked.
    pub calls: Calls,
    /// What the run has found of the additive conserved quantities, by window width.
    pub recall: Vec<RecallReport>,
    /// How the verdicts of this run came one by one.
    pub curve: Vec<Point>,
}

/// A law with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The key of the law's row.
    pub id: i64,
    /// The proposer's name for it.
    pub law_id: String,
    /// sha256 of its normal form.
    pub law_fingerprint: String,
    /// The template's name.
    pub template: String,
    /// What it says, in one way of writing it.
    pub wording: Wording,
    /// What it says, in the proposer's words.
    pub claim: String,
    /// What would refute it, in the proposer's words.
    pub forbidden: String,
    /// The number of the iteration that brought it.
    pub iteration: Option<u32>,
    /// The key of the attempt's row.
    pub evaluation_id: i64,
    /// Whether this run made the attempt; else another run of the database did.
    pub own: bool,
    /// The seed of the attempt.
    pub seed: u64,
    /// The verdict.
    pub status: Status,
    /// Why it is UNKNOWN.
    pub reason: Option<String>,
    /// What would decide it then.
    pub needs: Option<String>,
    /// How the verdict was reached.
    pub evidence: Evidence,
    /// What the attempt was worth.
    pub power: Power,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// What refutes it.
    pub refutation: Option<Refutation>,
}

/// A counterexample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refutation {
    /// The key of its row.
    pub id: i64,
    /// What reproduces it.
    pub package: Counterexample,
    /// How it looks: two runs for a symmetry, else one; none where there were too many to draw all.
    pub diagrams: Vec<Diagram>,
}

/// A proposal that is no law.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// The key of its row.
    pub id: i64,
    /// The proposer's name for it.
    pub law_id: String,
    /// The number of the iteration that brought it.
    pub iteration: Option<u32>,
    /// Every reason.
    pub problems: Vec<RejectionReason>,
    /// The beginning of what the proposer wrote; the database has all of it.
    pub raw: String,
    /// How many characters it wrote.
    pub raw_characters: u64,
}

/// Why a proposal is no law.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectionReason {
    /// Where in it, as a JSON path.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

/// An iteration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProposalTurn {
    /// Its number, from 1.
    pub index: u32,
    /// Where it stands.
    pub status: IterationStatus,
    /// When it was begun.
    pub started_at: Timestamp,
    /// When it was completed.
    pub completed_at: Option<Timestamp>,
    /// sha256 of the prompt, where a model was asked.
    pub prompt_hash: Option<String>,
    /// What it chose; none before it has chosen.
    pub plan: Option<TurnPlan>,
}

/// What an iteration chose, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnPlan {
    /// Proposals, broken ones and repetitions included.
    pub proposed: u64,
    /// Proposals that are no law.
    pub rejected: u64,
    /// Proposals that were there before.
    pub duplicates: u64,
    /// Laws that were not tested because the database knew their verdict.
    pub known: u64,
    /// Laws to test.
    pub selected: u64,
    /// The verdicts on them, once all are there.
    pub verdicts: Option<Verdicts>,
    /// What the proposer noted, where it is not what it had noted before.
    pub research_log: Option<String>,
    /// What could not be read of the answer as a whole.
    pub problem: Option<String>,
}

/// The ranking of an iteration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// The number of the iteration.
    pub iteration: u32,
    /// The laws, best first.
    pub laws: Vec<Ranked>,
    /// The fingerprints of those that were chosen for a test.
    pub selected: BTreeSet<String>,
}

/// The questions to models, summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// How many there were.
    pub count: u64,
    /// The models that answered.
    pub models: BTreeSet<String>,
    /// Tokens of the prompts, as far as the servers said.
    pub input_tokens: u64,
    /// Tokens of the answers, as far as the servers said.
    pub output_tokens: u64,
    /// Calls whose tokens nobody told.
    pub uncounted: u64,
    /// The price in billionths of a dollar, as far as it is known.
    pub nano_usd: i64,
    /// Calls whose price is not known.
    pub unpriced: u64,
}

/// What a run has found of the additive conserved quantities of one window width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecallReport {
    /// The window width.
    pub width: usize,
    /// What was found.
    pub recall: Option<Recall>,
    /// Why that is not known, where the universe is too large for it.
    pub problem: Option<String>,
}

/// Where a run stood after one of its attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Point {
    /// The verdicts so far.
    pub verdicts: Verdicts,
    /// How many independent quantities of the widest known span were found so far.
    pub found: u64,
}
