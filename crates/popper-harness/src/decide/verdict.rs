//! The verdict of the harness and its parts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counterexample::Counterexample;
use crate::proof::Proof;

/// The version of the verdict's JSON.
pub const VERDICT_VERSION: &str = "2.0.0";

/// The three answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a verdict is PASS, FAIL or UNKNOWN"
)]
pub enum Status {
    /// Not refuted, and the attempt had the power to refute.
    Pass,
    /// Refuted by the counterexample.
    Fail,
    /// Neither shown; the reason code says why.
    Unknown,
}

/// A reason why a law is UNKNOWN, in the order in which reasons count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownReason {
    /// The law reads an observable that the harness does not have.
    MissingObservable,
    /// The law needs a transform that the universe does not have.
    MissingTransform,
    /// The law needs a case family that the harness does not have.
    MissingGenerator,
    /// The claim has no single meaning.
    AmbiguousClaim,
    /// An expression has no value on some case.
    EvaluationError,
    /// Too few starts meet the preconditions.
    UnmetPreconditions,
    /// The antecedent never held.
    VacuousPass,
    /// The law holds for any dynamics.
    TautologicalClaim,
    /// A budget ended before the question was settled.
    ResourceLimit,
    /// No case refuted the law, but the attempt lacked the power to refute it.
    InconclusiveLowPower,
}

/// The strength of the evidence for a law, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "a verdict is proved or sampled")]
pub enum Strength {
    /// Generated cases only.
    Sampled,
    /// Every admissible start up to a ring size.
    Exhaustive,
    /// A certificate for every ring size.
    Proved,
}

/// The evidence for a verdict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evidence {
    /// The best strength that was reached; `None` if there is no evidence.
    pub strength: Option<Strength>,
    /// The scope of the strength, in words.
    pub scope: String,
    /// Whether the scope covers everything admissible.
    pub complete: bool,
    /// The proof, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// The simulated steps.
    pub horizon: HorizonNote,
}

/// The simulated steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HorizonNote {
    /// The T that the law asks for, in steps.
    #[serde(rename = "T")]
    pub t: u64,
    /// The H that the law asks for, in steps.
    #[serde(rename = "H", skip_serializing_if = "Option::is_none")]
    pub h: Option<u64>,
    /// Whether every requested step was simulated or repeats one that was.
    pub exact: bool,
    /// The explanation, in words.
    pub note: String,
}

/// The power of the attempt to refute a law. Counts are cases unless stated otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Power {
    /// The generated starts.
    pub attempted: u64,
    /// The generated starts that met the preconditions.
    pub used: u64,
    /// The different starts among those.
    pub distinct: u64,
    /// The power on each ring size that was tried.
    pub rings: Vec<RingPower>,
    /// The used cases by density: entry i counts starts in which i/10 to (i+1)/10 of the cells are not the background.
    ///
    /// Exhausted rings of more than 14 cells are left out.
    pub densities: [u64; 10],
    /// The used cases by family.
    pub families: BTreeMap<String, u64>,
    /// The number of (case, step) at which the antecedent held.
    pub triggers: u64,
    /// The same number by family.
    pub trigger_families: BTreeMap<String, u64>,
    /// The share of used cases that visited a symbol which no start may hold, `0..=1`.
    pub collision_coverage: f64,
    /// The share of used cases with a mover at the seam of the ring, `0..=1`.
    pub wrap_coverage: f64,
    /// The result of the law's mutants on the same cases.
    pub mutation: Mutation,
}

/// The power on one ring size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RingPower {
    /// The number of cells.
    pub n: usize,
    /// Whether every admissible start was tried, one for each rotation class if the law is invariant under rotations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exhausted: bool,
    /// The generated starts.
    pub attempted: u64,
    /// The generated starts that met the preconditions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub used: u64,
    /// The different starts among those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub distinct: u64,
    /// The 95 % upper bound on the share of violating starts under the generators, `3 / distinct`; `None` if all were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation_rate_upper_95: Option<f64>,
}

/// The result of the law's mutants on the cases that the law survived.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Mutation {
    /// The number of mutants.
    pub total: u64,
    /// The number of mutants that the cases are known to refute: the first refuted one is the last that is tried.
    ///
    /// Verdicts of version 1 tried every mutant, and named the number `refuted`.
    #[serde(alias = "refuted")]
    pub refuted_at_least: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde calls"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A verdict. The same universe, config, law and seed give the same bytes, except for `runtime_ms`.
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
    /// The reason for UNKNOWN; `None` otherwise.
    pub reason_code: Option<UnknownReason>,
    /// The evidence for the answer.
    pub evidence: Evidence,
    /// The power of the attempt to refute the law.
    pub power: Power,
    /// The counterexample; `None` unless the answer is FAIL.
    pub counterexample: Option<Counterexample>,
    /// Further remarks for a reader.
    pub notes: Vec<String>,
    /// The run time in milliseconds, entered by a caller with a clock; the harness writes 0.
    pub runtime_ms: u64,
}

impl Verdict {
    /// Creates an UNKNOWN verdict without evidence, to be filled in.
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
