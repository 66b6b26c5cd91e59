//! The proposer that needs no model.

mod cursor;
mod properties;
mod recall;
mod texts;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use futures_util::FutureExt as _;
use llm_types::FixedClock;
use popper_discovery::store::{Query, Store as _};
use popper_discovery::{
    Accepted, Capabilities, Discovery, EnumerativeProposer, FailureExample, Falsified, LoopConfig,
    MemoryStore, Proposer as _, RunSelector, Snapshot, Step, UniverseContract, Unobserved,
};
use popper_harness::decide::{Config, Harness, Status, Verdict};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::{Tabulated, Universe};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;

/// The order in which laws are tested.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// As they were proposed, the oldest first.
    Proposed,
    /// The oldest first, but shuffled within an iteration.
    Shuffled(u64),
}

/// A run that has ended.
struct Story {
    /// The snapshot of the proposer, and its laws.
    turns: Vec<(Snapshot, Vec<Value>)>,
    /// The fingerprints of the laws of all turns.
    stored: BTreeSet<String>,
    /// The laws that were tested.
    tested: Vec<(Law, Verdict)>,
}

/// A snapshot in which nothing is known yet.
fn empty(harness: &Harness) -> Snapshot {
    Snapshot::new(
        UniverseContract::of(harness.universe()),
        Capabilities::of(harness),
    )
}

/// A harness that finds the same small refutations sooner: it looks at less before it lets a law pass.
fn hasty() -> Config {
    Config::default()
        .exhaustive_n(5)
        .minimal_n(5)
        .ladder((1..=12).collect())
        .generations(2)
}

/// Returns the laws that a proposer finds. The cursor of the snapshot is moved after them, and the set of stored laws gets them.
fn next_laws(
    proposer: EnumerativeProposer,
    snapshot: &mut Snapshot,
    stored: &mut BTreeSet<String>,
    k: usize,
) -> Vec<Value> {
    let step = proposer.propose(snapshot, k, &[], stored).now_or_never();
    let Some(Ok(Step::Proposed(proposal))) = step else {
        panic!("{step:?}");
    };
    snapshot.cursor = proposal.cursor;
    let laws = proposal.candidates.into_iter();
    let laws: Vec<Value> = laws.map(|candidate| candidate.law.unwrap()).collect();
    stored.extend(laws.iter().map(|law| read(law).fingerprint()));
    laws
}

/// A loop without store and ranking: 20 laws an iteration, 10 of the waiting ones are tested.
fn story(
    universe: impl Universe,
    config: Config,
    seed: u64,
    order: Order,
    iterations: u32,
) -> Story {
    let harness = Harness::new(universe, config).unwrap();
    let proposer = EnumerativeProposer::new(seed);
    let mut snapshot = empty(&harness);
    let mut waiting = VecDeque::new();
    let mut story = Story {
        turns: Vec::new(),
        stored: BTreeSet::new(),
        tested: Vec::new(),
    };
    for iteration in 1..=iterations {
        snapshot.iteration = iteration;
        let before = snapshot.clone();
        let laws = next_laws(proposer, &mut snapshot, &mut story.stored, 20);
        story.turns.push((before, laws.clone()));
        let mut laws: Vec<Law> = laws.iter().map(read).collect();
        if let Order::Shuffled(seed) = order {
            shuffle(&mut laws, seed + u64::from(iteration));
        }
        waiting.extend(laws);
        for law in waiting.drain(..waiting.len().min(10)) {
            let verdict = harness.evaluate(&law);
            remember(&mut snapshot, &law, &verdict);
            story.tested.push((law, verdict));
        }
    }
    story
}

fn shuffle(laws: &mut [Law], seed: u64) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    for last in (1..laws.len()).rev() {
        laws.swap(last, (rng.next_u64() % (last as u64 + 1)) as usize);
    }
}

/// Puts a verdict into a snapshot, which keeps the latest ones.
fn remember(snapshot: &mut Snapshot, law: &Law, verdict: &Verdict) {
    fn keep<T>(list: &mut Vec<T>, item: T, most: usize) {
        list.push(item);
        list.drain(..list.len().saturating_sub(most));
    }
    let law_fingerprint = law.fingerprint();
    match (verdict.status, &verdict.counterexample) {
        (Status::Pass, _) => {
            let accepted = Accepted {
                law_fingerprint,
                law: serde_json::json!(law.normal()),
                strength: verdict.evidence.strength,
                scope: verdict.evidence.scope.clone(),
            };
            keep(&mut snapshot.accepted, accepted, 30);
        }
        (Status::Fail, Some(package)) => {
            let specimen = FailureExample {
                template: law.template().name().into(),
                initial_state: package.initial_state.clone(),
                t_fail: package.t_fail,
                excerpt: package.trajectory_excerpt.clone(),
                witness: package.witness.clone(),
            };
            if snapshot
                .gallery
                .iter()
                .all(|known| known.excerpt != specimen.excerpt)
            {
                keep(&mut snapshot.gallery, specimen.clone(), 20);
            }
            let falsified = Falsified {
                law_fingerprint,
                law: serde_json::json!(law.normal()),
                counterexample: specimen,
            };
            keep(&mut snapshot.falsified, falsified, 20);
        }
        _ => {}
    }
}

/// The verdicts of a run of the whole loop with its defaults.
async fn whole_loop(universe: impl Universe, seed: u64) -> Vec<(Law, Status)> {
    let harness = Harness::new(universe, Config::default()).unwrap();
    let clock = Arc::new(FixedClock(crate::scripted::moment()));
    let mut discovery = Discovery::open(
        MemoryStore::default(),
        harness,
        LoopConfig::default(),
        EnumerativeProposer::ID,
        clock,
        RunSelector::Latest,
    )
    .await
    .unwrap();
    let proposer = EnumerativeProposer::new(seed);
    discovery
        .run_to(5, &proposer, &mut Unobserved)
        .await
        .unwrap();
    let run = discovery.run().clone();
    let findings = discovery.store().findings(Query::all(&run)).await.unwrap();
    let rows = &discovery.store().laws;
    assert_eq!(rows.len(), 100, "a proposal was no law, or came twice");
    findings
        .iter()
        .map(|finding| (finding.law.law().unwrap(), finding.evaluation.status))
        .collect()
}

fn fixture(name: &str) -> Tabulated {
    let path = format!(
        "{}/../../fixtures/popper/universes/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    Tabulated::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn read(law: &Value) -> Law {
    Law::from_value(law.clone(), "$", Extensions::default()).unwrap()
}

/// A law in a line.
fn line(law: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let part = |value: &Value, keys: &[&str]| {
        let parts: Vec<String> = keys.iter().map(|key| text(&value[*key])).collect();
        parts.join(" ")
    };
    let list = |key: &str, keys: &[&str]| {
        let items = law[key].as_array().into_iter().flatten();
        items
            .map(|item| part(item, keys))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut line = format!("{} {}", text(&law["template"]), text(&law["claim"]));
    for (label, list) in [
        ("where", list("observables", &["name", "expr"])),
        ("if", list("preconditions", &["lhs", "op", "rhs"])),
    ] {
        if !list.is_empty() {
            line.extend(["; ", label, " ", &list]);
        }
    }
    format!("{line}; {}", law["quantifiers"])
}
