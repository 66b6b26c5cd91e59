//! A walk continues where the last iteration left it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt as _};
use llm_types::FixedClock;
use popper_discovery::store::StoreError;
use popper_discovery::{
    Discovery, EnumerativeProposer, FailureExample, LoopConfig, MemoryStore, Proposer as _, RunEnd,
    RunSelector, Snapshot, Step, StoredLaws, Summary, Unobserved,
};
use popper_harness::decide::Harness;
use popper_harness::law::Law;
use popper_harness::universe::KineticGrid;
use serde_json::{Value, json};

use super::{empty, hasty, next_laws, read};
use crate::scripted::{moment, quick};

/// Counts the fingerprints and the questions that it is asked.
#[derive(Default)]
struct Counting {
    laws: BTreeSet<String>,
    fingerprints: usize,
    questions: usize,
}

impl StoredLaws for Counting {
    fn known<'a>(
        &'a mut self,
        fingerprints: &'a [String],
    ) -> BoxFuture<'a, Result<BTreeSet<String>, StoreError>> {
        self.fingerprints += fingerprints.len();
        self.questions += 1;
        assert!(fingerprints.len() <= 500);
        self.laws.known(fingerprints)
    }
}

fn beginning() -> Snapshot {
    empty(&Harness::new(KineticGrid, hasty()).unwrap())
}

/// The most fingerprints and questions of some of the first turns and of the last ones. Before each turn, the snapshot is changed.
fn reads(k: usize, mut change: impl FnMut(&mut Snapshot, usize)) -> [(usize, usize); 2] {
    const TURNS: usize = 120;
    let mut snapshot = beginning();
    let mut stored = Counting::default();
    let mut read_in = Vec::new();
    for turn in 0..TURNS {
        change(&mut snapshot, turn);
        (stored.fingerprints, stored.questions) = (0, 0);
        let step = EnumerativeProposer::default()
            .propose(&snapshot, k, &[], &mut stored)
            .now_or_never();
        let Some(Ok(Step::Proposed(proposal))) = step else {
            panic!("{step:?}");
        };
        snapshot.cursor = proposal.cursor;
        let laws = proposal.candidates.iter();
        let laws: Vec<Law> = laws.map(|law| read(law.law.as_ref().unwrap())).collect();
        assert_eq!(laws.len(), k);
        stored.laws.extend(laws.iter().map(Law::fingerprint));
        read_in.push((stored.fingerprints, stored.questions));
    }
    assert_eq!(stored.laws.len(), k * TURNS);
    [&read_in[..20], &read_in[100..]].map(|turns| *turns.iter().max().unwrap())
}

#[test]
fn a_late_turn_reads_no_more_than_an_early_one() {
    let [early, late] = reads(20, |_, _| {});
    assert!(late.0 <= early.0 && late.1 <= 20, "{early:?} {late:?}");
}

/// Other observations make other walks over sums of counts. They begin again, and most of their first laws are stored.
#[test]
fn a_late_turn_with_new_observations_reads_no_more_than_an_early_one() {
    let steps = [["><..", ".X.."], [">.<.", ".X.."], ["X...", "<.>."]];
    let [early, late] = reads(60, |snapshot, turn| {
        let states = steps[turn % steps.len()];
        snapshot.gallery = vec![specimen(&states)];
    });
    assert!(10 * late.0 <= 11 * early.0, "{early:?} {late:?}");
}

/// A refutation of which only the states matter.
fn specimen(states: &[&str]) -> FailureExample {
    let excerpt: Vec<Value> = (states.iter().enumerate())
        .map(|(t, state)| json!({"t": t, "state": state}))
        .collect();
    let specimen = json!({
        "template": "invariant", "initial_state": states[0], "t_fail": 1, "excerpt": excerpt,
        "witness": {"now": {}, "next": {}, "left": "0", "op": "<", "right": "0"},
    });
    serde_json::from_value(specimen).unwrap()
}

