//! A law's normal form and fingerprint: one for every way of writing a law, another for every other law.

use std::collections::BTreeMap;

use popper_harness::law::{Extensions, Law};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::fixture;
use crate::oracle::{Case, Oracle, Universe};
use crate::random_law::{Rng, random_law, random_universe};
use crate::rewrite::{as_text, mutated, renamed, reordered, swapped, with_spaces};

const LAWS: u64 = 800;

fn read(value: &Value) -> Option<Law> {
    Law::from_value(value.clone(), "$", Extensions::default()).ok()
}

fn fixtures() -> Vec<Value> {
    let file = |name| -> Vec<Value> {
        serde_json::from_str(&fixture(&format!("laws/{name}.json"))).unwrap()
    };
    ["true", "false", "unknown"]
        .into_iter()
        .flat_map(file)
        .collect()
}

/// Random laws and those of the fixtures.
fn laws() -> Vec<Value> {
    (0..LAWS).map(random_law).chain(fixtures()).collect()
}

/// The normal form given what only a stored law lacks.
fn as_law(normal: &Value) -> Value {
    let mut law = normal.clone();
    law["law_id"] = "read back".into();
    law["forbidden"] = "the opposite".into();
    law
}

/// The grid, and one other universe with the same symbols that may start with any of them.
fn universes() -> [Universe; 2] {
    let other = (0..1000)
        .map(random_universe)
        .find(|definition| definition["initial_forbidden"] == json!([]))
        .unwrap();
    [Universe::kinetic(), Universe::table(&other).unwrap()]
}

/// Everything that can be seen of a law on small rings, or why it has no truth value.
fn behaviour(law: &Value, universe: &Universe) -> Result<Vec<(String, Case)>, &'static str> {
    let mut law = law.clone();
    // A ring of up to 6 cells of the grid repeats within 6 steps, so nothing is lost, and T is kept apart by the fingerprint.
    if law["quantifiers"]["T"].as_u64() > Some(30) {
        law["quantifiers"]["T"] = json!(30);
    }
    // The oracle knows the ring's length in a tree by declaration only; a tree makes other observables irrelevant.
    let tree = law["claim_ast"].is_object();
    if let Some(declared) = law["observables"].as_array_mut()
        && tree
        && declared.iter().all(|of| of["name"] != "grid_length")
    {
        declared.push(json!({"name": "grid_length", "expr": "grid_length"}));
    }
    let oracle =
        Oracle::new(&law, universe).map_err(|refusal| refusal.reason_code().unwrap_or("schema"))?;
    let largest = if universe.starts(1).len() == 3 { 6 } else { 5 };
    Ok((1..=largest).flat_map(|n| oracle.cases(n)).collect())
}

fn report(mut wrong: Vec<String>) {
    let count = wrong.len();
    wrong.sort_by_key(String::len);
    wrong.truncate(4);
    assert!(wrong.is_empty(), "{count} laws\n{}", wrong.join("\n\n"));
}

#[test]
fn the_normal_form_is_a_law_and_its_own_normal_form() {
    let wrong = laws()
        .par_iter()
        .filter_map(|value| {
            let law = read(value).unwrap();
            let normal = json!(law.normal());
            let back = match Law::from_value(as_law(&normal), "$", Extensions::default()) {
                Ok(back) => back,
                Err(error) => return Some(format!("{error}\n{value}\n{normal}")),
            };
            let again = json!(back.normal());
            let same = again == normal && back.fingerprint() == law.fingerprint();
            (!same).then(|| format!("{value}\n{normal}\n{again}"))
        })
        .collect();
    report(wrong);
}

#[test]
fn the_normal_form_says_what_the_law_says() {
    let universes = universes();
    let wrong = laws()
        .par_iter()
        .filter_map(|value| {
            let law = read(value).unwrap();
            law.resolve().ok()?;
            let normal = as_law(&json!(law.normal()));
            let differs = universes
                .iter()
                .any(|universe| behaviour(value, universe) != behaviour(&normal, universe));
            differs.then(|| format!("{value}\n{normal}"))
        })
        .collect();
    report(wrong);
}

