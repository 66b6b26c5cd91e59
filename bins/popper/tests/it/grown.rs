//! A run with copies of its rows, so that it is as long as one of days.

use std::ops::Range;
use std::path::Path;

use popper_discovery::store::{
    CallRow, CapabilityRow, CounterexampleRow, DecisionRow, EvaluationRow, Iteration,
    IterationPlan, IterationState, IterationStatus, LawFilter, LawRow, LawStatus, ModelCallRow,
    Pick, RowPage, RunRow, Store as _, TestedLaw, VerdictKey,
};
use popper_store::{Access, Database, Tuning};

/// Adds the copies with these numbers to the newest run, in iterations of `group` laws with a call to a model each. A law is a copy of one
/// of the first tested laws of the run, with another name and fingerprint. Its verdict is a copy too, or is known from the same copy in
/// another run.
pub async fn grow(path: &Path, copies: Range<usize>, group: usize, is_known: bool) {
    let tuning = Tuning::new(256, 64);
    let opened = Database::open_with(path, Access::WriteExisting, tuning).await;
    let mut database = opened.unwrap();
    let run = database.runs().await.unwrap().remove(0);
    let like = database.tested_page(&run, RowPage::first(50)).await;
    let like = like.unwrap();
    let last = database.iterations(run.id, Pick::Last).await.unwrap();
    let mut index = last[0].iteration_index + 1;
    let mut added = copies.start;
    while added < copies.end {
        let count = group.min(copies.end - added);
        let iteration_id = begin(&mut database, &run, index).await;
        let rows: Vec<(&TestedLaw, LawRow)> = (added..added + count)
            .map(|number| {
                let like = &like[number % like.len()];
                let law = LawRow {
                    id: 0,
                    law_id: format!("copy_{number}"),
                    law_fingerprint: format!("{:064x}", (number as u128 + 1) << 64),
                    created_iteration_id: iteration_id,
                    status: if is_known {
                        LawStatus::Tested
                    } else {
                        LawStatus::Queued
                    },
                    ..like.law.clone()
                };
                (like, law)
            })
            .collect();
        let plan = IterationPlan {
            iteration_id,
            laws: rows.iter().map(|(_, law)| law.clone()).collect(),
            moved: Vec::new(),
            keys: Vec::new(),
            prompt_hash: None,
            summary_json: summary(&mut database, &run).await,
        };
        database.plan_iteration(&plan).await.unwrap();
        if !is_known {
            let last = LawFilter::Statuses {
                statuses: &[LawStatus::Queued],
                newest: Some(count as u32),
            };
            let stored = database.laws(run.id, last).await.unwrap();
            let decisions = stored.iter().zip(&rows);
            let decisions: Vec<DecisionRow> = decisions
                .map(|(law, (like, _))| decide(law, like, &run))
                .collect();
            database.commit(&decisions).await.unwrap();
        }
        let ended = IterationState::completed(run.created_at, plan.summary_json);
        database.set_iteration(iteration_id, &ended).await.unwrap();
        added += count;
        index += 1;
    }
    database.close().await.unwrap();
}

/// The summary of the first iteration.
async fn summary(database: &mut Database, run: &RunRow) -> String {
    let first = database
        .iterations(run.id, Pick::Index(1))
        .await
        .unwrap()
        .remove(0);
    first.summary_json.unwrap()
}

async fn begin(database: &mut Database, run: &RunRow, iteration_index: u32) -> i64 {
    let iteration = Iteration {
        id: 0,
        run_id: run.id,
        iteration_index,
        started_at: run.created_at,
        completed_at: None,
        status: IterationStatus::Running,
        prompt_hash: None,
        summary_json: None,
    };
    let capabilities = CapabilityRow {
        id: 0,
        run_id: run.id,
        iteration_id: 0,
        universe_contract_json: "{}".into(),
        harness_capabilities_json: "{}".into(),
        created_at: run.created_at,
    };
    let begun = database.begin_iteration(&iteration, &capabilities);
    let iteration_id = begun.await.unwrap();
    let call = CallRow {
        id: 0,
        run_id: run.id,
        iteration_id,
        turn: 0,
        created_at: run.created_at,
        call: ModelCallRow {
            model_id: "a model".into(),
            prompt_hash: format!("hash {iteration_index}"),
            request_json: r#"{"b": 1, "a": [2]}"#.into(),
            reply_text: "laws".into(),
            usage_json: r#"{"input_tokens": 7, "output_tokens": null}"#.into(),
        },
    };
    database.add_call(&call).await.unwrap();
    iteration_id
}

fn decide(law: &LawRow, like: &TestedLaw, run: &RunRow) -> DecisionRow {
    let verdict_digest = format!("digest of {}", law.law_id);
    DecisionRow {
        evaluation: EvaluationRow {
            id: 0,
            run_id: law.run_id,
            law_id: law.id,
            counterexample_id: None,
            ..like.evaluation.clone()
        },
        counterexample: like.counterexample.as_ref().map(|row| CounterexampleRow {
            id: 0,
            run_id: law.run_id,
            ..row.clone()
        }),
        law_status: LawStatus::Tested,
        claim: None,
        key: Some(VerdictKey {
            law_fingerprint: law.law_fingerprint.clone(),
            harness_config_hash: run.harness_hash.clone(),
            sim_hash: run.sim_hash.clone(),
            evaluation_id: 0,
            verdict_digest: verdict_digest.clone(),
        }),
        law_fingerprint: law.law_fingerprint.clone(),
        verdict_digest,
    }
}
