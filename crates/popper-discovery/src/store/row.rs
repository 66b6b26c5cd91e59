//! The rows of the tables: the fields are the columns with the same names.
//!
//! An `id` is given by the store; it is 0 in a row that is not stored yet. Columns that end in `_json` hold compact JSON text.

use jiff::Timestamp;
use popper_harness::decide::Status;
use serde::{Deserialize, Serialize};

/// A row of `runs`: one logical run from end to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunRow {
    /// The primary key.
    pub id: i64,
    /// The time at which the run began.
    pub created_at: Timestamp,
    /// The name of the universe.
    pub universe_id: String,
    /// The universe's `definition_hash`.
    pub sim_hash: String,
    /// `Harness::config_hash` at the start.
    pub harness_hash: String,
    /// The proposer's id: `enumerative`, or a model's id.
    pub discovery_model_id: String,
    /// The id of the model that tests. `None` for the harness.
    pub tester_model_id: Option<String>,
    /// A [`RunConfig`](crate::RunConfig).
    pub config_json: String,
}

/// The status of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IterationStatus {
    /// Begun, and not known to have ended: running, or killed.
    Running,
    /// Every selected law is decided and stored.
    Completed,
    /// Stopped on request; the next run continues it.
    Aborted,
}

/// A row of `iterations`: one iteration of the loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Iteration {
    /// The primary key.
    pub id: i64,
    /// The key of the run.
    pub run_id: i64,
    /// The number of the iteration within the run, from 1.
    pub iteration_index: u32,
    /// The time at which the iteration began.
    pub started_at: Timestamp,
    /// The time at which the iteration was completed.
    pub completed_at: Option<Timestamp>,
    /// The status of the iteration.
    pub status: IterationStatus,
    /// sha256 of the prompt, if a model was called.
    pub prompt_hash: Option<String>,
    /// A [`Summary`](crate::Summary), from the selection of the laws to test on.
    pub summary_json: Option<String>,
}

/// The status of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LawStatus {
    /// A law that waits to be selected.
    Proposed,
    /// An invalid proposal; `normalized_json` has the problems.
    RejectedSchema,
    /// Selected and not decided yet, or shelved: beyond the laws that wait.
    Queued,
    /// Decided, in this run or in another one of the same database.
    Tested,
}

impl LawStatus {
    /// The statuses that a proposal may have.
    pub const ALL: [Self; 4] = [
        Self::Proposed,
        Self::RejectedSchema,
        Self::Queued,
        Self::Tested,
    ];
}

/// A row of `laws`: a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LawRow {
    /// The primary key.
    pub id: i64,
    /// The key of the run.
    pub run_id: i64,
    /// The proposer's name for the law.
    pub law_id: String,
    /// sha256 of `normalized_json`, or of the raw text of an invalid proposal.
    pub law_fingerprint: String,
    /// The version of the law's form.
    pub schema_version: String,
    /// The template's name, empty for an invalid proposal.
    pub template: String,
    /// The horizon `T` and the window `H`.
    pub quantifiers_json: String,
    /// The preconditions, sorted.
    pub preconditions_json: String,
    /// The named observables as given.
    pub observables_json: String,
    /// The claim in the proposer's words, white space folded.
    pub claim_text: String,
    /// The forbidden case in the proposer's words, white space folded.
    pub forbidden_text: String,
    /// The cases that the proposer asks for.
    pub proposed_tests_json: String,
    /// The capabilities that the proposer declares missing.
    pub capability_requirements_json: String,
    /// The key of the iteration that proposed the law.
    pub created_iteration_id: i64,
    /// The proposer's text, which may not be JSON.
    pub raw_llm_json: String,
    /// The normal form, or `{"problems": [..]}` for an invalid proposal.
    pub normalized_json: String,
    /// The status of the proposal.
    pub status: LawStatus,
}

/// A row of `law_evaluations`: one attempt at a law.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvaluationRow {
    /// The primary key.
    pub id: i64,
    /// The key of the run.
    pub run_id: i64,
    /// The key of the law in `laws`.
    pub law_id: i64,
    /// The value of `Harness::config_hash`.
    pub harness_config_hash: String,
    /// The seed of the attempt: the configuration's, plus one for each earlier attempt.
    pub seed: u64,
    /// The time at which the attempt began.
    pub started_at: Timestamp,
    /// The time at which the verdict was known.
    pub completed_at: Timestamp,
    /// The verdict.
    pub status: Status,
    /// The reason code of the verdict UNKNOWN.
    pub reason_code: Option<String>,
    /// The value of `Verdict::evidence`.
    pub evidence_json: String,
    /// The value of `Verdict::power`.
    pub power_metrics_json: String,
    /// The duration of the attempt in milliseconds.
    pub runtime_ms: u64,
    /// The key of the refutation in `counterexamples`.
    pub counterexample_id: Option<i64>,
    /// The effective configuration of the harness and the digest of the verdict.
    pub artifacts_json: String,
    /// `Verdict::notes`, a JSON array of texts; in rows of older programs one note a line.
    pub notes: String,
}

