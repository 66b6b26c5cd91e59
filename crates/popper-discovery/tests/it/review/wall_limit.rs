//! A limit on time ends an attempt at some instant: a refutation is final at each of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use llm_types::Clock;
use popper_discovery::store::{LawStatus, Store as _};
use popper_discovery::{
    Discovery, LoopConfig, MemoryStore, Proposal, RunSelector, Summary, Unobserved,
};
use popper_harness::decide::{Config, Harness, Status};
use popper_harness::universe::KineticGrid;

use crate::run::{Batches, batch, invariant};
use crate::scripted::moment;

/// A clock on which an hour passes between two looks.
struct Jump {
    looks: AtomicU64,
    at: u64,
}

impl Clock for Jump {
    fn now(&self) -> SystemTime {
        moment()
    }

    fn elapsed(&self) -> Duration {
        let late = self.looks.fetch_add(1, Ordering::Relaxed) >= self.at;
        Duration::from_secs(if late { 3600 } else { 0 })
    }
}

/// The store after one iteration with one false law under a clock that jumps, and how often the clock was asked.
async fn run(at: u64) -> (Discovery<MemoryStore>, u64) {
    let mut config = LoopConfig::default();
    config.wall_limit_ms = Some(1000);
    let harness = Config::default()
        .exhaustive_n(4)
        .minimal_n(12)
        .ladder(vec![8, 16, 33]);
    let harness = Harness::new(KineticGrid, harness).unwrap();
    let clock = Arc::new(Jump {
        looks: AtomicU64::new(0),
        at,
    });
    let (store, which) = (MemoryStore::default(), RunSelector::Latest);
    let discovery = Discovery::open(store, harness, config, "batches", clock.clone(), which);
    let mut discovery = discovery.await.unwrap();
    let mut law = invariant("six", "count('X')");
    law["template"] = "bound".into();
    law["bound_op"] = "<=".into();
    law["bound_value"] = 2.into();
    law.as_object_mut().unwrap().remove("claim");
    law["claim"] = "f(t) <= 2".into();
    let proposer = Batches(vec![batch([law]), Proposal::default()]);
    discovery
        .run_to(1, &proposer, &mut Unobserved)
        .await
        .unwrap();
    (discovery, clock.looks.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_refutation_is_final_whatever_the_clock_says() {
    let (_, looks) = run(u64::MAX).await;
    let mut seen = [0, 0];
    let every = (looks / 60).max(1) as usize;
    // The last looks are the ones after a counterexample was found.
    let late = looks.saturating_sub(60)..looks;
    for at in (0..looks).step_by(every).chain(late) {
        let (mut discovery, _) = run(at).await;
        let run = discovery.run().clone();
        let tally = discovery.store().tally(&run).await.unwrap();
        let store = discovery.store();
        let (row, law) = (&store.evaluations[0], &store.laws[0]);
        let summary = store.iterations[0].summary_json.as_ref().unwrap();
        let summary: Summary = serde_json::from_str(summary).unwrap();
        let counted = summary.verdicts.unwrap();
        let refuted = row.status == Status::Fail;
        assert_ne!(row.status, Status::Pass, "look {at}");
        assert_eq!(store.keys.len(), usize::from(refuted), "look {at}: {row:?}");
        let expected = if refuted {
            LawStatus::Tested
        } else {
            LawStatus::Proposed
        };
        assert_eq!(law.status, expected, "look {at}");
        let fail = ("FAIL".to_owned(), None);
        assert_eq!(
            tally.verdicts.get(&fail).copied(),
            refuted.then_some(1),
            "look {at}"
        );
        assert_eq!(
            (counted.fail, counted.unknown),
            (u64::from(refuted), u64::from(!refuted))
        );
        seen[usize::from(refuted)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}
