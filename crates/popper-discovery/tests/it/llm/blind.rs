//! The prompts of a blind model, and the translation of its replies.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use popper_discovery::llm::{LlmOptions, SymbolMask, prompts};
use popper_discovery::store::{Query, Store as _};
use popper_discovery::{LoopConfig, MemoryStore, Undecided, Unobserved};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::{KineticGrid, random_universe};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Model, assert_blind, beginning, blind_law, mask, open, reply, scanned};

/// The request of a first turn, as JSON.
async fn first_request(snapshot: &popper_discovery::Snapshot, blind: bool) -> Value {
    use popper_discovery::Proposer as _;
    let model = Model::saying([reply("", &[])]);
    let mut options = LlmOptions::default();
    options.blind = blind;
    model
        .proposer(options)
        .propose(snapshot, 20, &[], &mut BTreeSet::new())
        .await
        .unwrap();
    model.bodies().remove(0)
}

/// A request as a page: what a snapshot test shows.
fn page(body: &Value) -> String {
    let mut page = String::new();
    for block in body["system"].as_array().unwrap() {
        writeln!(page, "==== system\n{}", block["text"].as_str().unwrap()).unwrap();
    }
    for message in body["messages"].as_array().unwrap() {
        for block in message["content"].as_array().unwrap() {
            let role = message["role"].as_str().unwrap();
            writeln!(page, "==== {role}\n{}", block["text"].as_str().unwrap()).unwrap();
        }
    }
    let mut rest = body.clone();
    let fields = rest.as_object_mut().unwrap();
    fields.remove("system");
    fields.remove("messages");
    page + "==== the rest\n" + &serde_json::to_string_pretty(&rest).unwrap()
}

#[tokio::test]
async fn the_rendered_request_is_pinned() {
    let snapshot = beginning(KineticGrid, &[]);
    insta::assert_snapshot!("request_blind", page(&first_request(&snapshot, true).await));
    insta::assert_snapshot!("request_open", page(&first_request(&snapshot, false).await));
}

#[test]
fn the_texts_are_pinned() {
    let texts: Vec<String> = prompts::ALL
        .iter()
        .map(|text| format!("{} {}", text.sha256(), text.name))
        .collect();
    insta::assert_snapshot!("texts", texts.join("\n"));
}

#[tokio::test]
async fn first_prompts_give_nothing_away_in_any_universe() {
    for extensions in [&[][..], &["local_transition"]] {
        for seed in 0..20 {
            let snapshot = beginning(random_universe(seed), extensions);
            let body = first_request(&snapshot, true).await;
            let mask = SymbolMask::blind(&snapshot.contract, &snapshot.capabilities, 0);
            for text in scanned(&body) {
                assert_eq!(mask.leaks(&text), None);
            }
        }
        first_request(&beginning(KineticGrid, extensions), true).await;
    }
}

#[tokio::test]
async fn a_prompt_that_gives_something_away_is_not_sent() {
    use popper_discovery::{Accepted, ProposeError, Proposer as _};
    let accepted = |scope: &str| Accepted {
        law_fingerprint: String::new(),
        law: blind_law("a", "symmetry_commutation", &[], "commutes(T1)"),
        strength: None,
        scope: scope.into(),
    };
    for (scope, found) in [
        ("every Moving_thing", "Moving_thing"),
        ("start '..>'", "..>"),
        ("start ..>", "..>"),
    ] {
        let model = Model::saying([reply("", &[])]);
        let mut snapshot = beginning(KineticGrid, &[]);
        snapshot.accepted.push(accepted(scope));
        let step = model
            .proposer(LlmOptions::default())
            .propose(&snapshot, 20, &[], &mut BTreeSet::new())
            .await;
        assert!(
            matches!(&step, Err(ProposeError::Leak { word }) if word == found),
            "{step:?}"
        );
        assert!(model.bodies().is_empty());
    }
}

