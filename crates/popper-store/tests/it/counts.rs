//! The numbers of a run that are kept are those that are there.

use popper_discovery::store::{DecisionRow, IterationPlan, LawFilter, LawRow, LawStatus, Store};
use popper_harness::decide::Status;
use popper_store::{Access, Database};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use crate::made;
use crate::place::{self, Place};

fn below(rng: &mut ChaCha20Rng, end: usize) -> usize {
    (rng.next_u64() % end as u64) as usize
}

/// A decision of any kind: cut, with a seed that may be stored already, with a reason.
fn any_decision(rng: &mut ChaCha20Rng, law: &LawRow) -> DecisionRow {
    let status = [Status::Pass, Status::Fail, Status::Unknown][below(rng, 3)];
    let mut decision = made::decision(law, below(rng, 3) as u64, status);
    // One digest a law: a repeated seed is no contradiction.
    decision.verdict_digest = "digest".into();
    decision.evaluation.artifacts_json =
        r#"{"harness_config": {}, "verdict_digest": "digest"}"#.into();
    if status == Status::Unknown {
        decision.evaluation.reason_code =
            Some(["vacuous_pass", "resource_limit"][below(rng, 2)].into());
        if below(rng, 2) == 0 {
            decision.key = None;
            decision.law_status = LawStatus::Queued;
        }
    }
    decision
}

/// Runs on one universe that store, move and decide the same laws in any order.
async fn many_changes<P: Place>(place: &P) {
    let mut store = place.open(Access::Write).await;
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut runs = Vec::new();
    for _ in 0..3 {
        let run_id = store.create_run(&made::run()).await.unwrap();
        let (iteration, capabilities) = (made::iteration(run_id, 1), made::capabilities(run_id));
        let begun = store.begin_iteration(&iteration, &capabilities).await;
        runs.push((run_id, begun.unwrap()));
    }
    let all = [
        LawStatus::Proposed,
        LawStatus::RejectedSchema,
        LawStatus::Queued,
        LawStatus::Tested,
    ];
    for round in 0..60 {
        let (run_id, iteration_id) = runs[below(&mut rng, runs.len())];
        let known = store.laws(run_id, LawFilter::statuses(&all)).await.unwrap();
        if round % 3 == 0 {
            let laws: Vec<LawRow> = (0..below(&mut rng, 150))
                .map(|_| format!("law {}", below(&mut rng, 400)))
                .map(|name| made::law(run_id, iteration_id, &name))
                .collect();
            let is_new = |law: &LawRow| {
                let mut known = known.iter();
                !known.any(|other| other.law_fingerprint == law.law_fingerprint)
            };
            let mut laws: Vec<LawRow> = laws.into_iter().filter(is_new).collect();
            laws.sort_by(|one, other| one.law_id.cmp(&other.law_id));
            laws.dedup_by(|one, other| one.law_id == other.law_id);
            for law in &mut laws {
                law.status = all[below(&mut rng, 4)];
            }
            let some = known.iter().filter(|law| law.id % 5 == 0);
            let moved = some.map(|law| (law.id, all[below(&mut rng, 4)])).collect();
            let plan = IterationPlan {
                iteration_id,
                laws,
                moved,
                keys: Vec::new(),
                prompt_hash: None,
                summary_json: "{}".into(),
            };
            store.plan_iteration(&plan).await.unwrap();
        } else if !known.is_empty() {
            let decisions: Vec<DecisionRow> = (0..below(&mut rng, 140))
                .map(|_| {
                    let law = &known[below(&mut rng, known.len())];
                    any_decision(&mut rng, law)
                })
                .collect();
            store.commit(&decisions).await.unwrap();
        }
        assert_eq!(place.miscounted().await, 0, "round {round}");
    }
}

#[tokio::test]
async fn what_is_counted_is_what_the_rows_say() {
    let file = place::file();
    many_changes(&file).await;
    let mut reader = Database::open(&file.path, Access::Read).await.unwrap();
    let run = reader.runs().await.unwrap().remove(0);
    let counts = reader.tally(&run).await.unwrap();
    assert!(
        counts.laws.len() == 4 && counts.verdicts.len() == 4,
        "{counts:?}"
    );
    if let Some(server) = place::server() {
        many_changes(&server).await;
    }
}