#[test]
fn a_law_written_another_way_keeps_its_fingerprint() {
    type Rewriting = fn(&Value, &mut Rng) -> Value;
    let rewritings: [(&str, Rewriting); 5] = [
        ("spaces", with_spaces),
        ("names", renamed),
        ("order", reordered),
        ("operands", swapped),
        ("all", |law, rng| {
            let law = reordered(&swapped(law, rng), rng);
            with_spaces(&renamed(&law, rng), rng)
        }),
    ];
    let wrong = laws()
        .par_iter()
        .enumerate()
        .flat_map_iter(|(seed, value)| {
            let mut rng = Rng::new(seed as u64);
            let law = read(value).unwrap();
            // What cannot be read has no other way of writing it.
            let readable = law.resolve().is_ok();
            let mut wrong = Vec::new();
            for (what, rewrite) in rewritings.iter().filter(|_| readable) {
                let other = rewrite(value, &mut rng);
                let text = as_text(&other, &mut rng);
                match Law::from_json(&text, Extensions::default()) {
                    Ok(other) if other.fingerprint() == law.fingerprint() => {}
                    Ok(read) => wrong.push(format!(
                        "{what}\n{value}\n{other}\n{}\n{}",
                        json!(law.normal()),
                        json!(read.normal())
                    )),
                    Err(error) => wrong.push(format!("{what}: {error}\n{value}\n{other}")),
                }
            }
            wrong
        })
        .collect();
    report(wrong);
}

#[test]
fn laws_with_one_fingerprint_behave_alike() {
    // Each law with a few that are nearly it, so that pairs are close, and a random half of each written another way.
    let pool: Vec<(String, Value)> = laws()
        .par_iter()
        .enumerate()
        .flat_map_iter(|(seed, value)| {
            let mut rng = Rng::new(!(seed as u64));
            let mut family = vec![value.clone()];
            for _ in 0..6 {
                let from = &family[rng.below(family.len())];
                let law = mutated(from, &mut rng);
                family.push(if rng.percent(50) {
                    swapped(&law, &mut rng)
                } else {
                    law
                });
            }
            let named = |law: Value| read(&law).map(|read| (read.fingerprint(), law));
            family.into_iter().filter_map(named).collect::<Vec<_>>()
        })
        .collect();
    let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (fingerprint, law) in pool {
        let group = groups.entry(fingerprint).or_default();
        // Members that differ in more than their name.
        let key = |law: &Value| {
            let mut law = law.clone();
            law["law_id"] = Value::Null;
            law
        };
        if group.iter().all(|other| key(other) != key(&law)) {
            group.push(law);
        }
    }
    let shared: Vec<Vec<Value>> = groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect();
    assert!(
        shared.len() > 300,
        "only {} fingerprints are shared",
        shared.len()
    );
    let universes = universes();
    let wrong = shared
        .par_iter()
        .filter_map(|group| {
            for universe in &universes {
                let first = behaviour(&group[0], universe);
                for other in &group[1..] {
                    if behaviour(other, universe) != first {
                        return Some(format!("{}\n{other}", group[0]));
                    }
                }
            }
            None
        })
        .collect();
    report(wrong);
}

/// The changes that give a law another meaning.
fn field_mutations(law: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let mut change = |what: &str, edit: &dyn Fn(&mut Value)| {
        let mut other = law.clone();
        edit(&mut other);
        if other != *law {
            all.push((what.into(), other));
        }
    };
    let t = law["quantifiers"]["T"].as_u64().unwrap();
    for other in [t + 1, t - 1].into_iter().filter(|&t| t > 0) {
        change("T", &|law| law["quantifiers"]["T"] = json!(other));
    }
    if law["template"] == "eventually" {
        change("H", &|law| {
            law["quantifiers"]["H"] = json!(law["quantifiers"]["H"].as_u64().unwrap() + 1);
        });
    }
    for direction in ["<=", ">="] {
        if law["direction"].is_string() {
            change("direction", &|law| law["direction"] = direction.into());
        }
    }
    if law["bound_value"].is_i64() {
        change("bound_value", &|law| {
            law["bound_value"] = json!(law["bound_value"].as_i64().unwrap() + 1);
        });
    }
    for op in ["==", "!=", "<", "<=", ">", ">="] {
        if law["bound_op"].is_string() {
            change("bound_op", &|law| law["bound_op"] = op.into());
        }
    }
    if law["template"] == "symmetry_commutation" {
        for transform in [
            "mirror_swap",
            "mirror_only",
            "swap_only",
            "shift_k",
            "shift_3",
        ] {
            change("transform", &|law| {
                law["transform"] = transform.into();
                law["claim"] = format!("commutes({transform})").into();
            });
        }
    }
    change("precondition added", &|law| {
        if law["preconditions"].is_null() {
            law["preconditions"] = json!([]);
        }
        let added = json!({"lhs": "grid_length", "op": "!=", "rhs": 4});
        law["preconditions"].as_array_mut().unwrap().push(added);
    });
    for at in 0..law["preconditions"].as_array().map_or(0, Vec::len) {
        change("precondition dropped", &|law| {
            law["preconditions"].as_array_mut().unwrap().remove(at);
        });
        change("precondition's operator", &|law| {
            let op = &mut law["preconditions"][at]["op"];
            *op = if *op == "==" {
                "!=".into()
            } else {
                "==".into()
            };
        });
    }
    change("missing capability", &|law| {
        law["capability_requirements"]["missing_generators"] = json!(["annealing"]);
    });
    all
}