#[tokio::test]
async fn laws_of_every_kind_come_back_in_neutral_words() {
    let observables = [
        ("x", "count('X')"),
        ("r", "count(\">\") + count_pattern('>.<')"),
    ];
    let mut symmetry = blind_law("s", "symmetry_commutation", &[], "commutes(mirror_only)");
    symmetry["proposed_tests"] =
        json!([{"family": mask().family("edge_wrapping_cases"), "params": {"grid_lengths": [9]}}]);
    let laws = [
        symmetry,
        blind_law("t", "symmetry_commutation", &[], "commutes(mirror_swap)"),
        blind_law("k", "symmetry_commutation", &[], "commutes(shift_-2)"),
        blind_law("a", "invariant", &observables[..1], "x(t) == x(0)"),
        blind_law("b", "bound", &observables, "x(t) <= 3 and r(t) >= 0"),
        blind_law(
            "c",
            "implication_step",
            &[("i", "incoming_collisions"), ("x", "count('X')")],
            "i(t) > 0 -> x(t+1) == i(t)",
        ),
        blind_law("d", "eventually", &observables, "r(t) > 0 -> x(t) > 0"),
        blind_law("e", "bound", &observables[..1], "x(t) >= 0"),
    ];
    let model = Model::saying([
        reply("moving particles collide: >.<", &laws),
        reply("", &[]),
    ]);
    let mut discovery = open(MemoryStore::default(), LoopConfig::default()).await;
    let proposer = model.proposer(LlmOptions::default());
    discovery
        .run_to(2, &proposer, &mut Unobserved)
        .await
        .unwrap();
    assert_blind(&model, &mask());
    let bodies = model.bodies();
    let user = bodies[1]["messages"][0]["content"][0]["text"]
        .as_str()
        .unwrap();
    insta::assert_snapshot!("snapshot_blind", user);
    // The log is the model's own and comes back as it was.
    assert_eq!(
        bodies[1]["messages"][0]["content"][1]["text"],
        "moving particles collide: >.<"
    );
    // What was stored is in the terms of the universe.
    let run = discovery.run().clone();
    let findings = discovery.store().findings(Query::all(&run)).await.unwrap();
    let find = |id: &str| {
        findings
            .iter()
            .find(|finding| finding.law.law_id == id)
            .unwrap()
    };
    assert_eq!(find("s").law.claim_text, "commutes(mirror_only)");
    assert!(
        find("s")
            .law
            .proposed_tests_json
            .contains("edge_wrapping_cases")
    );
    assert!(
        find("b")
            .law
            .observables_json
            .contains("count_pattern('>.<')")
    );
    assert!(
        find("c")
            .law
            .normalized_json
            .contains("incoming_collisions")
    );
    assert_eq!(
        find("c").evaluation.status,
        popper_harness::decide::Status::Pass
    );
}

#[tokio::test]
async fn a_guess_of_what_was_never_shown_is_missing() {
    let law = |id: &str, template: &str, expr: &str, claim: &str| {
        json!({
            "law_id": id, "template": template, "quantifiers": {"T": 20},
            "observables": [{"name": "x", "expr": expr}], "claim": claim, "forbidden": "a step that breaks it",
        })
    };
    let laws = [
        law(
            "symbol",
            "invariant",
            "count('>') + count('X')",
            "x(t) == x(0)",
        ),
        law(
            "name",
            "implication_step",
            "incoming_collisions",
            "x(t) > 0 -> x(t+1) > 0",
        ),
        law(
            "transform",
            "symmetry_commutation",
            "0",
            "commutes(mirror_swap)",
        ),
        law("invented", "bound", "collision_count('.')", "x(t) <= 4"),
        law("plain", "bound", "temperature", "x(t) <= 4"),
        law("odd", "bound", "count_pattern(\"_'_\")", "x(t) <= 4"),
        law("spelled", "bound", "count_pattern('move')", "x(t) <= 4"),
    ];
    let model = Model::saying([reply("", &laws), reply("", &[])]);
    let mut discovery = open(MemoryStore::default(), LoopConfig::default()).await;
    let proposer = model.proposer(LlmOptions::default());
    discovery
        .run_to(2, &proposer, &mut Unobserved)
        .await
        .unwrap();
    let run = discovery.run().clone();
    let findings = discovery.store().findings(Query::all(&run)).await.unwrap();
    let reasons: Vec<String> = findings
        .iter()
        .map(|finding| {
            let reason = finding.evaluation.reason_code.as_deref().unwrap_or("none");
            format!("{}: {reason}", finding.law.law_id)
        })
        .collect();
    assert_eq!(
        reasons,
        [
            "symbol: missing_observable",
            "name: missing_observable",
            "transform: missing_transform",
            "invented: missing_observable",
            "plain: missing_observable",
            "odd: missing_observable",
            "spelled: missing_observable",
        ]
    );
    // The next prompt repeats none of the guesses, and is not refused because of them.
    assert_blind(&model, &mask());
    let user = model.bodies()[1]["messages"][0]["content"][0]["text"].to_string();
    for (text, is_there) in [
        ("unknown_name", true),
        // What is hidden of the wrong guesses is hidden of all: else the holes would point at the right ones.
        ("temperature", false),
        ("move", false),
        ("mirror", false),
        ("'?'", true),
    ] {
        assert_eq!(user.contains(text), is_there, "{text}: {user}");
    }
}

