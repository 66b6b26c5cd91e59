//! Tests that the power figures of a verdict are consistent.

use popper_harness::decide::{CaseFamily, Config, Harness, Power, Status, Strength, UnknownReason};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::KineticGrid;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::{all_laws, harness};
use crate::random_law::random_law;

/// The families that the stages other than sampling report, in addition to the generators'.
const STAGES: [&str; 2] = ["exhaustive", "proposed_tests"];

/// Shares are written with six decimals.
const ROUNDED: f64 = 1e-6;

fn law(template: &str, claim: &str, more: &Value) -> Law {
    let mut value = json!({
        "law_id": "power", "template": template, "quantifiers": {"T": 12, "H": 2}, "claim": claim, "forbidden": "the opposite",
        "observables": [{"name": "x", "expr": "count('X')"}, {"name": "r", "expr": "count('>') + count('X')"}],
    });
    for (key, field) in more.as_object().unwrap() {
        value[key] = field.clone();
    }
    Law::from_value(value, "$", Extensions::default()).unwrap()
}

/// Returns the first inconsistency of the power figures.
fn odd(power: &Power, refuted: bool) -> Option<String> {
    let share = |value: f64| (0.0..=1.0).contains(&value);
    let sum =
        |of: fn(&popper_harness::decide::RingPower) -> u64| power.rings.iter().map(of).sum::<u64>();
    let checks = [
        ("used <= attempted", power.used <= power.attempted),
        ("distinct <= used", power.distinct <= power.used),
        (
            "attempted by ring",
            sum(|ring| ring.attempted) == power.attempted,
        ),
        ("used by ring", sum(|ring| ring.used) == power.used),
        (
            "distinct by ring",
            sum(|ring| ring.distinct) == power.distinct,
        ),
        ("rings ascend", power.rings.is_sorted_by(|a, b| a.n < b.n)),
        ("collision coverage", share(power.collision_coverage)),
        ("wrap coverage", share(power.wrap_coverage)),
        (
            "refuted mutants",
            power.mutation.refuted_at_least <= power.mutation.total.min(1),
        ),
        (
            "triggers by family",
            power.trigger_families.values().sum::<u64>() == power.triggers,
        ),
        (
            "a family triggers with cases only",
            power.trigger_families.iter().all(|(family, &count)| {
                count == 0 || power.families.get(family).is_some_and(|&used| used > 0)
            }),
        ),
        (
            "used by family",
            power.families.values().sum::<u64>() == power.used,
        ),
        (
            "used by density",
            power.densities.iter().sum::<u64>() == power.used,
        ),
    ];
    let wrong = checks
        .iter()
        .find(|(_, holds)| !holds)
        .map(|(what, _)| (*what).to_owned());
    wrong.or_else(|| {
        power.rings.iter().find_map(|ring| {
            let counts = ring.distinct <= ring.used && ring.used <= ring.attempted;
            let bound = match ring.violation_rate_upper_95 {
                // Of no case nothing is known, and a ring that refutes has no bound on what it holds.
                None => ring.exhausted || ring.distinct == 0 || refuted,
                Some(bound) => {
                    !ring.exhausted
                        && (bound - (3.0 / ring.distinct as f64).min(1.0)).abs() < ROUNDED
                }
            };
            (!counts || !bound).then(|| format!("ring {ring:?}"))
        })
    })
}

