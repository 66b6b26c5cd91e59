//! A law that differs from a proved one in T alone, or in T and a greater H, has the verdict of that law and is not tested.

use popper_discovery::store::{LawStatus, Query, Store as _};
use popper_discovery::{MemoryStore, RunSelector, Snapshot, Summary};
use popper_harness::decide::{Status, Strength};
use popper_harness::universe::KineticGrid;
use serde_json::{Value, json};

use crate::run::{batch, harness_for, invariant, run_with};

/// A law of this name with other quantifiers.
fn varied(law: &Value, name: &str, quantifiers: Value) -> Value {
    let mut law = law.clone();
    law["law_id"] = name.into();
    law["quantifiers"] = quantifiers;
    law
}

/// An incoming collision is a collision one step on, so it is one within `h` steps.
fn collides(name: &str, t: u64, h: u64) -> Value {
    json!({
        "law_id": name, "template": "eventually", "quantifiers": {"T": t, "H": h},
        "observables": [
            {"name": "inc", "expr": "incoming_collisions"}, {"name": "x", "expr": "count('X')"},
        ],
        "claim": "inc(t) > 0 -> x(t) > 0", "forbidden": "no collision follows",
    })
}

/// Runs batches of laws, and returns the store with what it has of its newest run: the names of the tested laws, each with the law that
/// was tested, and the names of the known ones.
async fn after(
    store: MemoryStore,
    batches: &[&[Value]],
    which: RunSelector,
) -> (MemoryStore, Vec<(String, String)>, Vec<String>) {
    let harness = harness_for(KineticGrid);
    let batches = batches.iter().map(|laws| batch(laws.iter().cloned()));
    let (mut store, run) = run_with(harness, store, batches.collect(), which).await;
    let found = store.findings(Query::all(&run)).await.unwrap();
    let tested = found.iter().map(|finding| {
        let by = &store.laws[finding.evaluation.law_id as usize - 1];
        (finding.law.law_id.clone(), by.law_id.clone())
    });
    let tested = tested.collect();
    let summaries = store.iterations.iter().filter(|row| row.run_id == run.id);
    let known: Vec<String> = summaries
        .flat_map(|row| {
            let summary: Summary =
                serde_json::from_str(row.summary_json.as_ref().unwrap()).unwrap();
            summary.known
        })
        .collect();
    let laws = store.laws.iter().filter(|law| law.run_id == run.id);
    let known = laws.filter(|law| known.contains(&law.law_fingerprint));
    let known = known.map(|law| law.law_id.clone()).collect();
    (store, tested, known)
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(law, by): &(&str, &str)| ((*law).to_owned(), (*by).to_owned());
    list.iter().map(pair).collect()
}

#[tokio::test]
async fn a_proof_decides_every_horizon() {
    let law = invariant("stays", "count('>') + count('X')");
    let shorter = varied(&law, "shorter", json!({"T": 2}));
    let longer = varied(&law, "longer", json!({"T": 900_000}));
    let other = invariant("other", "count('<') + count('X')");
    let batches: [&[Value]; 2] = [&[law], &[shorter, longer, other]];
    let (store, tested, known) = after(MemoryStore::default(), &batches, RunSelector::New).await;
    let by = [
        ("stays", "stays"),
        ("shorter", "stays"),
        ("longer", "stays"),
        ("other", "other"),
    ];
    assert_eq!(tested, pairs(&by));
    assert_eq!(known, ["shorter", "longer"]);
    assert_eq!(store.evaluations.len(), 2);
    assert!(store.laws.iter().all(|law| law.status == LawStatus::Tested));
}

#[tokio::test]
async fn a_proof_decides_every_greater_window_and_no_smaller_one() {
    let batches: [&[Value]; 3] = [
        &[collides("within_3", 30, 3)],
        &[collides("within_4", 20, 4), collides("within_1", 20, 1)],
        &[collides("within_2", 9, 2)],
    ];
    let (store, tested, known) = after(MemoryStore::default(), &batches, RunSelector::New).await;
    let by = [
        ("within_3", "within_3"),
        ("within_4", "within_3"),
        ("within_1", "within_1"),
        ("within_2", "within_1"),
    ];
    assert_eq!(tested, pairs(&by));
    assert_eq!(known, ["within_4", "within_2"]);
    let proofs: Vec<u64> = store.claims.values().map(|claim| claim.proved_h).collect();
    assert_eq!(proofs, [1]);
}

#[tokio::test]
async fn a_proof_of_another_run_counts_and_an_unproved_law_is_tested() {
    let law = invariant("stays", "count('>') + count('X')");
    let fails = invariant("fails", "count('>')");
    let first: [&[Value]; 1] = [&[law.clone(), fails.clone()]];
    let (store, ..) = after(MemoryStore::default(), &first, RunSelector::New).await;
    let second: [&[Value]; 1] = [&[
        varied(&law, "stays_longer", json!({"T": 41})),
        varied(&fails, "fails_later", json!({"T": 41})),
    ]];
    let (store, tested, known) = after(store, &second, RunSelector::New).await;
    let by = [("stays_longer", "stays"), ("fails_later", "fails_later")];
    assert_eq!(tested, pairs(&by));
    assert_eq!(known, ["stays_longer"]);
    assert_eq!(store.claims.len(), 1);
}

#[tokio::test]
async fn a_snapshot_shows_a_proved_law_once() {
    // Both are in one batch, so both are tested and proved.
    let law = invariant("stays", "count('>') + count('X')");
    let longer = varied(&law, "longer", json!({"T": 41}));
    let within: Vec<Value> = [(30, 3), (30, 1), (31, 2)]
        .map(|(t, h)| collides(&format!("within_{h}"), t, h))
        .into();
    let mut laws = vec![law, longer];
    laws.extend(within);
    let batches: [&[Value]; 2] = [&laws, &[]];
    let (mut store, tested, _) = after(MemoryStore::default(), &batches, RunSelector::New).await;
    assert_eq!(tested.len(), 5);
    assert_eq!(store.evaluations.len(), 5);
    let (run, iteration) = (store.runs[0].clone(), store.iterations[1].clone());
    let harness = harness_for(KineticGrid);
    let config = popper_discovery::LoopConfig::default();
    let snapshot = Snapshot::build(&mut store, &run, &iteration, &harness, &config);
    let snapshot = snapshot.await.unwrap();
    let shown: Vec<&Value> = snapshot
        .accepted
        .iter()
        .map(|law| &law.law["quantifiers"])
        .collect();
    assert_eq!(shown, [&json!({"T": 40}), &json!({"T": 30, "H": 1})]);
    assert!(
        snapshot
            .accepted
            .iter()
            .all(|law| law.strength == Some(Strength::Proved))
    );
    // All of them still count, and are in the findings.
    assert_eq!(snapshot.totals.pass, 5);
    let passed = Query::newest(&run, Some(Status::Pass), 10);
    assert_eq!(store.findings(passed).await.unwrap().len(), 5);
}
