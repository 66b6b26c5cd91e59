//! A claim that cannot be read is never decided, and one that other fields state need not be written.

use popper_harness::decide::{Config, Harness, Status, UnknownReason, Verdict};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::KineticGrid;
use serde_json::{Value, json};

use crate::fixtures::{fixture, harness};

fn law(template: &str, claim: &str, more: &Value) -> Value {
    let mut law = json!({
        "law_id": "reviewed", "template": template, "quantifiers": {"T": 8, "H": 3},
        "observables": [{"name": "r", "expr": "count('>') + count('X')"}], "claim": claim, "forbidden": "the opposite",
    });
    let fields = more.as_object().unwrap().clone();
    law.as_object_mut().unwrap().extend(fields);
    law
}

fn read(law: Value) -> Law {
    let language = Extensions::ALL;
    Law::from_value(law, "$", language).unwrap()
}

fn decide(law: Value) -> Verdict {
    harness().evaluate(&read(law))
}

/// The note of a verdict that is `ambiguous_claim`.
fn note(law: Value) -> String {
    let verdict = decide(law);
    assert_eq!(
        (verdict.status, verdict.reason_code),
        (Status::Unknown, Some(UnknownReason::AmbiguousClaim)),
        "{verdict:?}"
    );
    verdict.notes.join("\n")
}

#[test]
fn p1_a_text_that_does_not_parse_is_not_decided_by_the_fields() {
    let nots = format!("{}(r(t) == r(0))", "not ".repeat(1001));
    for (claim, expected) in [
        (
            "r(t) =! r(0)",
            "claim: column 6: `=!` is not an operator; did you mean `!=`?",
        ),
        (
            "right movers stay",
            "claim: column 7: expected an operator or the end, found `movers`",
        ),
        (nots.as_str(), "claim: column 1025: nests deeper than 256"),
    ] {
        assert_eq!(note(law("invariant", claim, &json!({}))), expected);
    }
    let symmetry = json!({"transform": "mirror_swap", "observables": []});
    assert_eq!(
        note(law(
            "symmetry_commutation",
            "commutes(mirror_swop",
            &symmetry
        )),
        "claim: column 21: expected `)`, found the end"
    );
    let local = json!({"trigger_symbol": ".", "neighbor_pattern": ">.<", "result_symbol": "X"});
    let config = Config::default().extensions(vec!["local_transition".into()]);
    let harness = Harness::new(KineticGrid, config).unwrap();
    let verdict = harness.evaluate(&read(law("local_transition", "a gap fills", &local)));
    assert_eq!(verdict.reason_code, Some(UnknownReason::AmbiguousClaim));
    assert_eq!(
        harness
            .evaluate(&read(law("local_transition", " ", &local)))
            .status,
        Status::Pass
    );
}

#[test]
fn p1_beside_a_tree_the_text_is_a_comment() {
    let r = |time: Value| json!({"obs": "r", "t": time});
    let tree = json!({"op": "==", "lhs": r(json!({"var": "t"})), "rhs": r(json!({"const": 0}))});
    let verdict = decide(law(
        "invariant",
        "right movers stay",
        &json!({"claim_ast": tree}),
    ));
    assert_eq!(verdict.status, Status::Pass);
}

#[test]
fn p1_none_of_forty_typing_errors_is_decided() {
    let laws = Law::read_all(&fixture("typing_errors.json"), Extensions::default()).unwrap();
    assert_eq!(laws.len(), 40);
    let harness = harness();
    for law in laws {
        let verdict = harness.evaluate(&law.unwrap());
        assert_eq!(
            verdict.status,
            Status::Unknown,
            "{}: {:?}",
            verdict.law_id,
            verdict.notes
        );
        assert!(matches!(
            verdict.reason_code,
            Some(UnknownReason::AmbiguousClaim | UnknownReason::MissingObservable)
        ));
    }
}

#[test]
fn p7_a_tree_without_an_arrow_is_triggered_by_every_case() {
    let r = |time: Value| json!({"obs": "r", "t": time});
    let equal = |time: Value| json!({"op": "==", "lhs": r(time), "rhs": r(json!({"const": 0}))});
    let next = json!({"t_plus_1": true});
    let now = json!({"var": "t"});
    for (template, time) in [
        ("implication_step", &next),
        ("implication_state", &now),
        ("eventually", &now),
    ] {
        let plain = law(template, "", &json!({"claim_ast": equal(time.clone())}));
        let verdict = decide(plain.clone());
        assert_eq!(verdict.status, Status::Pass, "{template}: {verdict:?}");
        assert!(verdict.power.triggers > 0, "{template}");
        assert_eq!(
            json!(read(plain.clone()).normal())["claim_ast"],
            json!(read(law("bound", "", &json!({"claim_ast": equal(time.clone())}))).normal())["claim_ast"]
        );
        // False ones are refuted as with an antecedent that always holds.
        let mut wrong = plain;
        wrong["observables"][0]["expr"] = json!("count('X') + 1");
        let always = json!({"op": "==", "lhs": {"const": 0}, "rhs": {"const": 0}});
        let mut arrow = wrong.clone();
        arrow["claim_ast"] = json!({"op": "=>", "lhs": always, "rhs": wrong["claim_ast"]});
        let (wrong, arrow) = (decide(wrong), decide(arrow));
        let start = |verdict: &Verdict| {
            let package = verdict.counterexample.as_ref();
            package.map(|package| (package.initial_state.clone(), package.t_fail))
        };
        assert_eq!(wrong.status, arrow.status, "{template}");
        assert_eq!(start(&wrong), start(&arrow), "{template}");
    }
    // In a text the arrow must be written.
    let text = note(law("implication_state", "r(t) == r(0)", &json!({})));
    assert!(text.contains("expected `P -> Q`"), "{text}");
}

