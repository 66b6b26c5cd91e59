//! The summary that an iteration stores is short, and those of older programs are read.

use popper_discovery::{Accepted, Capabilities, Snapshot, Summary, UniverseContract};
use serde_json::{Value, json};

use crate::scripted::quick;

#[test]
fn a_summary_with_a_whole_snapshot_is_read() {
    let harness = quick();
    let contract = UniverseContract::of(harness.universe());
    let mut snapshot = Snapshot::new(contract, Capabilities::of(&harness));
    snapshot.accepted = (0..60)
        .map(|number| Accepted {
            law_fingerprint: format!("{number:064}"),
            law: json!({"claim": "f(t) == f(0)"}),
            strength: None,
            scope: "every ring".into(),
        })
        .collect();
    snapshot.totals.pass = 60;
    let ranked = json!({
        "law_fingerprint": "a".repeat(64), "behaviour_hash": "b".repeat(64), "score": 1.5,
        "features": {"risk": 0.5, "novelty": 1.0, "discrimination": 0.0, "testability": 1.0, "redundancy": 0.0},
    });
    let stored = json!({
        "snapshot": snapshot, "research_log": "notes", "proposed": 20, "rejected": 1, "duplicates": 2, "known": [],
        "ranking": vec![ranked; 70], "selected": [{"law_fingerprint": "a".repeat(64), "seed": 0}],
        "verdicts": {"pass": 1, "fail": 0, "unknown": 0},
    });
    let summary: Summary = serde_json::from_value(stored).unwrap();
    let shown = &summary.snapshot;
    let expected: Vec<String> = (10..60)
        .map(|number| format!("{number:064}")[..16].into())
        .collect();
    assert_eq!(shown.accepted, expected);
    assert_eq!((shown.falsified.len(), shown.totals.pass), (0, 60));
    assert_eq!((summary.ranking.len(), summary.selected.len()), (70, 1));
    // It reads the same in its present form.
    let present = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&present).unwrap(), summary);
    let present: Value = serde_json::from_str(&present).unwrap();
    assert_eq!(present["snapshot"]["accepted"][0], expected[0].as_str());
    assert!(present["ranking"][0].get("behaviour_hash").is_none());
}
