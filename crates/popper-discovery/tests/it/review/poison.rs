//! A law that cannot be read again costs one row, not the run.

use popper_discovery::store::{LawRow, LawStatus};
use popper_discovery::{
    Event, LoopConfig, MemoryStore, Observer, Proposal, RunEnd, RunSelector, Summary, Unobserved,
};
use serde_json::{Value, json};

use crate::run::{Batches, batch, invariant};
use crate::scripted::{Scripted, moment, open, quick};

/// Stops after some decisions, and notes the laws that could not be read.
struct Watcher {
    left: usize,
    unreadable: Vec<String>,
}

impl Watcher {
    fn new(left: usize) -> Self {
        Self {
            left,
            unreadable: Vec::new(),
        }
    }
}

impl Observer for Watcher {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Decided(_) => self.left -= 1,
            Event::Unreadable { law, error } => {
                assert!(error.to_string().contains("normalized_json"), "{error}");
                self.unreadable.push(law.law_id.clone());
            }
            _ => {}
        }
    }

    fn stop(&self) -> bool {
        self.left == 0
    }
}

/// Claims whose normal form was once stored and could not be read again, and some that are near to it.
fn deep_claims() -> Vec<String> {
    let wrapped = |front: &str, depth: usize, back: &str| {
        format!("{}a(t) > 9{}", front.repeat(depth), back.repeat(depth))
    };
    [62, 63, 64, 65, 70, 200]
        .into_iter()
        .flat_map(|depth| {
            [
                format!("{}(a(t) > 9)", "not ".repeat(depth)),
                wrapped("(", depth, ")"),
                wrapped("(1 == 1 and ", depth, ")"),
                format!("a(t) > {}9", "- ".repeat(depth)),
                format!("{}a(t) > 9", "a(t) + ".repeat(depth)),
            ]
        })
        .collect()
}

fn implication(index: usize, claim: &str) -> Value {
    json!({
        "law_id": format!("deep_{index}"), "template": "implication_state", "quantifiers": {"T": 5},
        "observables": [{"name": "a", "expr": "count('X')"}],
        "claim": format!("{claim} -> a(t) >= 0"), "forbidden": "otherwise",
    })
}

#[tokio::test]
async fn what_is_taken_in_is_read_again_whatever_its_depth() {
    let claims = deep_claims();
    let laws = claims.iter().enumerate();
    let proposals = vec![
        batch(laws.map(|(index, claim)| implication(index, claim))),
        Proposal::default(),
    ];
    let mut config = LoopConfig::default();
    config.test = 3;
    let store = MemoryStore::default();
    let mut discovery = popper_discovery::Discovery::open(
        store,
        quick(),
        config,
        "batches",
        std::sync::Arc::new(llm_types::FixedClock(moment())),
        RunSelector::Latest,
    )
    .await
    .unwrap();
    let mut watcher = Watcher::new(usize::MAX);
    let ended = discovery.run_to(2, &Batches(proposals), &mut watcher).await;
    assert_eq!(ended.unwrap(), RunEnd::Completed);
    assert_eq!(watcher.unreadable, Vec::<String>::new());
    let rows = &discovery.store().laws;
    assert!((10..=claims.len()).contains(&rows.len()), "{}", rows.len());
    for row in rows {
        if row.status == LawStatus::RejectedSchema {
            assert!(!row.problems().unwrap().is_empty(), "{}", row.law_id);
        } else {
            let law = row.law().unwrap();
            assert_eq!(law.fingerprint(), row.law_fingerprint, "{}", row.law_id);
        }
    }
    assert!(rows.iter().any(|row| row.status == LawStatus::Tested));
}

fn is(status: LawStatus) -> impl Fn(&&mut LawRow) -> bool {
    move |row| row.status == status
}

