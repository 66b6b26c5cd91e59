//! Single laws and what must come of them: tautologies, vacuity, errors, horizons, power, determinism.

mod kept;

use popper_harness::counterexample::rederive;
use popper_harness::decide::{Config, Harness, Status, Strength, Verdict};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::{KineticGrid, Tabulated};
use serde_json::{Value, json};

use crate::fixtures::{all_laws, fixture, harness};

/// A law from the parts that matter.
fn law(template: &str, observables: &[(&str, &str)], claim: &str, more: &Value) -> Law {
    let observables: Vec<Value> = observables
        .iter()
        .map(|(name, expr)| json!({"name": name, "expr": expr}))
        .collect();
    let mut value = json!({
        "law_id": "law", "template": template, "quantifiers": {"T": 20, "H": 1},
        "observables": observables, "claim": claim, "forbidden": "the opposite",
    });
    for (key, field) in more.as_object().unwrap() {
        value[key] = field.clone();
    }
    Law::from_value(value, "$", Extensions::ALL).unwrap()
}

fn decide(template: &str, observables: &[(&str, &str)], claim: &str) -> Verdict {
    harness().evaluate(&law(template, observables, claim, &json!({})))
}

/// `STATUS reason`, the shortest form of a verdict.
fn answer(verdict: &Verdict) -> String {
    let reason = verdict
        .reason_code
        .map(|reason| json!(reason).as_str().unwrap().to_owned());
    format!(
        "{} {}",
        json!(verdict.status).as_str().unwrap(),
        reason.unwrap_or_default()
    )
    .trim()
    .into()
}

const X: (&str, &str) = ("x", "count('X')");
const R: (&str, &str) = ("r", "count('>') + count('X')");

/// Template, observables, claim, and the shortest form of the verdict.
type Small = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
    &'static str,
);

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn small_laws() {
    const Z: (&str, &str) = ("z", "count('>') % (count('<') - count('<'))");
    const INC: (&str, &str) = ("inc", "incoming_collisions");
    const OVER: (&str, &str) = ("over", "2*count('X') - grid_length");
    let cases: &[Small] = &[
        // Windows are never cut, and what must happen within one step does.
        ("eventually", &[INC, X], "inc(t) > 0 -> x(t) > 0", "PASS"),
        ("eventually", &[X], "x(t) > 0 -> x(t) > 1", "FAIL"),
        ("symmetry_commutation", &[], "commutes(shift_k)", "PASS"),
        ("symmetry_commutation", &[], "commutes(shift_-1)", "PASS"),
        ("symmetry_commutation", &[], "commutes(mirror_swap)", "PASS"),
        ("symmetry_commutation", &[], "commutes(mirror_only)", "FAIL"),
        (
            "symmetry_commutation",
            &[],
            "commutes(shift_0)",
            "UNKNOWN tautological_claim",
        ),
        (
            "symmetry_commutation",
            &[],
            "commutes(rotate_2d)",
            "UNKNOWN missing_transform",
        ),
        // Tautologies.
        ("bound", &[X], "x(t) >= 0", "UNKNOWN tautological_claim"),
        (
            "bound",
            &[X],
            "x(t) <= grid_length",
            "UNKNOWN tautological_claim",
        ),
        (
            "implication_state",
            &[X],
            "x(t) > 3 -> x(t) > 3",
            "UNKNOWN tautological_claim",
        ),
        (
            "invariant",
            &[("c", "7")],
            "c(t) == c(0)",
            "UNKNOWN tautological_claim",
        ),
        (
            "invariant",
            &[("n", "grid_length")],
            "n(t) == n(0)",
            "UNKNOWN tautological_claim",
        ),
        // Not tautologies, though the first looks like one on every small ring.
        ("bound", &[X], "x(t) <= 12", "FAIL"),
        ("bound", &[OVER], "over(t) <= 0", "PASS"),
        // Vacuous: no state has more collisions than half its cells.
        (
            "implication_state",
            &[OVER, X],
            "over(t) > 0 -> x(t) == 0",
            "UNKNOWN vacuous_pass",
        ),
        (
            "invariant",
            &[Z],
            "z(t) == z(0)",
            "UNKNOWN evaluation_error",
        ),
        (
            "invariant",
            &[("big", "count('>') * 9223372036854775807 * 3")],
            "big(t) == big(0)",
            "UNKNOWN evaluation_error",
        ),
        // An error that nothing asks for is none: the antecedent guards the divisor.
        (
            "implication_state",
            &[R, ("q", "6 % (count('>') + count('X') + 1)")],
            "r(t) > 0 -> q(t) >= 0",
            "UNKNOWN tautological_claim",
        ),
        // Text and template say different things.
        ("invariant", &[R], "r(t) <= r(0)", "UNKNOWN ambiguous_claim"),
        ("invariant", &[R], "", "PASS"),
        (
            "invariant",
            &[R],
            "the number of r never changes",
            "UNKNOWN ambiguous_claim",
        ),
        (
            "invariant",
            &[R, X],
            "the number of r never changes",
            "UNKNOWN ambiguous_claim",
        ),
        (
            "invariant",
            &[("e", "entropy")],
            "e(t) == e(0)",
            "UNKNOWN missing_observable",
        ),
        (
            "invariant",
            &[("e", "count('Z')")],
            "e(t) == e(0)",
            "UNKNOWN missing_observable",
        ),
        (
            "invariant",
            &[("e", "count('>'")],
            "e(t) == e(0)",
            "UNKNOWN ambiguous_claim",
        ),
        // A product and a remainder of conserved sums are conserved.
        (
            "invariant",
            &[(
                "p",
                "(count('>') + count('X')) * (count('<') + count('X')) % 5",
            )],
            "p(t) == p(0)",
            "PASS",
        ),
    ];
    for (template, observables, claim, expected) in cases {
        let verdict = decide(template, observables, claim);
        assert_eq!(
            answer(&verdict),
            *expected,
            "{template}: {claim}\n{:?}",
            verdict.notes
        );
    }
}

