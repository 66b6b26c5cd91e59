//! Conversion of verdicts to rows, and of rows to verdicts.

use jiff::Timestamp;
use llm_types::Clock;
use popper_harness::counterexample::{COUNTEREXAMPLE_VERSION, Counterexample};
use popper_harness::decide::{Config, Harness, Status, Strength, UnknownReason, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::rank::{TimelessClaim, sha256};
use crate::store::{
    CapabilityRow, CounterexampleRow, DecisionRow, EvaluationRow, LawRow, LawStatus, ProvedClaim,
    StoreError, TestedLaw, VerdictKey,
};

/// Returns the word that a column has for a verdict.
pub fn status_text(status: Status) -> &'static str {
    match status {
        Status::Pass => "PASS",
        Status::Fail => "FAIL",
        Status::Unknown => "UNKNOWN",
    }
}

/// The content of the column `law_evaluations.artifacts_json`.
#[derive(Serialize, Deserialize)]
struct Artifacts {
    /// The configuration in force, with the seed of the attempt.
    harness_config: Config,
    /// sha256 of the verdict's JSON without `runtime_ms`.
    verdict_digest: String,
    /// `Counterexample::minimal`, for which there is no column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    minimal: Option<bool>,
}

/// The time of day, as rows contain it. It never enters a verdict.
pub(crate) fn timestamp(clock: &dyn Clock) -> Timestamp {
    Timestamp::try_from(clock.now()).unwrap_or(Timestamp::MAX)
}

/// The time and duration of an attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Period {
    pub started_at: Timestamp,
    pub completed_at: Timestamp,
    pub runtime_ms: u64,
}

impl DecisionRow {
    /// Returns the rows for a verdict on a law of a run. `stopped` is `true` if a limit on time stopped the harness. An attempt that
    /// is then UNKNOWN `resource_limit` is stored, and the law waits for the next attempt. Every other verdict is final.
    pub(crate) fn new(
        law: &LawRow,
        harness: &Harness,
        verdict: &Verdict,
        period: Period,
        stopped: bool,
    ) -> Self {
        let cut = stopped && verdict.reason_code == Some(UnknownReason::ResourceLimit);
        let verdict_digest = digest(verdict);
        let artifacts = Artifacts {
            harness_config: harness.config().clone(),
            verdict_digest: verdict_digest.clone(),
            minimal: verdict
                .counterexample
                .as_ref()
                .map(|package| package.minimal),
        };
        let evaluation = EvaluationRow {
            id: 0,
            run_id: law.run_id,
            law_id: law.id,
            harness_config_hash: verdict.harness_config_hash.clone(),
            seed: verdict.seed,
            started_at: period.started_at,
            completed_at: period.completed_at,
            status: verdict.status,
            reason_code: verdict.reason_code.map(reason_text),
            evidence_json: json(&verdict.evidence),
            power_metrics_json: json(&verdict.power),
            runtime_ms: period.runtime_ms,
            counterexample_id: None,
            artifacts_json: json(&artifacts),
            notes: json(&verdict.notes),
        };
        let package = verdict.counterexample.as_ref();
        let counterexample = package.map(|package| CounterexampleRow {
            id: 0,
            run_id: law.run_id,
            law_evaluation_id: 0,
            initial_state: package.initial_state.clone(),
            config_json: json(&package.config),
            seed: package.seed,
            t: package.t,
            t_fail: package.t_fail,
            witness_json: json(&package.witness),
            trajectory_excerpt_json: json(&package.trajectory_excerpt),
            minimized: package.minimized,
            created_at: period.completed_at,
        });
        let key = (!cut).then(|| VerdictKey {
            law_fingerprint: law.law_fingerprint.clone(),
            harness_config_hash: verdict.harness_config_hash.clone(),
            sim_hash: verdict.sim_hash.clone(),
            evaluation_id: 0,
            verdict_digest: verdict_digest.clone(),
        });
        let is_proved =
            verdict.status == Status::Pass && verdict.evidence.strength == Some(Strength::Proved);
        let proved = is_proved.then(|| law.law().ok()).flatten();
        let claim = proved.map(|law| {
            let claim = TimelessClaim::of(law.normal());
            ProvedClaim {
                claim_fingerprint: claim.fingerprint,
                harness_config_hash: verdict.harness_config_hash.clone(),
                sim_hash: verdict.sim_hash.clone(),
                proved_h: claim.h,
                evaluation_id: 0,
                verdict_digest: verdict_digest.clone(),
            }
        });
        Self {
            evaluation,
            counterexample,
            claim,
            law_status: if cut {
                LawStatus::Proposed
            } else {
                LawStatus::Tested
            },
            key,
            law_fingerprint: law.law_fingerprint.clone(),
            verdict_digest,
        }
    }

