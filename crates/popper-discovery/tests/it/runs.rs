//! Several runs in one store: what is known is not tested again, what is another run is not continued.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use llm_types::Clock;
use popper_discovery::store::{LawStatus, Query, Store as _};
use popper_discovery::{
    Discovery, Error, Event, LoopConfig, MemoryStore, Observer, RunSelector, Summary, Unobserved,
};
use popper_harness::decide::{Config, Harness, Status};
use popper_harness::universe::KineticGrid;

use crate::scripted::{Scripted, moment, open, quick};

async fn finished(which: RunSelector, store: MemoryStore) -> Discovery<MemoryStore> {
    let config = LoopConfig::default();
    let mut discovery = open(store, quick(), &config, which).await.unwrap();
    discovery
        .run_to(3, &Scripted::mixed(), &mut Unobserved)
        .await
        .unwrap();
    discovery
}

#[tokio::test]
async fn a_run_that_is_complete_has_nothing_left_to_do() {
    let mut first = finished(RunSelector::Latest, MemoryStore::default()).await;
    let rows = first.store().clone();
    let mut again = finished(RunSelector::Latest, rows.clone()).await;
    assert_eq!(*again.store(), rows);
}

#[tokio::test]
async fn a_new_run_tests_nothing_that_is_known_and_knows_its_verdict() {
    let mut first = finished(RunSelector::Latest, MemoryStore::default()).await;
    let old = first.run().clone();
    let verdicts = first.store().findings(Query::all(&old)).await.unwrap();
    let mut second = finished(RunSelector::New, first.store().clone()).await;
    let new = second.run().clone();
    assert_ne!(old.id, new.id);

    let store = second.store();
    let tested = |run: i64| {
        let rows = store
            .evaluations
            .iter()
            .filter(move |row| row.run_id == run);
        let law = |id: i64| &store.laws[usize::try_from(id - 1).unwrap()].law_fingerprint;
        rows.map(move |row| law(row.law_id).clone())
            .collect::<Vec<_>>()
    };
    let (before, after) = (tested(old.id), tested(new.id));
    assert!(after.iter().all(|law| !before.contains(law)), "{after:?}");
    let summary: Summary = store
        .iterations
        .iter()
        .find(|iteration| iteration.run_id == new.id)
        .map(|iteration| serde_json::from_str(iteration.summary_json.as_ref().unwrap()).unwrap())
        .unwrap();
    assert!(!summary.known.is_empty());
    // What the first run found is what the second run shows its proposer.
    let found = second.store().findings(Query::all(&new)).await.unwrap();
    for old in verdicts {
        let same = |new: &&popper_discovery::store::TestedLaw| {
            new.law.law_fingerprint == old.law.law_fingerprint
        };
        let new = found.iter().find(same).unwrap();
        assert_eq!(new.evaluation, old.evaluation);
    }
}

#[tokio::test]
async fn a_retest_adds_exactly_one_row_with_the_next_seed() {
    let mut discovery = finished(RunSelector::Latest, MemoryStore::default()).await;
    let run = discovery.run().clone();
    for status in [Status::Pass, Status::Fail] {
        let findings = discovery.store().findings(Query::all(&run)).await.unwrap();
        let finding = findings
            .iter()
            .find(|found| found.evaluation.status == status)
            .unwrap();
        let before = discovery.store().clone();
        let fingerprint = &finding.law.law_fingerprint;
        let verdict = discovery.retest(fingerprint).await.unwrap();
        assert_eq!((verdict.status, verdict.seed), (status, 1));
        let after = discovery.store();
        assert_eq!(after.evaluations.len(), before.evaluations.len() + 1);
        assert_eq!(
            (&after.laws, &after.iterations),
            (&before.laws, &before.iterations)
        );
        // A refutation stands; anything else gives way to the latest attempt.
        let key = after
            .keys
            .values()
            .find(|key| key.law_fingerprint == *fingerprint)
            .unwrap();
        let moved = key.evaluation_id != finding.evaluation.id;
        assert_eq!(moved, status == Status::Pass);
    }
    let unknown = discovery.retest("0000").await.unwrap_err();
    assert!(matches!(unknown, Error::NoLaw { .. }));
}