/// A sum that was never seen to change has no monotone laws, and a walk has passed it by when it is.
#[test]
fn laws_that_the_observations_have_left_out_are_proposed_later() {
    for turns in [2, 8] {
        let mut snapshot = beginning();
        let mut stored = BTreeSet::new();
        let next = |snapshot: &mut Snapshot, stored: &mut BTreeSet<String>, k| {
            next_laws(EnumerativeProposer::default(), snapshot, stored, k)
        };
        snapshot
            .gallery
            .push(specimen(&[">....", ".>...", "..>.."]));
        for _ in 0..turns {
            next(&mut snapshot, &mut stored, 60);
        }
        snapshot.gallery.push(specimen(&["><..", ".X.."]));
        let mut fresh = snapshot.clone();
        fresh.cursor = BTreeMap::new();
        let expected = next(&mut fresh, &mut stored.clone(), 300);
        for _ in 0..30 {
            next(&mut snapshot, &mut stored, 60);
        }
        let is_lost = |law: &&Value| !stored.contains(&read(law).fingerprint());
        let lost: Vec<&Value> = expected.iter().filter(is_lost).collect();
        assert!(
            lost.is_empty(),
            "{turns} turns, {} lost: {lost:?}",
            lost.len()
        );
    }
}

/// A part of a trajectory in which no count changes leaves out every sum that may only grow. The walk must not go through all of them.
#[test]
fn a_source_that_the_observations_leave_empty_is_left_for_a_while() {
    let mut snapshot = beginning();
    snapshot
        .gallery
        .push(specimen(&[">....", ".>...", "..>.."]));
    let mut stored = BTreeSet::new();
    for turn in 1..=3 {
        let laws = next_laws(
            EnumerativeProposer::default(),
            &mut snapshot,
            &mut stored,
            60,
        );
        assert_eq!(laws.len(), 60);
        let monotone = (snapshot.cursor.iter()).find(|(key, _)| key.starts_with("monotone"));
        assert_eq!(monotone.map(|(_, position)| *position), Some(200 * turn));
    }
}

#[test]
fn the_walk_from_the_beginning_finds_the_same_laws() {
    let (mut continued, mut restarted) = (beginning(), beginning());
    let mut stored = [BTreeSet::new(), BTreeSet::new()];
    let proposer = EnumerativeProposer::new(5);
    for turn in 0..40 {
        let laws = next_laws(proposer, &mut continued, &mut stored[0], 20);
        restarted.cursor = BTreeMap::new();
        let expected = next_laws(proposer, &mut restarted, &mut stored[1], 20);
        assert_eq!(laws, expected, "{turn}");
    }
}

/// Continues a run of the enumerative proposer up to this many iterations.
async fn run_to(store: MemoryStore, iterations: u32) -> MemoryStore {
    let clock = Arc::new(FixedClock(moment()));
    let (id, latest) = (EnumerativeProposer::ID, RunSelector::Latest);
    let config = LoopConfig::default();
    let opened = Discovery::open(store, quick(), config, id, clock, latest).await;
    let mut discovery = opened.unwrap();
    let proposer = EnumerativeProposer::default();
    let ended = discovery
        .run_to(iterations, &proposer, &mut Unobserved)
        .await;
    assert_eq!(ended.unwrap(), RunEnd::Completed);
    discovery.into_store()
}

#[tokio::test]
async fn a_run_that_is_resumed_gives_the_laws_of_one_that_is_not() {
    let whole = run_to(MemoryStore::default(), 8).await;
    let mut resumed = MemoryStore::default();
    for iterations in 1..=8 {
        resumed = run_to(resumed, iterations).await;
    }
    assert_eq!(resumed, whole);
    for iteration in &whole.iterations {
        let json = iteration.summary_json.as_ref().unwrap();
        assert!(json.len() <= 16 * 1024, "{}", json.len());
        let summary: Summary = serde_json::from_str(json).unwrap();
        let cursor = serde_json::to_string(&summary.cursor).unwrap();
        assert!(
            !summary.cursor.is_empty() && cursor.len() <= 4096,
            "{cursor}"
        );
    }
}

#[tokio::test]
async fn a_summary_of_an_older_program_has_no_cursor_and_is_read() {
    let mut store = run_to(MemoryStore::default(), 4).await;
    for iteration in &mut store.iterations {
        let json = iteration.summary_json.as_ref().unwrap();
        let mut summary: Value = serde_json::from_str(json).unwrap();
        summary.as_object_mut().unwrap().remove("cursor").unwrap();
        iteration.summary_json = Some(summary.to_string());
    }
    let laws = store.laws.len();
    let store = run_to(store, 6).await;
    // What is stored already is not proposed again.
    assert_eq!(store.laws.len(), laws + 40);
    let last = store.iterations.last().unwrap().summary_json.clone();
    let last: Summary = serde_json::from_str(&last.unwrap()).unwrap();
    assert_eq!(last.duplicates, 0);
}
