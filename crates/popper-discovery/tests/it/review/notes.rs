//! Notes come back one by one, line breaks included.

use std::sync::Arc;

use llm_types::FixedClock;
use popper_discovery::store::{LawStatus, Query, Store as _};
use popper_discovery::{Discovery, LoopConfig, MemoryStore, RunSelector, Unobserved};
use popper_harness::law::{Extensions, Law};
use serde_json::{Value, json};

use crate::run::{Batches, batch, invariant};
use crate::scripted::{moment, quick};

/// Laws with a note each: a name that is not known, and one that is declared as missing.
fn laws() -> [Value; 2] {
    let mut declared = invariant("declared", "heat");
    declared["capability_requirements"] = json!({"missing_observables": ["heat"]});
    [invariant("unknown", "energy"), declared]
}

async fn run(laws: impl IntoIterator<Item = Value>) -> Discovery<MemoryStore> {
    let clock = Arc::new(FixedClock(moment()));
    let config = LoopConfig::default();
    let (store, which) = (MemoryStore::default(), RunSelector::Latest);
    let open = Discovery::open(store, quick(), config, "batches", clock, which);
    let mut discovery = open.await.unwrap();
    let proposer = Batches(vec![batch(laws)]);
    discovery
        .run_to(1, &proposer, &mut Unobserved)
        .await
        .unwrap();
    discovery
}

#[tokio::test]
async fn the_column_is_an_array_and_old_rows_are_read() {
    let mut discovery = run(laws()).await;
    let run = discovery.run().clone();
    for finding in discovery.store().findings(Query::all(&run)).await.unwrap() {
        let row = &finding.evaluation;
        let stored: Vec<String> = serde_json::from_str(&row.notes).unwrap();
        assert!(!stored.is_empty());
        let verdict = finding.verdict(&run.sim_hash).unwrap();
        assert_eq!(verdict.notes, stored);
        // A note of two lines stays one note.
        let mut two_lines = finding.clone();
        two_lines.evaluation.notes = json!(["one\ntwo", "three"]).to_string();
        let verdict = two_lines.verdict(&run.sim_hash).unwrap();
        assert_eq!(verdict.notes, ["one\ntwo", "three"]);
        // As an older program wrote it.
        let mut old = finding.clone();
        old.evaluation.notes = "[one of\nthe notes]".into();
        let verdict = old.verdict(&run.sim_hash).unwrap();
        assert_eq!(verdict.notes, ["[one of", "the notes]"]);
        old.evaluation.notes = String::new();
        assert!(old.verdict(&run.sim_hash).unwrap().notes.is_empty());
    }
}

#[tokio::test]
async fn a_name_with_a_control_character_is_no_name() {
    for (key, path) in [
        (
            "missing_observables",
            "$.capability_requirements.missing_observables[0]",
        ),
        (
            "missing_transforms",
            "$.capability_requirements.missing_transforms[0]",
        ),
        (
            "missing_generators",
            "$.capability_requirements.missing_generators[0]",
        ),
        ("transform", "$.transform"),
        ("name", "$.observables[0].name"),
    ] {
        for name in ["two\nlines", "a\tb", "esc\u{1b}[2J", "del\u{7f}", "nul\0"] {
            let mut law = invariant("l", "count('X')");
            match key {
                "transform" => law["transform"] = name.into(),
                "name" => law["observables"] = json!([{"name": name, "expr": name}]),
                _ => law["capability_requirements"] = json!({key: [name]}),
            }
            let error = Law::from_value(law.clone(), "$", Extensions::default()).unwrap_err();
            let problem = &error.problems[0];
            assert_eq!(
                (problem.path.as_str(), problem.message.as_str()),
                (path, "a name has no control characters")
            );
            let discovery = &mut run([law]).await;
            assert_eq!(discovery.store().laws[0].status, LawStatus::RejectedSchema);
        }
    }
}
