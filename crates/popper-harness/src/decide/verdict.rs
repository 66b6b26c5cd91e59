//! What the harness answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counterexample::Counterexample;
use crate::proof::Proof;

/// The version of the verdict's JSON.
pub const VERDICT_VERSION: &str = "1.0.0";

/// The three answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Not refuted, and the attempt had the power to refute.
    Pass,
    /// Refuted by the counterexample.
    Fail,
    /// Neither; the reason says why.
    Unknown,
}

/// Why a law is UNKNOWN, in the order in which reasons count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownReason {
    /// It reads something that nobody measures.
    MissingObservable,
    /// It needs a transform that does not exist.
    MissingTransform,
    /// It needs cases that nobody generates.
    MissingGenerator,
    /// It can be read in more than one way, or in none.
    AmbiguousClaim,
    /// An expression had no value on some case.
    EvaluationError,
    /// Too few starts meet the preconditions.
    UnmetPreconditions,
    /// The antecedent never held.
    VacuousPass,
    /// It holds whatever the dynamics are.
    TautologicalClaim,
    /// A budget ended before the question was settled.
    ResourceLimit,
    /// Nothing refuted it, but the attempt might not have noticed.
    InconclusiveLowPower,
}

/// How far the evidence for a law reaches, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Generated cases.
    Sampled,
    /// Every admissible start up to a ring size.
    Exhaustive,
    /// A certificate for every ring size.
    Proved,
}

/// How the verdict was reached.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The best that was reached; absent where nothing was.
    pub strength: Option<Strength>,
    /// What the strength covers, in words.
    pub scope: String,
    /// Whether nothing admissible lies outside the scope.
    pub complete: bool,
    /// The certificate, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// How long runs were watched.
    pub horizon: HorizonNote,
}

/// How long runs were watched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HorizonNote {
    /// The T that the law asks for, in steps.
    #[serde(rename = "T")]
    pub t: u64,
    /// The H that the law asks for, in steps.
    #[serde(rename = "H", skip_serializing_if = "Option::is_none")]
    pub h: Option<u64>,
    /// Whether every step asked for was watched, or is the repetition of one that was.
    pub exact: bool,
    /// How, in words.
    pub note: String,
}

/// What the attempt to refute was worth. Counts are cases unless they say otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Power {
    /// Starts that were generated.
    pub attempted: u64,
    /// Of these, the ones that met the preconditions.
    pub used: u64,
    /// Of these, the different ones.
    pub distinct: u64,
    /// By ring size.
    pub rings: Vec<RingPower>,
    /// Used cases by density: entry i counts starts of which i/10 to (i+1)/10 of the cells are not the background. Exhausted rings of more than 14 cells are left out.
    pub densities: [u64; 10],
    /// Used cases by family.
    pub families: BTreeMap<String, u64>,
    /// How often the antecedent held, counted once a case and step.
    pub triggers: u64,
    /// The same by family.
    pub trigger_families: BTreeMap<String, u64>,
    /// The share of used cases that visited a symbol which no start may hold, `0..=1`.
    pub collision_coverage: f64,
    /// The share of used cases in which something stood at the seam of the ring, `0..=1`.
    pub wrap_coverage: f64,
    /// How the law's mutants fared on the same cases.
    pub mutation: Mutation,
}

/// The power on one ring size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RingPower {
    /// The number of cells.
    pub n: usize,
    /// Whether every admissible start was tried (rotations counted once where the law does not see them).
    pub exhausted: bool,
    /// Starts that were generated.
    pub attempted: u64,
    /// Of these, the ones that met the preconditions.
    pub used: u64,
    /// Of these, the different ones.
    pub distinct: u64,
    /// The 95 % upper bound on the share of violating starts under the generators, `3 / distinct`; absent where all were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation_rate_upper_95: Option<f64>,
}

/// How the law's mutants fared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Mutation {
    /// How many mutants there were.
    pub total: u64,
    /// How many of them the same cases refuted.
    pub refuted: u64,
    /// `refuted / total`, 0 where there were none.
    pub score: f64,
}

/// A verdict. The same universe, config, law and seed give the same bytes, but for `runtime_ms`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The version of this form.
    pub schema_version: String,
    /// The proposer's name for the law.
    pub law_id: String,
    /// sha256 of the law's normal form.
    pub law_fingerprint: String,
    /// sha256 of the universe's definition.
    pub sim_hash: String,
    /// sha256 of the configuration.
    pub harness_config_hash: String,
    /// The seed of all randomness.
    pub seed: u64,
    /// The answer.
    pub status: Status,
    /// Why it is UNKNOWN.
    pub reason_code: Option<UnknownReason>,
    /// How it was reached.
    pub evidence: Evidence,
    /// What the attempt was worth.
    pub power: Power,
    /// The refutation, where the answer is FAIL.
    pub counterexample: Option<Counterexample>,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// Milliseconds, entered by whoever holds a clock; the harness itself leaves 0.
    pub runtime_ms: u64,
}

impl Verdict {
    /// An UNKNOWN verdict without evidence, to be filled in.
    pub fn new(
        law_id: String,
        law_fingerprint: String,
        sim_hash: String,
        harness_config_hash: String,
        seed: u64,
    ) -> Self {
        Self {
            schema_version: VERDICT_VERSION.into(),
            law_id,
            law_fingerprint,
            sim_hash,
            harness_config_hash,
            seed,
            status: Status::Unknown,
            reason_code: None,
            evidence: Evidence::default(),
            power: Power::default(),
            counterexample: None,
            notes: Vec::new(),
            runtime_ms: 0,
        }
    }
}