/// Texts of the language and other texts: names, symbols and quotes of both kinds.
fn text() -> impl Strategy<Value = String> {
    let words = [
        "count('X')",
        "count(\">\")",
        "count_pattern('.><X')",
        "count_pattern(\"A'B\")",
        "gap_pairs('>','<',2)",
        "incoming_collisions",
        "transition_indicator",
        "cue",
        "cue_alias",
        "mirror_swap",
        "T1",
        "T2",
        "F3",
        "grid_length",
        "x",
        "x(t)",
        "x(t+1)",
        "2cue",
        "cue_2",
        "edge_wrapping_cases",
        "commutes(mirror_swap)",
        "commutes( T3 )",
        " commutes (shift_-1)",
        "+",
        "-",
        "*",
        "%",
        "->",
        "<=",
        ">",
        "==",
        "and",
        "not",
        "(",
        ")",
        "'",
        "\"",
        "don't",
        "é",
        "_",
        "A",
        "K",
        "'_ABK'",
        "12",
        " ",
        "''",
    ];
    let piece = prop_oneof![
        4 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => "[ -~é]{0,6}",
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.join(" "))
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (text(), 0..3).prop_map(|(obs, t)| json!({"obs": obs, "t": {"const": t}})),
        Just(json!({"var": "t"})),
        any::<i64>().prop_map(|number| json!({"const": number})),
    ];
    leaf.prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone())
                .prop_map(|(lhs, rhs)| json!({"op": "<=", "lhs": lhs, "rhs": rhs})),
            inner
                .clone()
                .prop_map(|arg| json!({"op": "not", "arg": arg})),
            proptest::collection::vec(inner, 0..2).prop_map(Value::from),
        ]
    })
}

/// A law, or something like one: fields of a wrong type too.
fn law() -> impl Strategy<Value = Value> {
    let field = || prop_oneof![8 => text().prop_map(Value::from), 1 => Just(Value::Null), 1 => any::<u8>().prop_map(Value::from)];
    let template =
        proptest::sample::select(&["invariant", "symmetry_commutation", "local_transition"][..]);
    let fields = (
        field(),
        field(),
        field(),
        field(),
        field(),
        field(),
        field(),
    );
    let more = (tree(), template, field(), field(), field());
    (fields, more).prop_map(|((a, b, c, d, e, f, g), (tree, template, h, i, j))| {
        json!({
            "law_id": a, "template": template, "quantifiers": {"T": b},
            "preconditions": [{"lhs": c, "op": "<", "rhs": 3}, {"lhs": 1, "rhs": d}, e],
            "observables": [{"name": "x", "expr": e}, {"name": f, "expr": g}],
            "claim": h, "claim_ast": tree, "transform": f, "forbidden": i, "novelty_claim": j,
            "proposed_tests": [{"family": g, "params": {"grid_lengths": [8]}}],
            "capability_requirements": {"missing_observables": [a, b], "missing_transforms": [c], "missing_generators": [d], "other": [i]},
            "trigger_symbol": h, "neighbor_pattern": i, "result_symbol": j, "unknown_key": g,
        })
    })
}

proptest! {
    #[test]
    fn translating_twice_changes_nothing(law in law(), seed in any::<u64>()) {
        let snapshot = beginning(KineticGrid, &[]);
        let mask = SymbolMask::blind(&snapshot.contract, &snapshot.capabilities, seed);
        let shown = mask.law(&law);
        prop_assert_eq!(&mask.law(&shown), &law);
        prop_assert_eq!(SymbolMask::open().law(&law), law);
    }

    #[test]
    fn a_law_of_the_language_is_the_same_law_after_both_ways(text in text()) {
        let mask = mask();
        prop_assert_eq!(mask.expression(&mask.expression(&text)), text);
    }
}

/// Expressions that parse, of known and unknown names and symbols.
fn expression() -> impl Strategy<Value = String> {
    let symbol = || {
        proptest::sample::select(vec![
            "A", "B", "K", "_", ">", "<", "X", ".", "Z", "é", "(", "?",
        ])
    };
    let name = proptest::sample::select(vec![
        "grid_length",
        "cue",
        "cue_alias",
        "incoming_collisions",
        "x",
        "heat",
        "right_movers",
        "mirror_swap",
        "T1",
        "unknown_name",
    ]);
    let leaf = prop_oneof![
        name.prop_map(str::to_owned),
        symbol().prop_map(|a| format!("count('{a}')")),
        (symbol(), symbol()).prop_map(|(a, b)| format!("count_pattern(\"{a}'{b}\")")),
        (symbol(), symbol(), 0..9)
            .prop_map(|(a, b, gap)| format!("gap_pairs('{a}', \"{b}\", {gap})")),
        symbol().prop_map(|a| format!("speed_of('{a}', mirror(3))")),
        any::<i32>().prop_map(|number| number.to_string()),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let op = proptest::sample::select(vec!["+", "-", "*", "%"]);
        (inner.clone(), op, inner).prop_map(|(left, op, right)| format!("({left} {op} {right})"))
    })
}