#[tokio::test]
async fn another_universe_configuration_or_proposer_is_another_run() {
    let mut first = finished(RunSelector::Latest, MemoryStore::default()).await;
    let (id, store) = (first.run().id, first.store().clone());
    let config = LoopConfig::default();
    let clock = || Arc::new(llm_types::FixedClock(moment()));
    let wide = Config::default().exhaustive_n(7);
    let wide = Harness::new(KineticGrid, wide).unwrap();
    let random = Harness::new(
        popper_harness::universe::random_universe(3),
        Config::default(),
    );
    let cases = [
        (wide, config.clone(), Scripted::ID, "configuration"),
        (random.unwrap(), config.clone(), Scripted::ID, "universe"),
        (quick(), config.clone(), "somebody", "proposer"),
        (
            quick(),
            {
                let mut config = config.clone();
                config.propose = 3;
                config
            },
            Scripted::ID,
            "configuration",
        ),
    ];
    for (harness, config, proposer, expected) in cases {
        let open = Discovery::open(
            store.clone(),
            harness,
            config,
            proposer,
            clock(),
            RunSelector::Id(id),
        );
        match open.await {
            Err(Error::Differs {
                what,
                stored,
                asked,
                ..
            }) => {
                assert_eq!(what, expected);
                assert_ne!(stored, asked);
            }
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("{expected} went unnoticed"),
        }
    }
    let missing = open(store, quick(), &config, RunSelector::Id(99)).await;
    assert!(matches!(missing, Err(Error::NoRun { id: 99 })));
}

/// A clock on which every look takes a second.
struct Hasty(AtomicU64);

impl Clock for Hasty {
    fn now(&self) -> SystemTime {
        moment()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[tokio::test]
async fn what_a_limit_on_time_cuts_is_stored_and_waits_for_the_next_attempt() {
    let mut config = LoopConfig::default();
    config.wall_limit_ms = Some(1);
    let clock = Arc::new(Hasty(AtomicU64::new(0)));
    let store = MemoryStore::default();
    let mut discovery = Discovery::open(
        store,
        quick(),
        config,
        Scripted::ID,
        clock,
        RunSelector::Latest,
    )
    .await
    .unwrap();
    discovery
        .run_to(2, &Scripted::mixed(), &mut Unobserved)
        .await
        .unwrap();
    let store = discovery.store();
    let cut: Vec<_> = store
        .evaluations
        .iter()
        .filter(|row| row.reason_code.as_deref() == Some("resource_limit"))
        .collect();
    assert!(!cut.is_empty());
    for row in &cut {
        let law = &store.laws[usize::try_from(row.law_id - 1).unwrap()];
        assert_eq!(law.status, LawStatus::Proposed);
        assert!(
            store
                .keys
                .values()
                .all(|key| key.law_fingerprint != law.law_fingerprint)
        );
    }
    // In the second iteration some of them were tried again, under the next seed.
    assert!(cut.iter().any(|row| row.seed == 1));
}

/// Stops before the n-th evaluation.
struct StopAfter(usize);

impl Observer for StopAfter {
    fn event(&mut self, event: Event<'_>) {
        if matches!(event, Event::Decided(_)) {
            self.0 -= 1;
        }
    }

    fn stop(&self) -> bool {
        self.0 == 0
    }
}

#[tokio::test]
async fn what_another_run_decided_meanwhile_is_taken_over() {
    let config = LoopConfig::default();
    let script = Scripted::mixed();
    let store = MemoryStore::default();
    let mut first = open(store, quick(), &config, RunSelector::Latest)
        .await
        .unwrap();
    first.run_to(3, &script, &mut StopAfter(4)).await.unwrap();
    let id = first.run().id;
    let mut second = finished(RunSelector::New, first.store().clone()).await;
    let store = second.store().clone();
    let mut first = open(store, quick(), &config, RunSelector::Id(id))
        .await
        .unwrap();
    first.run_to(3, &script, &mut Unobserved).await.unwrap();
    let store = first.store();
    let mut decided = std::collections::BTreeSet::new();
    for row in &store.evaluations {
        let law = &store.laws[usize::try_from(row.law_id - 1).unwrap()];
        assert!(decided.insert(&law.law_fingerprint), "{}", law.law_id);
    }
    let left = store
        .laws
        .iter()
        .filter(|law| law.status == LawStatus::Queued);
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn a_retest_finds_a_seed_that_is_free_also_at_the_end_of_the_numbers() {
    let config = quick().config().clone().seed(u64::MAX);
    let harness = Harness::new(KineticGrid, config).unwrap();
    let loop_config = LoopConfig::default();
    let store = MemoryStore::default();
    let mut discovery = open(store, harness, &loop_config, RunSelector::Latest)
        .await
        .unwrap();
    discovery
        .run_to(1, &Scripted::mixed(), &mut Unobserved)
        .await
        .unwrap();
    let law = discovery
        .store()
        .keys
        .values()
        .next()
        .unwrap()
        .law_fingerprint
        .clone();
    let mut seeds = Vec::new();
    for _ in 0..3 {
        seeds.push(discovery.retest(&law).await.unwrap().seed);
    }
    assert_eq!(seeds, [0, 1, 2]);
}