#[test]
fn the_figures_add_up() {
    let harness = harness();
    let random = (50_000..50_060)
        .map(|seed| Law::from_value(random_law(seed), "$", Extensions::default()).unwrap());
    let laws: Vec<Law> = all_laws().into_iter().chain(random).collect();
    let wrong: Vec<String> = laws
        .par_iter()
        .filter_map(|law| {
            let verdict = harness.evaluate(law);
            let refuted = verdict.status == Status::Fail;
            odd(&verdict.power, refuted)
                .map(|what| format!("{}: {what}\n{:?}", law.source(), verdict.power))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{}\n{}",
        wrong.len(),
        wrong[..wrong.len().min(3)].join("\n\n")
    );
}

#[test]
fn every_family_takes_part() {
    // Nothing refutes it, it has an antecedent, and a precondition of a fixed count.
    let verdict = harness().evaluate(&law(
        "implication_state",
        "x(t) > 0 -> 2*x(t) <= grid_length",
        &json!({"preconditions": [{"lhs": "count('>')", "op": "==", "rhs": 3}]}),
    ));
    assert_eq!(
        verdict.status,
        Status::Pass,
        "{:?} {:?}",
        verdict.reason_code,
        verdict.notes
    );
    let families = &verdict.power.families;
    for family in [
        "random_density_sweep",
        "constrained_pair_interactions",
        "edge_wrapping_cases",
        "symmetry_metamorphic_suite",
        "pathological_cases",
        "extreme_states",
        "precondition_directed",
        "antecedent_directed",
        "exhaustive",
    ] {
        assert!(
            families.contains_key(family),
            "{family} is missing: {families:?}"
        );
        let known = STAGES.contains(&family) || CaseFamily::by_name(family).is_some();
        assert!(known, "{family}");
    }
    assert!(
        verdict.power.triggers >= 20 && verdict.power.trigger_families.len() >= 2,
        "{:?}",
        verdict.power
    );
    assert!(verdict.power.collision_coverage > 0.0 && verdict.power.wrap_coverage > 0.0);
    assert_eq!(verdict.power.mutation.refuted_at_least, 1);
}

#[test]
fn the_bound_on_violations_is_three_over_distinct() {
    // No proof knows squares, so every stage runs.
    let claim = "4*x(t)*x(t) <= n(t)*n(t)";
    let observables =
        json!([{"name": "x", "expr": "count('X')"}, {"name": "n", "expr": "grid_length"}]);
    let verdict = harness().evaluate(&law("bound", claim, &json!({"observables": observables})));
    assert_eq!(verdict.status, Status::Pass);
    let mut sampled = 0;
    for ring in &verdict.power.rings {
        assert_eq!(ring.exhausted, ring.n <= 10, "{ring:?}");
        assert_eq!(
            ring.violation_rate_upper_95.is_none(),
            ring.exhausted,
            "{ring:?}"
        );
        if let Some(bound) = ring.violation_rate_upper_95 {
            sampled += 1;
            assert!(
                ring.distinct > 3 && (bound - 3.0 / ring.distinct as f64).abs() < ROUNDED,
                "{ring:?}"
            );
        }
    }
    assert_eq!(sampled, 26, "11 to 33, 64, 128, 256");
}

#[test]
fn what_never_triggers_is_vacuous_and_what_tells_nothing_apart_is_weak() {
    let vacuous = harness().evaluate(&law(
        "implication_state",
        "2*x(t) > grid_length -> r(t) == 0",
        &json!({}),
    ));
    assert_eq!(vacuous.reason_code, Some(UnknownReason::VacuousPass));
    assert_eq!(
        (
            vacuous.power.triggers,
            vacuous.power.trigger_families.values().sum::<u64>()
        ),
        (0, 0)
    );
    assert!(vacuous.power.used > 0);

    // The antecedent holds in a handful of starts only: four right-movers and four left-movers that all meet on eight cells.
    let rare = law(
        "implication_step",
        "x(t) > 3 -> x(t+1) <= 3",
        &json!({"preconditions": [{"lhs": "grid_length", "op": "==", "rhs": 9}], "quantifiers": {"T": 1}}),
    );
    let config = Config::default()
        .exhaustive_n(0)
        .minimal_n(0)
        .min_triggers(1_000_000);
    let weak = Harness::new(KineticGrid, config).unwrap().evaluate(&rare);
    assert_eq!(weak.status, Status::Unknown, "{:?}", weak.power);
    let reasons = [
        Some(UnknownReason::InconclusiveLowPower),
        Some(UnknownReason::VacuousPass),
    ];
    assert!(
        reasons.contains(&weak.reason_code),
        "{:?}",
        weak.reason_code
    );
    let often = law(
        "implication_state",
        "x(t) > 0 -> 2*x(t) <= grid_length",
        &json!({}),
    );
    let config = Config::default().min_triggers(u64::MAX);
    let weak = Harness::new(KineticGrid, config).unwrap().evaluate(&often);
    assert_eq!(weak.reason_code, Some(UnknownReason::InconclusiveLowPower));
    assert!(weak.power.triggers > 0);

    // Too few starts, by config and by the law itself.
    let config = Config::default().min_cases(u64::MAX);
    let few = Harness::new(KineticGrid, config).unwrap().evaluate(&law(
        "bound",
        "2*x(t) <= grid_length",
        &json!({}),
    ));
    assert_eq!(few.status, Status::Unknown);
    let none = json!({"preconditions": [{"lhs": "count('>')", "op": ">", "rhs": "grid_length"}]});
    let none = harness().evaluate(&law("bound", "x(t) <= 1", &none));
    assert_eq!(none.reason_code, Some(UnknownReason::UnmetPreconditions));
    assert_eq!((none.power.used, none.power.distinct), (0, 0));
}

#[test]
fn proposed_tests_only_ever_add() {
    let harness = harness();
    let tests = [
        json!([{"family": "random_density_sweep", "params": {"grid_lengths": [8], "cases": 300}}]),
        json!([{"family": "extreme_states", "params": {"grid_lengths": [40, 41], "cases": 1_000_000}}]),
        json!([{"family": "no_such_family", "params": {"grid_lengths": [12], "cases": 1}}]),
        json!([{"family": "pathological_cases", "params": {"grid_lengths": [100], "cases": 0}}]),
    ];
    for (template, claim) in [
        ("bound", "2*x(t) <= grid_length"),
        ("invariant", "r(t) == r(0)"),
        ("implication_state", "x(t) > 0 -> 2*x(t) <= grid_length"),
        ("bound", "x(t) <= 5"),
        ("bound", "x(t) <= 12"),
    ] {
        let without = harness.evaluate(&law(template, claim, &json!({})));
        for tests in &tests {
            let with = harness.evaluate(&law(template, claim, &json!({"proposed_tests": tests})));
            let what = format!("{claim} {tests}");
            assert_eq!(with.status, without.status, "{what}");
            assert_eq!(with.law_fingerprint, without.law_fingerprint, "{what}");
            if with.status == Status::Fail {
                let cells = |verdict: &popper_harness::decide::Verdict| {
                    verdict.counterexample.as_ref().unwrap().config.n
                };
                assert!(cells(&with) <= cells(&without), "{what}");
                continue;
            }
            assert!(with.power.attempted >= without.power.attempted, "{what}");
            for (family, used) in &without.power.families {
                assert!(with.power.families[family] >= *used, "{what}: {family}");
            }
            for ring in &without.power.rings {
                let same = with
                    .power
                    .rings
                    .iter()
                    .find(|other| other.n == ring.n)
                    .unwrap();
                assert!(
                    same.attempted >= ring.attempted && same.distinct >= ring.distinct,
                    "{what}: {ring:?}"
                );
            }
            // And never more than the config grants.
            let added = with
                .power
                .families
                .get("proposed_tests")
                .copied()
                .unwrap_or(0);
            assert!(
                added <= harness.config().proposed_cases,
                "{what}: {added} more"
            );
            assert!(
                with.evidence.strength >= Some(Strength::Exhaustive),
                "{what}"
            );
        }
    }
}
