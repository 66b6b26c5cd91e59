//! The normal form of every law that is accepted is accepted too, with the same fingerprint.
//!
//! `POPPER_TEXTS` sets the number of generated texts; the acceptance asks for 100,000.

use std::fmt::Write as _;

use popper_harness::law::{Extensions, Law};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::random_law::Rng;

fn read(law: &Value) -> Result<Law, String> {
    Law::from_value(law.clone(), "$", Extensions::default()).map_err(|error| error.to_string())
}

fn reads_back(law: &Law) -> Result<(), String> {
    let normal = json!(law.normal());
    let mut form = normal.clone();
    form["law_id"] = "read back".into();
    form["forbidden"] = "the opposite".into();
    let back = read(&form).map_err(|error| format!("{error}: {normal}"))?;
    if back.fingerprint() == law.fingerprint() {
        Ok(())
    } else {
        Err(format!("{normal}\n{}", json!(back.normal())))
    }
}

fn law(claim: &str, observables: &Value) -> Value {
    json!({
        "law_id": "a", "template": "bound", "quantifiers": {"T": 9}, "observables": observables,
        "claim": claim, "forbidden": "the opposite",
    })
}

fn one(claim: &str) -> Value {
    law(claim, &json!([{"name": "a", "expr": "count('X')"}]))
}

#[test]
fn p13_pairs_of_not_and_of_minus_signs_collapse() {
    let plain = read(&one("a(t) > 9")).unwrap().fingerprint();
    for claim in [
        format!("{}(a(t) > 9)", "not ".repeat(70)),
        format!("{}a(t) > 9", "-".repeat(70)),
        format!("{}(a(t) > 9 and 1 == 1) or 1 == 2", "not ".repeat(4)),
    ] {
        let law = read(&one(&claim)).unwrap();
        reads_back(&law).unwrap();
        if claim.ends_with('9') || claim.ends_with("9)") {
            assert_eq!(law.fingerprint(), plain, "{claim}");
        }
    }
    let odd = read(&one(&format!("{}(a(t) > 9)", "not ".repeat(71)))).unwrap();
    assert_eq!(
        odd.fingerprint(),
        read(&one("not a(t) > 9")).unwrap().fingerprint()
    );
}

#[test]
fn p13_one_limit_of_depth_for_text_and_tree_on_the_normal_form() {
    // A difference nests to the left in a claim: 63 of them below one comparison are 64 levels.
    for (terms, fits) in [(63, true), (64, false)] {
        let text = format!("a(t){} > 9", " - a(0)".repeat(terms - 1));
        let mut tree = json!({"obs": "a", "t": {"var": "t"}});
        for _ in 1..terms {
            tree = json!({"op": "-", "lhs": tree, "rhs": {"obs": "a", "t": {"const": 0}}});
        }
        let mut by_tree = one("");
        by_tree["claim_ast"] = json!({"op": ">", "lhs": tree, "rhs": {"const": 9}});
        for (law, field) in [(one(&text), "claim"), (by_tree, "claim_ast")] {
            match read(&law) {
                Ok(law) => {
                    assert!(fits, "{terms}");
                    reads_back(&law).unwrap();
                }
                Err(error) => {
                    assert!(!fits, "{terms}: {error}");
                    assert_eq!(error, format!("$.{field}: nests deeper than 64"));
                }
            }
        }
    }
    // Not only claims nest.
    let deep = format!("{}grid_length{}", "(1 % ".repeat(80), ")".repeat(80));
    let error = read(&law("a(t) > 1", &json!([{"name": "a", "expr": deep}]))).unwrap_err();
    assert_eq!(error, "$.observables[0].expr: nests deeper than 64");
}

#[test]
fn p13_names_that_expand_beyond_a_text_are_refused() {
    let mut observables = vec![json!({"name": "x0", "expr": "count('X') + grid_length"})];
    for i in 1..9 {
        let before = i - 1;
        observables
            .push(json!({"name": format!("x{i}"), "expr": format!("x{before} * 2 + x{before}")}));
    }
    let error = read(&law("x8(t) > 1", &observables.into())).unwrap_err();
    assert!(
        error.contains("bytes in normal form, the limit is 4096"),
        "{error}"
    );
}

// ---- texts of the grammar -----------------------------------------------------------------------

