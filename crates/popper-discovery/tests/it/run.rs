//! A run over proposals that are known beforehand.

use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use llm_types::FixedClock;
use popper_discovery::rank::Candidate;
use popper_discovery::store::{ModelCallRow, RunRow};
use popper_discovery::{
    Discovery, LoopConfig, MemoryStore, Proposal, ProposeError, Proposer, RunSelector, Snapshot,
    Step, StoredLaws, Unobserved,
};
use popper_harness::decide::{Config, Harness};
use popper_harness::universe::Universe;
use serde_json::{Value, json};

/// Proposes these batches, one an iteration, and nothing after them.
pub(crate) struct Batches(pub(crate) Vec<Proposal>);

impl Proposer for Batches {
    fn id(&self) -> &'static str {
        "batches"
    }

    fn propose<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        _: usize,
        _: &'a [ModelCallRow],
        _: &'a mut dyn StoredLaws,
    ) -> BoxFuture<'a, Result<Step, ProposeError>> {
        let batch = self.0.get(snapshot.iteration as usize - 1).cloned();
        Box::pin(ready(Ok(Step::Proposed(batch.unwrap_or_default()))))
    }
}

/// A batch of laws.
pub(crate) fn batch(laws: impl IntoIterator<Item = Value>) -> Proposal {
    let mut proposal = Proposal::default();
    proposal.candidates = laws.into_iter().map(Candidate::new).collect();
    proposal
}

/// An invariant.
pub(crate) fn invariant(name: &str, expr: &str) -> Value {
    json!({
        "law_id": name, "template": "invariant", "quantifiers": {"T": 40},
        "observables": [{"name": "f", "expr": expr}],
        "claim": "f(t) == f(0)", "forbidden": "a step that changes it",
    })
}

/// A small harness, for speed.
pub(crate) fn harness_for(universe: impl Universe) -> Harness {
    let config = Config::default()
        .exhaustive_n(6)
        .ladder(vec![7, 8, 12, 16, 33]);
    Harness::new(universe, config).unwrap()
}

/// Runs the batches over a store, and answers the run.
#[cfg(feature = "report")]
pub(crate) async fn run_in(
    store: MemoryStore,
    batches: Vec<Proposal>,
    which: RunSelector,
) -> (MemoryStore, RunRow) {
    let kinetic = popper_harness::universe::KineticGrid;
    run_with(harness_for(kinetic), store, batches, which).await
}

pub(crate) async fn run_with(
    harness: Harness,
    store: MemoryStore,
    batches: Vec<Proposal>,
    which: RunSelector,
) -> (MemoryStore, RunRow) {
    let mut config = LoopConfig::default();
    config.test = 1000;
    let clock = Arc::new(FixedClock(crate::scripted::moment()));
    let mut discovery = Discovery::open(store, harness, config, "batches", clock, which)
        .await
        .unwrap();
    let total = batches.len() as u32;
    let proposer = Batches(batches);
    discovery
        .run_to(total, &proposer, &mut Unobserved)
        .await
        .unwrap();
    let run = discovery.run().clone();
    (std::mem::take(discovery.store()), run)
}
