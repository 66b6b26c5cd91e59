//! Wherever a run is cut, going on gives the rows of a run that was never cut.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{self, BoxFuture};
use popper_discovery::store::{
    Attempt, AttemptFilter, CallRow, CapabilityRow, DecisionRow, Iteration, IterationPlan,
    IterationState, IterationStatus, LawFilter, LawRow, Pick, ProvedClaim, Query, RunRow, Store,
    StoreError, TestedLaw, VerdictCounts, VerdictKey,
};
use popper_discovery::{
    Error, Event, LoopConfig, MemoryStore, Observer, RunEnd, RunSelector, Unobserved,
};

use crate::scripted::{Scripted, open, quick};

const ITERATIONS: u32 = 2;

fn config() -> LoopConfig {
    let mut config = LoopConfig::default();
    config.test = 4;
    config
}

async fn uninterrupted() -> MemoryStore {
    let mut discovery = open(
        MemoryStore::default(),
        quick(),
        &config(),
        RunSelector::Latest,
    )
    .await
    .unwrap();
    discovery
        .run_to(ITERATIONS, &Scripted::mixed(), &mut Unobserved)
        .await
        .unwrap();
    discovery.store().clone()
}

/// A store that dies at one of its writes: before it is done, or after it is durable and before it returns.
struct Mortal<'a> {
    store: &'a mut MemoryStore,
    /// Writes left to do.
    left: usize,
    /// Whether the fatal write is done.
    after: bool,
}

impl Mortal<'_> {
    fn death() -> StoreError {
        StoreError::Full {
            place: "test".into(),
        }
    }

    /// Whether the next write is the fatal one.
    fn is_fatal(&mut self) -> bool {
        let fatal = self.left == 0;
        self.left = self.left.wrapping_sub(1);
        fatal
    }
}

/// Methods that write, with the way to die, and methods that read.
macro_rules! mortal {
    (write { $(fn $write:ident($($name:ident: $kind:ty),*) -> $out:ty;)* }
     read { $(fn $read:ident($($arg:ident: $argkind:ty),*) -> $result:ty;)* }) => {
        impl Store for Mortal<'_> {
            $(async fn $write(&mut self, $($name: $kind),*) -> Result<$out, StoreError> {
                if !self.is_fatal() {
                    return self.store.$write($($name),*).await;
                }
                if self.after {
                    self.store.$write($($name),*).await?;
                }
                Err(Self::death())
            })*
            $(async fn $read(&mut self, $($arg: $argkind),*) -> Result<$result, StoreError> {
                self.store.$read($($arg),*).await
            })*
        }
    };
}

mortal! {
    write {
        fn create_run(run: &RunRow) -> i64;
        fn set_run_config(run_id: i64, config_json: &str) -> ();
        fn begin_iteration(iteration: &Iteration, capabilities: &CapabilityRow) -> i64;
        fn set_iteration(iteration_id: i64, state: &IterationState) -> ();
        fn plan_iteration(plan: &IterationPlan) -> ();
        fn add_call(call: &CallRow) -> ();
        fn commit(decisions: &[DecisionRow]) -> ();
    }
    read {
        fn runs() -> Vec<RunRow>;
        fn iterations(run_id: i64, pick: Pick) -> Vec<Iteration>;
        fn calls(run_id: i64, iteration_id: Option<i64>) -> Vec<CallRow>;
        fn known_fingerprints(run_id: i64, fingerprints: &[String]) -> BTreeSet<String>;
        fn laws(run_id: i64, filter: LawFilter<'_>) -> Vec<LawRow>;
        fn known(fingerprints: &[String], harness_config_hash: &str, sim_hash: &str) -> BTreeMap<String, VerdictKey>;
        fn proved_claims(claims: &[String], harness_config_hash: &str, sim_hash: &str) -> BTreeMap<String, ProvedClaim>;
        fn attempts(filter: AttemptFilter<'_>) -> Vec<Attempt>;
        fn findings(query: Query<'_>) -> Vec<TestedLaw>;
        fn tally(run: &RunRow) -> VerdictCounts;
    }
}

/// Runs until the store dies at this write. Whether it died.
async fn run_mortal(store: &mut MemoryStore, left: usize, after: bool) -> bool {
    let mortal = Mortal { store, left, after };
    let Ok(mut discovery) = open(mortal, quick(), &config(), RunSelector::Latest).await else {
        return true;
    };
    match discovery
        .run_to(ITERATIONS, &Scripted::mixed(), &mut Unobserved)
        .await
    {
        Ok(ended) => {
            assert_eq!(ended, RunEnd::Completed);
            false
        }
        Err(Error::Store(StoreError::Full { .. })) => true,
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_death_at_any_write_changes_nothing_in_the_end() {
    let whole = uninterrupted().await;
    for after in [false, true] {
        let mut deaths = 0;
        loop {
            let mut store = MemoryStore::default();
            if !run_mortal(&mut store, deaths, after).await {
                break;
            }
            // Twice in a row, then to the end.
            run_mortal(&mut store, 1, after).await;
            assert!(!run_mortal(&mut store, usize::MAX, after).await);
            assert_eq!(store, whole, "death at write {deaths}, after: {after}");
            deaths += 1;
        }
        assert!(deaths > 4 * ITERATIONS as usize, "{deaths}");
    }
}

/// Stops at the n-th event, while a model is waited for if asked so.
struct Stopper {
    left: usize,
    in_calls: bool,
}

impl Observer for Stopper {
    fn event(&mut self, _: Event<'_>) {
        self.left = self.left.saturating_sub(1);
    }

    fn stop(&self) -> bool {
        self.left == 0
    }

    fn stopped(&self) -> BoxFuture<'static, ()> {
        if self.in_calls && self.left == 0 {
            Box::pin(future::ready(()))
        } else {
            Box::pin(future::pending())
        }
    }
}

#[tokio::test]
async fn a_stop_at_any_event_is_marked_and_changes_nothing_in_the_end() {
    let whole = uninterrupted().await;
    for in_calls in [false, true] {
        for left in 0.. {
            let mut discovery = open(
                MemoryStore::default(),
                quick(),
                &config(),
                RunSelector::Latest,
            )
            .await
            .unwrap();
            let mut stopper = Stopper { left, in_calls };
            let script = Scripted::mixed();
            let ended = discovery
                .run_to(ITERATIONS, &script, &mut stopper)
                .await
                .unwrap();
            if ended == RunEnd::Completed {
                assert!(left > 10);
                break;
            }
            // Between two iterations there is none to mark.
            let last = discovery.store().iterations.last();
            assert!(last.is_none_or(|last| last.status != IterationStatus::Running));
            let store = discovery.store().clone();
            let mut discovery = open(store, quick(), &config(), RunSelector::Latest)
                .await
                .unwrap();
            discovery
                .run_to(ITERATIONS, &script, &mut Unobserved)
                .await
                .unwrap();
            assert_eq!(*discovery.store(), whole, "stop at event {left}");
        }
    }
}
