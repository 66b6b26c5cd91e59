//! A law that differs from a proved one in T alone: its verdict is evidence by itself.

use serde_json::{Value, json};
use test_support::FaultServer;

use crate::models::completion;
use crate::process::{fresh, words};
use crate::runs::Place;
use crate::sql;

/// An answer with one law, whose name is its horizon.
fn answer(t: u64) -> String {
    let law = json!({
        "law_id": format!("until_{t}"), "template": "invariant", "quantifiers": {"T": t},
        "preconditions": [], "observables": [{"name": "r", "expr": "count('>') + count('X')"}],
        "claim": "r(t) == r(0)", "forbidden": "some t with r(t) != r(0)",
    });
    json!({"research_log": "look", "candidate_laws": [law]}).to_string()
}

#[test]
fn an_exported_verdict_has_a_proof_of_its_own_law() {
    let mut t = 60;
    let server = FaultServer::play(move |_| {
        t -= 10;
        completion(&answer(t))
    });
    let place =
        Place::with(&json!({"exhaustive_n": 4, "ladder": [5], "minimal_n": 5, "blind": false}));
    let base = server.url("/v1");
    let line = format!(
        "run --config config.json --db popper.db --model m --provider vllm --base-url {base} --iterations 2"
    );
    let ran = fresh(place.path(), &words(&line)).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(said.contains("1 proposed (1 known), 0 tested"), "{said}");
    assert_eq!(
        sql::column(&place.db(), "SELECT count(*) FROM law_evaluations"),
        ["1"]
    );
    let status = place.popper(&["status"]).stdout;
    assert!(status.contains("2 tested, 2 PASS (2 proved)"), "{status}");

    let export = place.popper(&["export"]).stdout;
    std::fs::write(place.path().join("export.json"), export).unwrap();
    let verified = fresh(place.path(), &["verify", "export.json"])
        .output()
        .unwrap();
    let verified = String::from_utf8(verified.stdout).unwrap();
    assert_eq!(
        verified.matches(": holds: proved by ").count(),
        2,
        "{verified}"
    );
    let export: Value =
        serde_json::from_str(&std::fs::read_to_string(place.path().join("export.json")).unwrap())
            .unwrap();
    for law in export["laws"].as_array().unwrap() {
        let proof = &law["verdict"]["evidence"]["proof"];
        assert_eq!(
            proof["law"]["quantifiers"], law["law"]["quantifiers"],
            "{law}"
        );
    }
    assert_eq!(place.popper(&["report", "-o", "page.html"]).code, Some(0));
}