#[test]
fn every_field_with_a_meaning_is_part_of_the_fingerprint() {
    for law in fixtures() {
        let fingerprint = read(&law).unwrap().fingerprint();
        let mutations = field_mutations(&law);
        assert!(mutations.len() >= 4);
        for (what, other) in mutations {
            let other_law = read(&other).unwrap();
            assert_ne!(
                other_law.fingerprint(),
                fingerprint,
                "{what}\n{law}\n{other}"
            );
        }
    }
}

#[test]
fn a_changed_word_changes_the_fingerprint_or_nothing() {
    let universes = universes();
    let wrong = fixtures()
        .par_iter()
        .enumerate()
        .flat_map_iter(|(seed, law)| {
            let mut rng = Rng::new(7_000 + seed as u64);
            let fingerprint = read(law).unwrap().fingerprint();
            let mutants: Vec<Value> = (0..150).map(|_| mutated(law, &mut rng)).collect();
            let same = mutants.into_iter().filter(|other| {
                other != law && read(other).is_some_and(|other| other.fingerprint() == fingerprint)
            });
            same.filter(|other| {
                universes
                    .iter()
                    .any(|universe| behaviour(law, universe) != behaviour(other, universe))
            })
            .map(|other| format!("{law}\n{other}"))
            .collect::<Vec<_>>()
        })
        .collect();
    report(wrong);
}

fn bound(expr: &str, claim: &str) -> Value {
    json!({
        "law_id": "bound", "template": "bound", "quantifiers": {"T": 4}, "claim": claim, "forbidden": "the opposite",
        "observables": [{"name": "x", "expr": expr}, {"name": "n", "expr": "grid_length"}],
    })
}

#[test]
fn a_ring_length_at_the_next_step_keeps_t_below_the_horizon() {
    let [next, now] =
        ["t < 4 or n(t+1) < x(t)", "t < 4 or n(t) < x(t)"].map(|claim| bound("count('X')", claim));
    let grid = Universe::kinetic();
    assert_ne!(behaviour(&next, &grid), behaviour(&now, &grid));
    let [next, now] = [next, now].map(|law| read(&law).unwrap());
    assert_ne!(next.fingerprint(), now.fingerprint());
    let verdict = crate::fixtures::harness().evaluate(&next);
    assert_ne!(
        verdict.status,
        popper_harness::decide::Status::Fail,
        "{:?}",
        verdict.counterexample
    );
}

#[test]
fn the_order_of_factors_matters_where_it_decides_overflow() {
    let exprs = [
        "(count('>') - count('>')) * 9223372036854775807 * 2",
        "(count('>') - count('>')) * (9223372036854775807 * 2)",
    ];
    let [value, none] = exprs.map(|expr| bound(expr, "x(t) == 0"));
    let grid = Universe::kinetic();
    assert_ne!(behaviour(&value, &grid), behaviour(&none, &grid));
    let [value, none] = [value, none].map(|law| read(&law).unwrap());
    assert_ne!(value.fingerprint(), none.fingerprint());
}

#[test]
fn the_order_of_alternatives_matters_where_one_overflows() {
    let expr = "(count('>') + 1) * 9223372036854775807 * 2";
    let [skipped, asked] =
        ["n(t) > 0 or x(t) > 0", "x(t) > 0 or n(t) > 0"].map(|claim| bound(expr, claim));
    let grid = Universe::kinetic();
    assert_ne!(behaviour(&skipped, &grid), behaviour(&asked, &grid));
    let [skipped, asked] = [skipped, asked].map(|law| read(&law).unwrap());
    assert_ne!(skipped.fingerprint(), asked.fingerprint());
}

#[track_caller]
fn reads_back(law: &Value) {
    let law = read(law).unwrap();
    assert!(law.resolve().is_ok());
    let normal = json!(law.normal());
    let back = Law::from_value(as_law(&normal), "$", Extensions::default()).unwrap();
    assert_eq!(json!(back.normal()), normal);
}

#[test]
fn the_normal_form_of_a_long_disjunction_is_a_law() {
    let any: Vec<String> = (0..80).map(|k| format!("x(t) == {k}")).collect();
    reads_back(&bound("count('X')", &any.join(" or ")));
}

#[test]
fn the_normal_form_of_a_long_difference_is_a_law() {
    reads_back(&bound(&["count('>')"; 80].join(" - "), "x(t) < 9"));
}