/// A law of the language as a model may write it.
fn written_law() -> impl Strategy<Value = Value> {
    let claims = vec![
        ("invariant", "a(t) == a(0)"),
        ("bound", "a(t) <= 3 or not b(t+1) > -2"),
        ("monotone", "a(t+1) >= a(t)"),
        ("implication_step", "a(t) > 0 -> b(t+1) == a(0) + t"),
        ("eventually", "a(t) > 0 -> b(t) / 2 == grid_length"),
        ("implication_state", "moving(t) -> 'swap'"),
        ("bound", "it's a period: X > 3"),
        ("symmetry_commutation", "commutes(T1)"),
        ("symmetry_commutation", "commutes(mirror_swap)"),
        ("symmetry_commutation", "commutes(shift_-1)"),
        ("symmetry_commutation", "commutes(rotate_2d)"),
        ("local_transition", "no matter"),
    ];
    let names = || {
        proptest::sample::select(vec![
            "T1",
            "mirror_swap",
            "F2",
            "edge_wrapping_cases",
            "heat",
            "a 'b c",
            "cue",
            "speed",
        ])
    };
    let cells = || proptest::sample::select(vec!["A", "X", "'", "\"", ".", "Z"]);
    let parts = (
        expression(),
        expression(),
        expression(),
        proptest::sample::select(claims),
    );
    (parts, (names(), names(), names()), (cells(), cells(), cells())).prop_map(
        |((a, b, condition, (template, claim)), (x, y, z), (left, middle, right))| {
            json!({
                "law_id": "law", "template": template, "quantifiers": {"T": 5, "H": 2}, "claim": claim, "forbidden": "no",
                "observables": [{"name": "a", "expr": a}, {"name": "b", "expr": b}],
                "preconditions": [{"lhs": condition, "op": ">=", "rhs": "b"}],
                "capability_requirements": {"missing_observables": [x], "missing_transforms": [y], "missing_generators": [z]},
                "trigger_symbol": middle, "neighbor_pattern": format!("{left}{middle}{right}"), "result_symbol": right,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A prompt that quotes a law must neither reveal the universe nor be refused because of a name that a model made up: the run
    /// could not continue.
    #[test]
    fn no_law_that_a_model_writes_spoils_the_prompts_after_it(laws in proptest::collection::vec(written_law(), 1..4), seed in 0_u64..3) {
        for universe in [None, Some(seed)] {
            let extensions = &["local_transition"];
            let mut snapshot = match universe {
                Some(seed) => beginning(random_universe(seed), extensions),
                None => beginning(KineticGrid, extensions),
            };
            let mask = SymbolMask::blind(&snapshot.contract, &snapshot.capabilities, 0);
            for law in &laws {
                let language = Extensions::ALL;
                let law = Law::from_value(mask.law(law), "$", language);
                prop_assert!(law.is_ok(), "{:?}", law);
                let undecided = law.map(|law| Undecided {
                    law_fingerprint: law.fingerprint(),
                    law: json!(law.normal()),
                    reason: "vacuous_pass".into(),
                    needs: "an antecedent that is met in some run".into(),
                });
                snapshot.unknown.extend(undecided);
            }
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let body = runtime.block_on(first_request(&snapshot, true));
            for text in scanned(&body) {
                prop_assert_eq!(mask.leaks(&text), None);
            }
        }
    }
}

#[test]
fn every_fixture_law_survives_both_ways_and_is_hidden_between() {
    let mask = mask();
    for name in ["true", "false", "unknown"] {
        let text =
            std::fs::read_to_string(test_support::fixture(format!("popper/laws/{name}.json")))
                .unwrap();
        for law in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
            let shown = mask.law(&law);
            assert_eq!(mask.law(&shown), law);
            for observable in shown["observables"].as_array().unwrap() {
                let expr = observable["expr"].as_str().unwrap();
                // One fixture names an observable that nobody knows.
                assert!(
                    expr == "collision_events" || mask.leaks(expr).is_none(),
                    "{expr}"
                );
            }
        }
    }
}

#[test]
fn symbols_are_exchanged_by_seed_and_never_with_their_own() {
    let snapshot = beginning(KineticGrid, &[]);
    let shown: std::collections::BTreeSet<String> = (0..50)
        .map(|seed| {
            SymbolMask::blind(&snapshot.contract, &snapshot.capabilities, seed).state(".><X")
        })
        .collect();
    assert!(shown.len() > 10, "{shown:?}");
    assert!(
        shown
            .iter()
            .all(|state| state.chars().all(|c| "_ABK".contains(c)))
    );
}