#[test]
fn p12_a_claim_that_other_fields_state_may_be_absent() {
    let without = |template: &str, more: &Value| {
        let mut law = law(template, "", more);
        law.as_object_mut().unwrap().remove("claim");
        law
    };
    let tree = json!({"op": "<=", "lhs": {"obs": "r", "t": {"var": "t"}}, "rhs": {"const": 3}});
    for (template, fields, claim) in [
        ("invariant", json!({}), "r(t) == r(0)"),
        ("monotone", json!({"direction": "<="}), "r(t+1) <= r(t)"),
        (
            "bound",
            json!({"bound_op": "<=", "bound_value": 3}),
            "r(t) <= 3",
        ),
        (
            "symmetry_commutation",
            json!({"transform": "shift_1"}),
            "commutes(shift_1)",
        ),
        ("implication_state", json!({"claim_ast": tree}), ""),
        (
            "local_transition",
            json!({"trigger_symbol": ".", "result_symbol": "."}),
            "",
        ),
    ] {
        let absent = read(without(template, &fields));
        assert_eq!(absent.claim(), "");
        assert_eq!(
            absent.fingerprint(),
            read(law(template, claim, &fields)).fingerprint(),
            "{template}"
        );
    }
    for (template, fields) in [
        ("monotone", json!({})),
        ("bound", json!({"bound_op": "<="})),
        ("implication_step", json!({})),
        ("symmetry_commutation", json!({})),
    ] {
        let error = Law::from_value(without(template, &fields), "$", Extensions::default());
        assert_eq!(
            error.unwrap_err().to_string(),
            "$.claim: is missing, expected a string",
            "{template}"
        );
    }
}

#[test]
fn p32_messages_say_what_was_meant() {
    let tree = |tree: Value| json!({"claim_ast": tree});
    let r = json!({"obs": "r", "t": {"var": "t"}});
    assert_eq!(
        note(law(
            "bound",
            "",
            &tree(
                json!({"op": "not", "arg": {"op": "and", "lhs": {"op": "<", "lhs": r, "rhs": {"const": 1}}, "rhs": r}})
            )
        )),
        "claim_ast.arg.rhs: expected something that is true or false, found a number"
    );
    assert_eq!(
        note(law(
            "bound",
            "",
            &tree(json!({"op": "<", "lhs": r, "rhs": {"obs": "r", "t": {"const": 99}}}))
        )),
        "claim_ast: names a step after T = 8"
    );
    let observable = |expr: &str| {
        let verdict = decide(law(
            "invariant",
            "",
            &json!({"observables": [{"name": "r", "expr": expr}]}),
        ));
        assert_eq!(verdict.status, Status::Unknown);
        verdict.notes.join("\n")
    };
    for (expr, expected) in [
        ("count('T')", "symbol T is not in kinetic_grid_v1 (. > < X)"),
        (
            "count(X)",
            "observables[0].expr: column 7: symbols are quoted: count('X')",
        ),
        (
            "cuont('X')",
            "observable `cuont` is not known; did you mean `count`?",
        ),
        (
            "grid_lenght",
            "observable `grid_lenght` is not known; did you mean `grid_length`?",
        ),
        ("momentum", "observable `momentum` is not known"),
    ] {
        assert_eq!(observable(expr), expected, "{expr}");
    }
    assert_eq!(
        note(law("bound", "r(t) =< 3", &json!({}))),
        "claim: column 6: `=<` is not an operator; did you mean `<=`?"
    );
    let quotes = json!({"observables": [{"name": "r", "expr": "count(‘>’) + count(“X”)"}]});
    assert_eq!(
        read(law("invariant", "", &quotes)).fingerprint(),
        read(law("invariant", "", &json!({}))).fingerprint()
    );
    for claim in [
        "commutes(mirror_swap)",
        "commutes('mirror_swap')",
        "commutes(transform='mirror_swap')",
    ] {
        let verdict = decide(law("symmetry_commutation", claim, &json!({})));
        assert_eq!(verdict.status, Status::Pass, "{claim}");
    }
    let verdict = decide(law(
        "symmetry_commutation",
        "commutes(miror_swap)",
        &json!({}),
    ));
    assert_eq!(
        verdict.notes,
        ["transform `miror_swap` is not known; did you mean `mirror_swap`?"]
    );
    let mut renamed = law("invariant", "", &json!({}));
    let fields = renamed.as_object_mut().unwrap();
    let id = fields.remove("law_id").unwrap();
    fields.insert("id".into(), id);
    let error = Law::from_value(renamed, "$", Extensions::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("$.id: unknown key `id`; did you mean `law_id`?"),
        "{error}"
    );
}