#[test]
fn twelve_collisions_need_twenty_seven_cells() {
    let verdict = decide("bound", &[X], "x(t) <= 12");
    // T = 20 is just enough: after 20 steps two blocks of 13 that left each other meet again.
    let example = verdict.counterexample.unwrap();
    assert_eq!(example.config.n, 27);
    assert!(!example.minimal, "nobody exhausted 26 cells");
    rederive(&example).unwrap();
}

#[test]
fn a_proposer_cannot_hide_large_rings() {
    let hidden =
        json!([{"family": "random_density_sweep", "params": {"grid_lengths": [8], "cases": 300}}]);
    let bound = law(
        "bound",
        &[X],
        "x(t) <= 4",
        &json!({"proposed_tests": hidden}),
    );
    assert_eq!(harness().evaluate(&bound).status, Status::Fail);
    // Even where nothing small is exhausted.
    let config = Config::default().exhaustive_n(0);
    assert_eq!(
        Harness::new(KineticGrid, config)
            .unwrap()
            .evaluate(&bound)
            .status,
        Status::Fail
    );
}

#[test]
fn preconditions_bound_what_is_claimed() {
    let at = |conditions: Value| {
        law(
            "bound",
            &[X],
            "x(t) <= 4",
            &json!({"preconditions": conditions}),
        )
    };
    let small = at(json!([{"lhs": "grid_length", "op": "<=", "rhs": 10}]));
    let verdict = harness().evaluate(&small);
    assert_eq!(
        (verdict.status, verdict.evidence.strength),
        (Status::Pass, Some(Strength::Exhaustive))
    );
    assert!(verdict.evidence.complete, "no admissible ring is larger");
    // Exactly nine movers on fifty cells: hardly any random start, but built without rejection.
    let rare = at(json!([
        {"lhs": "grid_length", "op": "==", "rhs": 50},
        {"lhs": "count('>')", "op": "==", "rhs": 5}, {"lhs": "count('<')", "op": "==", "rhs": 4},
    ]));
    let verdict = harness().evaluate(&rare);
    assert!(verdict.power.distinct >= 50, "{:?}", verdict.power);
    assert_eq!(verdict.status, Status::Pass, "{:?}", verdict.notes);
}

