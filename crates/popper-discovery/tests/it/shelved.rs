//! The laws that wait are bounded; the rest is shelved, and comes back.

use std::sync::Arc;

use llm_types::FixedClock;
use popper_discovery::store::LawStatus;
use popper_discovery::{
    Discovery, LoopConfig, MemoryStore, Proposal, RunSelector, Summary, Unobserved,
};
use popper_harness::universe::KineticGrid;
use serde_json::Value;

use crate::run::{Batches, batch, harness_for, invariant};
use crate::scripted::moment;

/// Laws that differ in a coefficient.
fn laws(numbers: impl IntoIterator<Item = u32>) -> Vec<Value> {
    let law = |n| invariant(&format!("law {n}"), &format!("{n}*count('>') + count('X')"));
    numbers.into_iter().map(law).collect()
}

/// A run that tests two laws an iteration and lets three wait.
async fn run_to(store: MemoryStore, proposer: &Batches, iterations: u32) -> MemoryStore {
    let mut config = LoopConfig::default();
    (config.test, config.pool) = (2, 3);
    let clock = Arc::new(FixedClock(moment()));
    let latest = RunSelector::Latest;
    let harness = harness_for(KineticGrid);
    let opened = Discovery::open(store, harness, config, "batches", clock, latest).await;
    let mut discovery = opened.unwrap();
    let ended = discovery
        .run_to(iterations, proposer, &mut Unobserved)
        .await;
    ended.unwrap();
    discovery.into_store()
}

fn count(store: &MemoryStore, status: LawStatus) -> usize {
    let laws = store.laws.iter();
    laws.filter(|law| law.status == status).count()
}

/// The laws by status: waiting, shelved, tested.
fn counts(store: &MemoryStore) -> [usize; 3] {
    [LawStatus::Proposed, LawStatus::Queued, LawStatus::Tested].map(|status| count(store, status))
}

fn last(store: &MemoryStore) -> Summary {
    let last = store.iterations.last().unwrap().summary_json.as_ref();
    serde_json::from_str(last.unwrap()).unwrap()
}

#[tokio::test]
async fn the_lowest_ranked_are_shelved_and_come_back_when_few_wait() {
    let proposer = Batches(vec![batch(laws(2..12))]);
    let mut store = MemoryStore::default();
    // Two are tested in each iteration. When one waits, all come back.
    for (iteration, expected) in [
        (1, [3, 5, 2]),
        (2, [1, 5, 4]),
        (3, [3, 1, 6]),
        (4, [1, 1, 8]),
        (5, [0, 0, 10]),
        (6, [0, 0, 10]),
    ] {
        store = run_to(store, &proposer, iteration).await;
        assert_eq!(counts(&store), expected, "{iteration}");
    }
    let whole = run_to(MemoryStore::default(), &proposer, 6).await;
    assert_eq!(store, whole);
    let best = whole.iterations[0].summary_json.as_ref().unwrap();
    let best: Summary = serde_json::from_str(best).unwrap();
    let scores: Vec<f64> = best.ranking.iter().map(|law| law.score).collect();
    assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
}

#[tokio::test]
async fn a_shelved_law_comes_back_when_it_is_proposed_again() {
    let mut proposer = Batches(vec![batch(laws(2..12))]);
    let store = run_to(MemoryStore::default(), &proposer, 1).await;
    let shelved: Vec<u32> = (2..12)
        .filter(|n| {
            let name = format!("law {n}");
            let mut laws = store.laws.iter();
            laws.any(|law| law.law_id == name && law.status == LawStatus::Queued)
        })
        .collect();
    assert_eq!(shelved.len(), 5);
    proposer.0.push(Proposal::default());
    let before = run_to(store.clone(), &proposer, 2).await;
    assert_eq!(last(&before).ranking.len(), 3);
    // Three wait, and two are proposed again.
    proposer.0[1] = batch(laws(shelved.into_iter().take(2)));
    let after = run_to(store, &proposer, 2).await;
    assert_eq!(
        (last(&after).ranking.len(), last(&after).duplicates),
        (5, 2)
    );
    assert_eq!(counts(&after), [3, 3, 4]);
    assert_eq!(last(&after).snapshot.totals.shelved, 5);
}
