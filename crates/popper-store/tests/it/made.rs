//! Rows made by hand, where a test needs many or strange ones.

use std::path::Path;

use jiff::Timestamp;
use popper_discovery::store::{
    CapabilityRow, CounterexampleRow, DecisionRow, EvaluationRow, Iteration, IterationPlan,
    IterationStatus, LawFilter, LawRow, LawStatus, RunRow, Store, VerdictKey,
};
use popper_harness::decide::Status;
use popper_store::{Access, Database};
use serde_json::json;

pub fn time() -> Timestamp {
    "2026-11-22T01:02:03.000000004Z".parse().unwrap()
}

pub fn run() -> RunRow {
    RunRow {
        id: 0,
        created_at: time(),
        universe_id: "kinetic_grid_v1".into(),
        sim_hash: "universe".into(),
        harness_hash: "config".into(),
        discovery_model_id: "made".into(),
        tester_model_id: None,
        config_json: "{}".into(),
    }
}

pub fn iteration(run_id: i64, iteration_index: u32) -> Iteration {
    Iteration {
        id: 0,
        run_id,
        iteration_index,
        started_at: time(),
        completed_at: None,
        status: IterationStatus::Running,
        prompt_hash: None,
        summary_json: None,
    }
}

pub fn capabilities(run_id: i64) -> CapabilityRow {
    CapabilityRow {
        id: 0,
        run_id,
        iteration_id: 0,
        universe_contract_json: "{}".into(),
        harness_capabilities_json: "{}".into(),
        created_at: time(),
    }
}

pub fn law(run_id: i64, created_iteration_id: i64, name: &str) -> LawRow {
    LawRow {
        id: 0,
        run_id,
        law_id: name.into(),
        law_fingerprint: format!("fingerprint of {name}"),
        schema_version: "1".into(),
        template: "invariant".into(),
        quantifiers_json: "{}".into(),
        preconditions_json: "[]".into(),
        observables_json: "[]".into(),
        claim_text: "a claim".into(),
        forbidden_text: "a refutation".into(),
        proposed_tests_json: "[]".into(),
        capability_requirements_json: "{}".into(),
        created_iteration_id,
        raw_llm_json: "raw".into(),
        normalized_json: "{}".into(),
        status: LawStatus::Queued,
    }
}

pub fn decision(law: &LawRow, seed: u64, status: Status) -> DecisionRow {
    let verdict_digest = format!("digest of {} {seed}", law.law_id);
    let evaluation = EvaluationRow {
        id: 0,
        run_id: law.run_id,
        law_id: law.id,
        harness_config_hash: "config".into(),
        seed,
        started_at: time(),
        completed_at: time(),
        status,
        reason_code: None,
        evidence_json: json!({"scope": "x".repeat(200)}).to_string(),
        power_metrics_json: "{}".into(),
        runtime_ms: 3,
        counterexample_id: None,
        artifacts_json: json!({"harness_config": {}, "verdict_digest": verdict_digest}).to_string(),
        notes: String::new(),
    };
    let counterexample = (status == Status::Fail).then(|| CounterexampleRow {
        id: 0,
        run_id: law.run_id,
        law_evaluation_id: 0,
        initial_state: ">.<".into(),
        config_json: "{}".into(),
        seed,
        t: 4,
        t_fail: 1,
        witness_json: "{}".into(),
        trajectory_excerpt_json: "[]".into(),
        minimized: true,
        created_at: time(),
    });
    DecisionRow {
        evaluation,
        counterexample,
        law_status: LawStatus::Tested,
        claim: None,
        key: Some(VerdictKey {
            law_fingerprint: law.law_fingerprint.clone(),
            harness_config_hash: "config".into(),
            sim_hash: "universe".into(),
            evaluation_id: 0,
            verdict_digest: verdict_digest.clone(),
        }),
        law_fingerprint: law.law_fingerprint.clone(),
        verdict_digest,
    }
}

/// A run with one iteration and this many queued laws; answers the laws.
pub async fn queue(database: &mut impl Store, laws: usize) -> Vec<LawRow> {
    let run_id = database.create_run(&run()).await.unwrap();
    let (iteration, capabilities) = (iteration(run_id, 1), capabilities(run_id));
    let begun = database.begin_iteration(&iteration, &capabilities);
    let iteration_id = begun.await.unwrap();
    let rows: Vec<LawRow> = (1..=laws)
        .map(|number| law(run_id, iteration_id, &format!("law {number}")))
        .collect();
    let plan = IterationPlan {
        iteration_id,
        laws: rows,
        moved: Vec::new(),
        keys: Vec::new(),
        prompt_hash: None,
        summary_json: "{}".into(),
    };
    database.plan_iteration(&plan).await.unwrap();
    let queued = [LawStatus::Queued];
    let rows = database
        .laws(run_id, LawFilter::statuses(&queued))
        .await
        .unwrap();
    assert_eq!(rows.len(), laws);
    rows
}

/// The decisions on laws, every third one a refutation.
pub fn decisions(laws: &[LawRow]) -> Vec<DecisionRow> {
    let status = |index: usize| [Status::Fail, Status::Pass, Status::Unknown][index % 3];
    laws.iter()
        .enumerate()
        .map(|(index, law)| decision(law, 0, status(index)))
        .collect()
}

pub async fn write(path: &Path) -> Database {
    Database::open(path, Access::Write).await.unwrap()
}

/// The queries for the numbers of attempts, counterexamples, keys and tested laws.
pub const COUNTS: [&str; 4] = [
    "SELECT COUNT(*) FROM law_evaluations",
    "SELECT COUNT(*) FROM counterexamples",
    "SELECT COUNT(*) FROM verdict_keys",
    "SELECT COUNT(*) FROM laws WHERE status = 'tested'",
];

/// The numbers of [`COUNTS`] in a file. `integrity_check` and `foreign_key_check` must find nothing.
pub async fn sound_counts(path: &Path) -> [i64; 4] {
    use sqlx::{ConnectOptions as _, Connection as _};
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut conn = options.read_only(true).connect().await.unwrap();
    let said: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check")
        .fetch_all(&mut conn)
        .await
        .unwrap();
    assert_eq!(said, ["ok"]);
    let broken = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut conn);
    assert!(broken.await.unwrap().is_empty());
    let mut counts = [0; 4];
    for (count, question) in counts.iter_mut().zip(COUNTS) {
        *count = sqlx::query_scalar(question)
            .fetch_one(&mut conn)
            .await
            .unwrap();
    }
    conn.close().await.unwrap();
    counts
}

/// The counts after the first decisions of [`decisions`].
pub fn expected_counts(decided: usize) -> [i64; 4] {
    let decided = decided as i64;
    [decided, (decided + 2) / 3, decided, decided]
}