fn number(rng: &mut Rng, depth: usize, names: &[String], out: &mut String) {
    match rng.below(if depth == 0 { 4 } else { 14 }) {
        0 => {
            let _ = write!(out, "{}", rng.below(40));
        }
        1 => out.push_str("9223372036854775807"),
        2 | 3 => {
            let name = &names[rng.below(names.len())];
            out.push_str(name);
        }
        4..=5 => {
            for _ in 0..rng.between(1, 9) {
                out.push('-');
            }
            number(rng, depth - 1, names, out);
        }
        6 => {
            out.push_str("-(");
            number(rng, depth - 1, names, out);
            out.push(')');
        }
        kind => {
            let parens = rng.percent(60);
            if parens {
                out.push('(');
            }
            number(rng, depth - 1, names, out);
            let links = if rng.percent(2) {
                90
            } else {
                rng.between(1, 4)
            };
            for _ in 0..links {
                out.push_str(["+", " - ", "*", " % ", "/"][(kind + rng.below(3)) % 5]);
                number(rng, if links > 9 { 0 } else { depth - 1 }, names, out);
            }
            if parens {
                out.push(')');
            }
        }
    }
}

fn claim(rng: &mut Rng, depth: usize, names: &[String], out: &mut String) {
    match rng.below(if depth == 0 { 2 } else { 9 }) {
        0 | 1 => {
            number(rng, depth.min(2), names, out);
            out.push_str(rng.pick(&[" < ", " <= ", ">", ">=", "==", " != "]));
            number(rng, depth.min(2), names, out);
        }
        2 | 3 => {
            let nots = if rng.percent(5) {
                rng.between(60, 90)
            } else {
                rng.between(1, 5)
            };
            for _ in 0..nots {
                out.push_str(rng.pick(&["not ", "!"]));
            }
            out.push('(');
            claim(rng, depth - 1, names, out);
            out.push(')');
        }
        _ => {
            out.push('(');
            claim(rng, depth - 1, names, out);
            for _ in 0..rng.between(1, 4) {
                out.push_str(rng.pick(&[" and ", " or ", " && ", " -> ", " and ", " or "]));
                claim(rng, depth - 1, names, out);
            }
            out.push(')');
        }
    }
}

fn generated(seed: u64) -> Value {
    let mut rng = Rng::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let mut observables = Vec::new();
    let mut named = vec![
        "grid_length".to_string(),
        "count('X')".into(),
        "max_gap(\".\")".into(),
        "unknown".into(),
    ];
    for i in 0..rng.between(1, 4) {
        let mut expr = String::new();
        let depth = rng.below(5);
        number(&mut rng, depth, &named, &mut expr);
        named.push(format!("n{i}"));
        observables.push(json!({"name": format!("n{i}"), "expr": expr}));
    }
    let times = ["(t)", "(t+1)", "(0)", "(3)"];
    let mut words: Vec<String> = named[4..]
        .iter()
        .flat_map(|name| times.map(|time| format!("{name}{time}")))
        .collect();
    words.extend(["t".into(), "grid_length".into(), "stranger(t)".into()]);
    let mut text = String::new();
    let depth = rng.below(5);
    claim(&mut rng, depth, &words, &mut text);
    let template = rng.pick(&[
        "bound",
        "implication_step",
        "implication_state",
        "monotone",
        "eventually",
    ]);
    let mut law = law(&text, &observables.into());
    law["template"] = template.into();
    law["quantifiers"]["H"] = json!(2);
    law["preconditions"] =
        json!([{"lhs": named[rng.below(named.len())], "op": "<=", "rhs": "n0 - 1"}]);
    law
}

#[expect(
    clippy::disallowed_methods,
    reason = "the number of texts is the runner's to choose"
)]
fn texts() -> u64 {
    let asked = std::env::var("POPPER_TEXTS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(4_000)
}

#[test]
fn p13_the_normal_form_of_every_accepted_text_is_accepted_with_its_fingerprint() {
    let outcomes: Vec<Option<Result<(), String>>> = (0..texts())
        .into_par_iter()
        .map(|seed| {
            let value = generated(seed);
            let law = read(&value).ok()?;
            Some(reads_back(&law).map_err(|error| format!("{seed}: {value}\n{error}")))
        })
        .collect();
    let refused = outcomes.iter().filter(|outcome| outcome.is_none()).count();
    let mut wrong: Vec<_> = outcomes
        .iter()
        .flatten()
        .filter_map(|outcome| outcome.as_ref().err())
        .collect();
    wrong.sort_by_key(|error| error.len());
    assert!(wrong.is_empty(), "{} laws\n{}", wrong.len(), wrong[0]);
    // Both happen: texts beyond a limit, and texts within.
    assert!(refused > 0 && refused * 2 < outcomes.len(), "{refused}");
}
