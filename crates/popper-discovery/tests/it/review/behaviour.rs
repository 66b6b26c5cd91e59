//! A measure of a law is read from its row after a resume.

use std::sync::Arc;

use llm_types::FixedClock;
use popper_discovery::{
    Discovery, LoopConfig, MemoryStore, Proposal, RunSelector, Summary, Unobserved,
};

use crate::run::{Batches, batch, invariant};
use crate::scripted::{moment, quick};

async fn open(store: MemoryStore) -> Discovery<MemoryStore> {
    let mut config = LoopConfig::default();
    config.test = 1;
    let clock = Arc::new(FixedClock(moment()));
    let open = Discovery::open(
        store,
        quick(),
        config,
        "batches",
        clock,
        RunSelector::Latest,
    );
    open.await.unwrap()
}

fn summary(store: &MemoryStore, iteration: usize) -> Summary {
    let json = store.iterations[iteration].summary_json.as_ref();
    serde_json::from_str(json.unwrap()).unwrap()
}

#[tokio::test]
async fn the_hash_of_a_stored_ranking_is_not_computed_again() {
    let laws = ["count('>')", "count('<')", "count('X')"];
    let laws = batch(laws.map(|expr| invariant(expr, expr)));
    let proposer = Batches(vec![laws, Proposal::default(), Proposal::default()]);
    let mut discovery = open(MemoryStore::default()).await;
    discovery
        .run_to(1, &proposer, &mut Unobserved)
        .await
        .unwrap();
    let mut store = std::mem::take(discovery.store());
    let mut first = summary(&store, 0);
    let marks: Vec<String> = (0..3).map(|index| format!("{index}").repeat(64)).collect();
    for (ranked, mark) in first.ranking.iter_mut().zip(&marks) {
        ranked.behaviour_hash = Some(mark.clone());
    }
    store.iterations[0].summary_json = Some(serde_json::to_string(&first).unwrap());

    let mut discovery = open(store).await;
    discovery
        .run_to(3, &proposer, &mut Unobserved)
        .await
        .unwrap();
    for iteration in [1, 2] {
        let later = summary(discovery.store(), iteration);
        assert_eq!(later.ranking.len(), 3 - iteration);
        for ranked in &later.ranking {
            let same = |other: &&popper_discovery::rank::Ranked| {
                other.law_fingerprint == ranked.law_fingerprint
            };
            let before = first.ranking.iter().find(same).unwrap();
            assert_eq!(ranked.behaviour_hash, before.behaviour_hash);
        }
    }
}