#[tokio::test]
async fn a_stored_row_that_cannot_be_read_is_skipped_and_rejected() {
    let mut config = LoopConfig::default();
    config.test = 4;
    let script = Scripted::mixed();
    let store = MemoryStore::default();
    let mut discovery = open(store, quick(), &config, RunSelector::Latest)
        .await
        .unwrap();
    // In the middle of the tests: some laws are tested, some queued, some wait.
    let stopped = discovery.run_to(3, &script, &mut Watcher::new(2)).await;
    assert_eq!(stopped.unwrap(), RunEnd::Stopped);
    let mut store = std::mem::take(discovery.store());
    let nested = format!("{}true{}", "[".repeat(100), "]".repeat(100));
    let mut poisoned = Vec::new();
    for (status, poison) in [
        (LawStatus::Tested, "no JSON"),
        (LawStatus::Queued, nested.as_str()),
        (LawStatus::Proposed, r#"{"template": "theory"}"#),
    ] {
        let row = store.laws.iter_mut().find(is(status)).unwrap();
        row.normalized_json = poison.to_owned();
        poisoned.push((row.id, row.law_id.clone()));
    }
    let mut discovery = open(store, quick(), &config, RunSelector::Latest)
        .await
        .unwrap();
    let mut watcher = Watcher::new(usize::MAX);
    let ended = discovery.run_to(3, &script, &mut watcher).await.unwrap();
    assert_eq!(ended, RunEnd::Completed);
    // One warning each.
    watcher.unreadable.sort();
    let mut names: Vec<String> = poisoned.iter().map(|(_, name)| name.clone()).collect();
    names.sort();
    assert_eq!(watcher.unreadable, names);
    let store = discovery.store();
    for (id, name) in &poisoned {
        let row = &store.laws[usize::try_from(id - 1).unwrap()];
        assert_eq!(row.status, LawStatus::RejectedSchema, "{name}");
        assert!(!row.problems().unwrap().is_empty(), "{name}");
    }
    let queued = |row: &&LawRow| row.status == LawStatus::Queued;
    assert_eq!(store.laws.iter().filter(queued).count(), 0);
    let last = store.iterations.last().unwrap().summary_json.as_ref();
    let last: Summary = serde_json::from_str(last.unwrap()).unwrap();
    assert_eq!(last.selected.len(), 4);
    // The next call has nothing to report, and the page can be made.
    let mut watcher = Watcher::new(usize::MAX);
    discovery.run_to(3, &script, &mut watcher).await.unwrap();
    assert!(watcher.unreadable.is_empty());
    #[cfg(feature = "report")]
    {
        let run = discovery.run().clone();
        let report =
            popper_discovery::report::DiscoveryReport::gather(discovery.store(), &run).await;
        assert!(report.unwrap().rejected.len() >= 3);
    }
}

#[tokio::test]
async fn a_law_next_to_a_poisoned_one_is_tested() {
    let laws = || {
        [
            invariant("good", "count('>') + count('X')"),
            invariant("other", "count('<')"),
        ]
    };
    let proposer = || Batches(vec![batch(laws())]);
    let open = |store: MemoryStore| {
        let mut config = LoopConfig::default();
        config.test = 1;
        let clock = std::sync::Arc::new(llm_types::FixedClock(moment()));
        popper_discovery::Discovery::open(
            store,
            quick(),
            config,
            "batches",
            clock,
            RunSelector::Latest,
        )
    };
    let run = |poison: bool| async move {
        let mut discovery = open(MemoryStore::default()).await.unwrap();
        let ended = discovery.run_to(1, &proposer(), &mut Unobserved).await;
        assert_eq!(ended.unwrap(), RunEnd::Completed);
        let mut store = discovery.into_store();
        if poison {
            let waiting = store.laws.iter_mut().find(is(LawStatus::Proposed)).unwrap();
            waiting.normalized_json = "{}".into();
        }
        let mut discovery = open(store).await.unwrap();
        let ended = discovery.run_to(2, &proposer(), &mut Unobserved).await;
        assert_eq!(ended.unwrap(), RunEnd::Completed);
        discovery.into_store().evaluations.len()
    };
    assert_eq!((run(false).await, run(true).await), (2, 1));
}