#[test]
fn a_long_horizon_is_exact_or_unknown() {
    let million = json!({"quantifiers": {"T": 1_000_000}});
    let verdict = harness().evaluate(&law("invariant", &[R], "r(t) == r(0)", &million));
    assert_eq!(answer(&verdict), "PASS");
    assert!(
        verdict.evidence.horizon.exact,
        "{:?}",
        verdict.evidence.horizon
    );
    // A claim that uses t as a number never repeats.
    let clock = json!({"quantifiers": {"T": 1_000_000}, "claim_ast": {
        "op": "<=", "lhs": {"obs": "r", "t": {"var": "t"}}, "rhs": {"op": "+", "lhs": {"var": "t"}, "rhs": {"obs": "n", "t": {"const": 0}}},
    }});
    let grows = law("bound", &[R, ("n", "grid_length")], "", &clock);
    assert_eq!(
        answer(&harness().evaluate(&grows)),
        "UNKNOWN tautological_claim"
    );
    let rule = Tabulated::from_json(&fixture("universes/elementary_184.json")).unwrap();
    let cars = law(
        "invariant",
        &[("c", "count('#')")],
        "c(t) == c(0)",
        &million,
    );
    let verdict = Harness::new(rule, Config::default())
        .unwrap()
        .evaluate(&cars);
    assert_eq!(
        answer(&verdict),
        "UNKNOWN resource_limit",
        "no period is known there"
    );
    assert!(
        verdict.notes.iter().any(|note| note.contains("1000000")),
        "{:?}",
        verdict.notes
    );
}

#[test]
fn local_transitions() {
    let local = |fields: Value| {
        let config = Config::default().extensions(vec!["local_transition".into()]);
        Harness::new(KineticGrid, config).unwrap().evaluate(&law(
            "local_transition",
            &[],
            "",
            &fields,
        ))
    };
    let right_meets_left =
        json!({"trigger_symbol": ".", "neighbor_pattern": ">.<", "result_symbol": "X"});
    let verdict = local(right_meets_left);
    assert_eq!(
        (verdict.status, verdict.evidence.strength),
        (Status::Pass, Some(Strength::Proved))
    );
    let stays = local(json!({"trigger_symbol": ".", "result_symbol": "."}));
    assert_eq!(stays.status, Status::Fail);
    let off = json!({"law_id": "l", "template": "local_transition", "quantifiers": {"T": 1}, "claim": "", "forbidden": "f",
        "trigger_symbol": ".", "result_symbol": "."});
    let error = Law::from_value(off, "$", Extensions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("local_transition") && error.contains("off"),
        "{error}"
    );
}

#[test]
fn threads_and_repetition_change_nothing() {
    let laws = all_laws();
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let harness = harness();
        pool.install(|| {
            laws.iter()
                .map(|law| serde_json::to_string(&harness.evaluate(law)).unwrap())
                .collect::<Vec<_>>()
        })
    };
    let once = bytes(1);
    for threads in [1, 2, 8] {
        assert_eq!(bytes(threads), once, "with {threads} threads");
    }
}

#[test]
fn a_verdict_survives_its_json() {
    let harness = harness();
    for law in all_laws() {
        let verdict = harness.evaluate(&law);
        let text = serde_json::to_string(&verdict).unwrap();
        assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
    }
}

type Change = fn(&mut popper_harness::counterexample::Counterexample);

#[test]
fn a_tampered_counterexample_does_not_replay() {
    let example = decide("invariant", &[X], "x(t) == x(0)")
        .counterexample
        .unwrap();
    rederive(&example).unwrap();
    let changes: [(&str, Change); 6] = [
        ("t_fail", |c| c.t_fail += 1),
        ("state", |c| c.initial_state = "...".into()),
        ("forbidden", |c| c.initial_state = "X..".into()),
        ("empty", |c| c.initial_state = String::new()),
        ("witness", |c| c.witness.left = "9".into()),
        ("excerpt", |c| c.trajectory_excerpt[0].state = "<<<".into()),
    ];
    for (name, change) in changes {
        let mut tampered = example.clone();
        change(&mut tampered);
        assert!(rederive(&tampered).is_err(), "{name}");
    }
}