/// A row of `counterexamples`: the data that reproduces a FAIL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CounterexampleRow {
    /// The primary key.
    pub id: i64,
    /// The key of the run.
    pub run_id: i64,
    /// The key of the attempt in `law_evaluations`.
    pub law_evaluation_id: i64,
    /// The state at t = 0.
    pub initial_state: String,
    /// `Counterexample::config`: ring size, universe, law.
    pub config_json: String,
    /// The seed of the attempt that found it.
    pub seed: u64,
    /// The horizon of the law (column `T`).
    #[serde(rename = "T")]
    pub t: u64,
    /// The first step at which the claim fails.
    pub t_fail: u64,
    /// The value of `Counterexample::witness`.
    pub witness_json: String,
    /// The value of `Counterexample::trajectory_excerpt`.
    pub trajectory_excerpt_json: String,
    /// Whether it was made smaller after it was found.
    pub minimized: bool,
    /// The time at which it was found.
    pub created_at: Timestamp,
}

/// A row of `verdict_keys`: a law that is decided in this database, in any run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictKey {
    /// The fingerprint of the law.
    pub law_fingerprint: String,
    /// The hash of the harness's configuration.
    pub harness_config_hash: String,
    /// The hash of the universe's definition.
    pub sim_hash: String,
    /// The key of the attempt that decided the law.
    pub evaluation_id: i64,
    /// sha256 of the verdict's JSON without `runtime_ms`.
    pub verdict_digest: String,
}

/// A row of `proved_claims`: a claim that is proved for every horizon, in any run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProvedClaim {
    /// The value of `NormalLaw::claim_fingerprint`.
    pub claim_fingerprint: String,
    /// The hash of the harness's configuration.
    pub harness_config_hash: String,
    /// The hash of the universe's definition.
    pub sim_hash: String,
    /// The smallest H that is proved, in steps; 0 for a template without H.
    pub proved_h: u64,
    /// The key of the attempt that proved it.
    pub evaluation_id: i64,
    /// sha256 of the verdict's JSON without `runtime_ms`.
    pub verdict_digest: String,
}

impl ProvedClaim {
    /// Returns the row of `verdict_keys` for a law that this proof decides.
    pub fn decides(&self, law_fingerprint: String) -> VerdictKey {
        VerdictKey {
            law_fingerprint,
            harness_config_hash: self.harness_config_hash.clone(),
            sim_hash: self.sim_hash.clone(),
            evaluation_id: self.evaluation_id,
            verdict_digest: self.verdict_digest.clone(),
        }
    }
}

/// A row of `llm_calls`: a call to a model with its reply, stored before it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallRow {
    /// The primary key.
    pub id: i64,
    /// The key of the run.
    pub run_id: i64,
    /// The key of the iteration.
    pub iteration_id: i64,
    /// The number of the call within the iteration, from 0; later calls ask for repairs.
    pub turn: u32,
    /// The time at which the reply was complete.
    pub created_at: Timestamp,
    /// The request and the reply.
    #[serde(flatten)]
    pub call: ModelCallRow,
}

/// A call to a model with its reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelCallRow {
    /// The model that replied.
    pub model_id: String,
    /// sha256 of the request.
    pub prompt_hash: String,
    /// The body of the request as it was sent.
    pub request_json: String,
    /// The whole text of the reply.
    pub reply_text: String,
    /// A [`UsageRow`].
    pub usage_json: String,
}

/// The tokens and the price of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageRow {
    /// Tokens of the prompt, if the server reports them.
    pub input_tokens: Option<u64>,
    /// Tokens of the reply, if the server reports them.
    pub output_tokens: Option<u64>,
    /// The price in billionths of a US dollar, if it is known.
    pub nano_usd: Option<i64>,
}

/// A row of `capability_snapshots`: the supported claims and tests from an iteration on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapabilityRow {
    /// The primary key.
    pub id: i64,
    /// The key of the run.
    pub run_id: i64,
    /// The key of the first iteration with these capabilities.
    pub iteration_id: i64,
    /// A [`UniverseContract`](crate::UniverseContract).
    pub universe_contract_json: String,
    /// A [`Capabilities`](crate::Capabilities).
    pub harness_capabilities_json: String,
    /// The time of the snapshot.
    pub created_at: Timestamp,
}