    /// Whether a stored attempt with the same run, law, configuration and seed has the same verdict, by its artifacts.
    ///
    /// # Errors
    /// [`StoreError::Contradiction`] if the verdicts differ.
    pub fn agrees_with(&self, artifacts_json: &str) -> Result<(), StoreError> {
        let stored = serde_json::from_str::<Artifacts>(artifacts_json)
            .map(|artifacts| artifacts.verdict_digest)
            .unwrap_or_default();
        if stored == self.verdict_digest {
            return Ok(());
        }
        Err(StoreError::Contradiction {
            law_fingerprint: self.law_fingerprint.clone(),
            seed: self.evaluation.seed,
            stored,
            new: self.verdict_digest.clone(),
        })
    }
}

impl EvaluationRow {
    /// Returns the notes of the verdict. Rows of older programs have one note a line.
    pub fn all_notes(&self) -> Vec<String> {
        serde_json::from_str(&self.notes)
            .unwrap_or_else(|_| self.notes.lines().map(str::to_owned).collect())
    }
}

impl CapabilityRow {
    /// Whether two rows have the same contract and capabilities, whatever their times.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.universe_contract_json == other.universe_contract_json
            && self.harness_capabilities_json == other.harness_capabilities_json
    }
}

/// sha256 of a verdict's JSON with `runtime_ms` 0.
fn digest(verdict: &Verdict) -> String {
    let mut timeless = verdict.clone();
    timeless.runtime_ms = 0;
    sha256(&json(&timeless))
}

fn reason_text(reason: UnknownReason) -> String {
    json(&reason).trim_matches('"').to_owned()
}

/// Returns a value of these crates as JSON text. An error would give two values the same text, so it is not hidden.
#[expect(
    clippy::expect_used,
    reason = "the keys of these crates' maps are strings, and their `Serialize` is derived"
)]
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a type of these crates can be written as JSON")
}

impl TestedLaw {
    /// Returns the verdict of the harness, with the name that the law has in this run. `sim_hash` is the run's.
    ///
    /// # Errors
    /// [`Error::Row`] when a column does not hold what this program writes.
    pub fn verdict(&self, sim_hash: &str) -> Result<Verdict, Error> {
        let row = &self.evaluation;
        let (table, id) = ("law_evaluations", row.id);
        let reason = |code: &String| {
            let reason = serde_json::from_value(Value::String(code.clone()));
            reason.map_err(|error| Error::row(table, id, "reason_code", error))
        };
        let mut verdict = Verdict::new(
            self.law.law_id.clone(),
            self.law.law_fingerprint.clone(),
            sim_hash.to_owned(),
            row.harness_config_hash.clone(),
            row.seed,
        );
        verdict.status = row.status;
        verdict.reason_code = row.reason_code.as_ref().map(reason).transpose()?;
        verdict.evidence = Error::json(table, id, "evidence_json", &row.evidence_json)?;
        if let Some(proof) = &mut verdict.evidence.proof
            && proof.law_fingerprint != self.law.law_fingerprint
            && let Some(own) = proof.for_law(&self.law.law()?)
        {
            // The attempt was at another law with the same claim.
            *proof = own;
        }
        verdict.power = Error::json(table, id, "power_metrics_json", &row.power_metrics_json)?;
        verdict.counterexample = self.package()?;
        verdict.notes = row.all_notes();
        verdict.runtime_ms = row.runtime_ms;
        Ok(verdict)
    }

    /// Returns the counterexample in the form that `rederive` reads.
    ///
    /// # Errors
    /// [`Error::Row`] when a column does not hold what this program writes.
    pub fn package(&self) -> Result<Option<Counterexample>, Error> {
        let Some(row) = &self.counterexample else {
            return Ok(None);
        };
        let evaluation = &self.evaluation;
        let artifacts: Artifacts = Error::json(
            "law_evaluations",
            evaluation.id,
            "artifacts_json",
            &evaluation.artifacts_json,
        )?;
        let (table, id) = ("counterexamples", row.id);
        Ok(Some(Counterexample {
            schema_version: COUNTEREXAMPLE_VERSION.to_owned(),
            initial_state: row.initial_state.clone(),
            config: Error::json(table, id, "config_json", &row.config_json)?,
            seed: row.seed,
            t: row.t,
            t_fail: row.t_fail,
            witness: Error::json(table, id, "witness_json", &row.witness_json)?,
            trajectory_excerpt: Error::json(
                table,
                id,
                "trajectory_excerpt_json",
                &row.trajectory_excerpt_json,
            )?,
            minimized: row.minimized,
            minimal: artifacts.minimal.unwrap_or(false),
        }))
    }
}
