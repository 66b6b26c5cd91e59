//! What is remembered, row by row: the fields are the columns of the tables with the same names.
//!
//! An `id` is given by the store; it is 0 in a row that is not stored yet. Columns that end in `_json` hold compact JSON text.

use jiff::Timestamp;
use popper_harness::decide::Status;
use serde::{Deserialize, Serialize};

/// `runs`: one logical run from end to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunRow {
    /// The primary key.
    pub id: i64,
    /// When it was begun.
    pub created_at: Timestamp,
    /// The name of the universe.
    pub universe_id: String,
    /// The universe's `definition_hash`.
    pub sim_hash: String,
    /// `Harness::config_hash` at the start.
    pub harness_hash: String,
    /// Who proposes: `enumerative`, or a model's id.
    pub discovery_model_id: String,
    /// Who tests, where that is a model; the harness is none.
    pub tester_model_id: Option<String>,
    /// A [`RunConfig`](crate::RunConfig).
    pub config_json: String,
}

/// Where an iteration stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationStatus {
    /// Begun, and not known to have ended: under way, or killed.
    Running,
    /// Every selected law is decided and stored.
    Completed,
    /// Stopped on request; the next run goes on with it.
    Aborted,
}

/// `iterations`: one turn of the loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Iteration {
    /// The primary key.
    pub id: i64,
    /// Its run.
    pub run_id: i64,
    /// Its number within the run, from 1.
    pub iteration_index: u32,
    /// When it was begun.
    pub started_at: Timestamp,
    /// When it was completed.
    pub completed_at: Option<Timestamp>,
    /// Where it stands.
    pub status: IterationStatus,
    /// sha256 of the prompt, where a model was asked.
    pub prompt_hash: Option<String>,
    /// A [`Summary`](crate::Summary), from the moment the laws to test are chosen.
    pub summary_json: Option<String>,
}

/// What became of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LawStatus {
    /// A law, waiting to be chosen.
    Proposed,
    /// No law; `normalized_json` says why.
    RejectedSchema,
    /// Chosen, not decided yet.
    Queued,
    /// Decided, in this run or in another one of the same database.
    Tested,
}

/// `laws`: a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LawRow {
    /// The primary key.
    pub id: i64,
    /// Its run.
    pub run_id: i64,
    /// The proposer's name for it.
    pub law_id: String,
    /// sha256 of `normalized_json`; of the raw text where it is no law.
    pub law_fingerprint: String,
    /// The version of the law's form.
    pub schema_version: String,
    /// The template's name, empty where it is no law.
    pub template: String,
    /// `{T, H?}`.
    pub quantifiers_json: String,
    /// The preconditions, sorted.
    pub preconditions_json: String,
    /// The named observables as given.
    pub observables_json: String,
    /// What it says, in words, white space folded.
    pub claim_text: String,
    /// What would refute it, in words, white space folded.
    pub forbidden_text: String,
    /// The cases it asks for.
    pub proposed_tests_json: String,
    /// What it declares missing.
    pub capability_requirements_json: String,
    /// The iteration that brought it.
    pub created_iteration_id: i64,
    /// As the proposer wrote it, which need not be JSON.
    pub raw_llm_json: String,
    /// The normal form; `{"problems": [..]}` where it is no law.
    pub normalized_json: String,
    /// What became of it.
    pub status: LawStatus,
}

/// `law_evaluations`: one attempt at a law.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvaluationRow {
    /// The primary key.
    pub id: i64,
    /// Its run.
    pub run_id: i64,
    /// The key of its law in `laws`.
    pub law_id: i64,
    /// `Harness::config_hash`.
    pub harness_config_hash: String,
    /// The seed of the attempt: the configuration's, plus one for each earlier attempt.
    pub seed: u64,
    /// When it was begun.
    pub started_at: Timestamp,
    /// When the verdict was there.
    pub completed_at: Timestamp,
    /// The verdict.
    pub status: Status,
    /// Why it is UNKNOWN.
    pub reason_code: Option<String>,
    /// `Verdict::evidence`.
    pub evidence_json: String,
    /// `Verdict::power`.
    pub power_metrics_json: String,
    /// How long it took, in milliseconds.
    pub runtime_ms: u64,
    /// The key of the refutation in `counterexamples`.
    pub counterexample_id: Option<i64>,
    /// The effective configuration of the harness and the digest of the verdict.
    pub artifacts_json: String,
    /// `Verdict::notes`, a JSON array of texts; in rows of older programs one a line.
    pub notes: String,
}

/// `counterexamples`: the package that reproduces a FAIL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CounterexampleRow {
    /// The primary key.
    pub id: i64,
    /// Its run.
    pub run_id: i64,
    /// The key of the attempt in `law_evaluations`.
    pub law_evaluation_id: i64,
    /// The start.
    pub initial_state: String,
    /// `Counterexample::config`: ring size, universe, law.
    pub config_json: String,
    /// The seed under which it was found.
    pub seed: u64,
    /// The horizon of the law (column `T`).
    #[serde(rename = "T")]
    pub t: u64,
    /// The first step at which the claim fails.
    pub t_fail: u64,
    /// `Counterexample::witness`.
    pub witness_json: String,
    /// `Counterexample::trajectory_excerpt`.
    pub trajectory_excerpt_json: String,
    /// Whether it was made smaller after it was found.
    pub minimized: bool,
    /// When it was found.
    pub created_at: Timestamp,
}

/// `verdict_keys`: what is decided in this database, whichever run decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictKey {
    /// The law.
    pub law_fingerprint: String,
    /// The configuration.
    pub harness_config_hash: String,
    /// The universe.
    pub sim_hash: String,
    /// The attempt that decided it.
    pub evaluation_id: i64,
    /// sha256 of the verdict's JSON without `runtime_ms`.
    pub verdict_digest: String,
}

/// `llm_calls`: a question to a model and its answer, stored before it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallRow {
    /// The primary key.
    pub id: i64,
    /// Its run.
    pub run_id: i64,
    /// Its iteration.
    pub iteration_id: i64,
    /// Its number within the iteration, from 0; later ones ask for repairs.
    pub turn: u32,
    /// When the answer was there.
    pub created_at: Timestamp,
    /// What was asked and answered.
    #[serde(flatten)]
    pub call: ModelCallRow,
}

/// A question to a model and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelCallRow {
    /// The model that answered.
    pub model_id: String,
    /// sha256 of the request.
    pub prompt_hash: String,
    /// The request as it was sent.
    pub request_json: String,
    /// The whole text of the answer.
    pub reply_text: String,
    /// A [`UsageRow`].
    pub usage_json: String,
}

/// What a call took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageRow {
    /// Tokens of the prompt, where the server says.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, where the server says.
    pub output_tokens: Option<u64>,
    /// The price in billionths of a dollar, where it is known.
    pub nano_usd: Option<i64>,
}

/// `capability_snapshots`: what could be said and tested from some iteration on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapabilityRow {
    /// The primary key.
    pub id: i64,
    /// Its run.
    pub run_id: i64,
    /// The first iteration it holds for.
    pub iteration_id: i64,
    /// A [`UniverseContract`](crate::UniverseContract).
    pub universe_contract_json: String,
    /// A [`Capabilities`](crate::Capabilities).
    pub harness_capabilities_json: String,
    /// When it was taken.
    pub created_at: Timestamp,
}
