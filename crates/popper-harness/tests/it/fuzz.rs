//! Whatever is thrown at the readers, they answer: no panic, no overflow of the stack, and every refusal says why.
//!
//! `PROPTEST_CASES` sets the number of cases of each target; without it they are few. `just fuzz` runs each for about ten minutes.
//! Case i is always the same input, and a failure names it.

mod input;

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use popper_harness::counterexample::rederive;
use popper_harness::decide::{Config, Harness, Status, Verdict};
use popper_harness::law::measure;
use popper_harness::law::{Extensions, Law, Program};
use popper_harness::universe::{KineticGrid, Tabulated, Universe};
use rayon::prelude::*;
use serde_json::{Value, json};

use input::{CLAIM, EXPR, bend, broken_bytes, nested, ordered_soup, soup};

use crate::fixtures::fixture;
use crate::random_law::{Rng, random_law, random_universe};
use crate::rewrite::{as_text, mutated, mutated_text, shuffle, spaced, tokens};

#[expect(
    clippy::disallowed_methods,
    reason = "the number of cases is the runner's to choose"
)]
pub fn cases(default: u64) -> u64 {
    let asked = std::env::var("PROPTEST_CASES");
    asked
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Makes and checks that many inputs; a panic counts as an error, and the error names the input.
fn fuzz<I: Debug>(
    default: u64,
    make: impl Fn(&mut Rng) -> I + Sync,
    check: impl Fn(&I) -> Result<(), String> + Sync,
) {
    let failed = (0..cases(default)).into_par_iter().find_map_first(|case| {
        let input = make(&mut Rng::new(case.wrapping_mul(0x5851_f42d_4c95_7f2d)));
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&input)));
        let error = outcome.unwrap_or_else(|_| Err("it panics".into())).err()?;
        let shown: String = format!("{input:?}").chars().take(20_000).collect();
        Some(format!("case {case}: {error}\n{shown}"))
    });
    if let Some(failed) = failed {
        panic!("{failed}");
    }
}

/// A configuration that decides in a moment.
fn tiny() -> Config {
    Config::default()
        .exhaustive_n(3)
        .minimal_n(3)
        .max_t(40)
        .ladder(vec![1, 2, 5, 9])
        .generations(1)
        .proposed_cases(16)
        .extensions(vec!["local_transition".into()])
}

fn grid() -> Harness {
    Harness::new(KineticGrid, tiny()).unwrap()
}

fn table() -> Harness {
    let table = Tabulated::from_json(&random_universe(7).to_string()).unwrap();
    Harness::new(table, tiny()).unwrap()
}

fn fixture_laws() -> Vec<Value> {
    let file = |name| -> Vec<Value> {
        serde_json::from_str(&fixture(&format!("laws/{name}.json"))).unwrap()
    };
    ["true", "false", "unknown"]
        .into_iter()
        .flat_map(file)
        .collect()
}

/// A refusal says something.
fn says(error: &impl ToString) -> Result<(), String> {
    if error.to_string().trim().is_empty() {
        return Err("an error without a message".into());
    }
    Ok(())
}

fn reads(text: &str, harnesses: &[&Harness]) -> Result<(), String> {
    let all = match Law::read_all(text, Extensions::ALL) {
        Ok(all) => all,
        Err(error) => return says(&error),
    };
    for law in all {
        match law {
            Ok(law) => decides(&law, harnesses)?,
            Err(error) if error.problems.is_empty() => return Err("no problem is named".into()),
            Err(error) => {
                for problem in &error.problems {
                    says(&problem.message)?;
                    if !problem.path.starts_with('$') {
                        return Err(format!("the path {:?}", problem.path));
                    }
                }
            }
        }
    }
    Ok(())
}

fn decides(law: &Law, harnesses: &[&Harness]) -> Result<(), String> {
    if law.fingerprint().len() != 64 {
        return Err("a fingerprint that is none".into());
    }
    for harness in harnesses {
        if let Err(error) = Program::compile(law, harness.universe()) {
            says(&error)?;
        }
        let verdict = harness.evaluate(law);
        match (
            &verdict.status,
            &verdict.reason_code,
            &verdict.counterexample,
        ) {
            (Status::Pass, None, None) => {}
            (Status::Fail, None, Some(example)) => {
                rederive(example).map_err(|error| format!("no replay: {error}"))?;
            }
            (Status::Unknown, Some(_), None)
                if verdict.notes.iter().all(|note| !note.is_empty()) => {}
            _ => return Err(format!("an odd verdict: {verdict:?}")),
        }
        let text = serde_json::to_string(&verdict).map_err(|error| error.to_string())?;
        let back: Verdict =
            serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
        if back != verdict {
            return Err("the verdict does not survive its JSON".into());
        }
    }
    Ok(())
}

#[test]
fn law_parser() {
    let laws = fixture_laws();
    let texts: Vec<String> = laws.iter().map(Value::to_string).collect();
    let (grid, table) = (grid(), table());
    let make = |rng: &mut Rng| {
        let chosen = rng.below(laws.len());
        match rng.below(10) {
            0..=3 => broken_bytes(&texts[chosen], &texts[rng.below(texts.len())], rng),
            4..=6 => {
                let mut law = laws[chosen].clone();
                for _ in 0..rng.between(1, 2) {
                    bend(&mut law, rng);
                }
                as_text(&law, rng)
            }
            7 => {
                let depth = rng.pick(&[3, 60, 70, 130, 1000, 100_000]);
                nested(depth, rng)
            }
            8 => mutated(&laws[chosen], rng).to_string(),
            _ => {
                let seed = rng.next();
                mutated(&random_law(seed), rng).to_string()
            }
        }
    };
    fuzz(2500, make, |text| reads(text, &[&grid, &table]));
}

#[test]
fn claim_grammar() {
    let laws = fixture_laws();
    let (grid, table) = (grid(), table());
    let make = |rng: &mut Rng| {
        let mut law = laws[rng.below(laws.len())].clone();
        if rng.percent(70) {
            law = json!({
                "law_id": "soup", "quantifiers": {"T": rng.between(1, 5), "H": rng.below(3)}, "forbidden": "f",
                "template": rng.pick(&["invariant", "monotone", "bound", "implication_step", "implication_state", "eventually", "symmetry_commutation"]),
                "observables": [{"name": "x", "expr": "count('X')"}, {"name": "y", "expr": "count('>') % 2"}],
            });
            let arrow = rng.percent(50);
            let claim = match rng.below(3) {
                0 => soup(&CLAIM, 9, rng),
                _ if arrow => format!(
                    "{} -> {}",
                    ordered_soup(&CLAIM, 3, rng),
                    ordered_soup(&CLAIM, 3, rng)
                ),
                _ => ordered_soup(&CLAIM, 4, rng),
            };
            law["claim"] = claim.into();
        } else {
            let mut claim = law["claim"].as_str().unwrap().to_owned();
            for _ in 0..rng.between(1, 3) {
                claim = mutated_text(&claim, rng);
            }
            let mut words = tokens(&claim);
            if rng.percent(50) {
                let (at, other) = (rng.below(words.len() + 1), rng.pick(&CLAIM).to_owned());
                words.insert(at, other);
            }
            law["claim"] = spaced(&words, rng).into();
            law["claim_ast"] = Value::Null;
        }
        law
    };
    fuzz(2500, make, |value| {
        match Law::from_value(value.clone(), "$", Extensions::ALL) {
            Ok(law) => decides(&law, &[&grid, &table]),
            Err(error) => says(&error),
        }
    });
}

#[test]
fn observable_grammar() {
    let alphabet = KineticGrid.alphabet();
    let states = [
        "X",
        ">",
        "><",
        ".>X<.",
        "<<XX>>..X",
        "..................................................................>",
    ]
    .map(|text| alphabet.parse(text).unwrap());
    let make = |rng: &mut Rng| match rng.below(4) {
        0 => soup(&EXPR, 12, rng),
        1 | 2 => ordered_soup(&EXPR, 6, rng),
        _ => {
            let text = ordered_soup(&EXPR, 6, rng);
            broken_bytes(&text, "count_pattern('>X') % gap_pairs('X', 'X', 2)", rng)
        }
    };
    fuzz(20_000, make, |text| {
        for state in &states {
            let value = measure(text, state, &KineticGrid);
            if let Err(error) = &value {
                says(error)?;
            }
            if value != measure(text, state, &KineticGrid) {
                return Err("two values".into());
            }
        }
        Ok(())
    });
}

#[test]
fn universe_loader() {
    let names = [
        "kinetic_grid",
        "elementary_30",
        "elementary_90",
        "elementary_110",
        "elementary_184",
    ];
    let universes = names.map(|name| -> Value {
        serde_json::from_str(&fixture(&format!("universes/{name}.json"))).unwrap()
    });
    let laws = fixture_laws();
    let make = |rng: &mut Rng| {
        let mut universe = match rng.below(4) {
            0 => {
                let seed = rng.next();
                random_universe(seed)
            }
            _ => rng.pick(&universes.each_ref()).clone(),
        };
        let text = universe.to_string();
        match rng.below(4) {
            0 => broken_bytes(&text, &text, rng),
            1 => {
                universe["radius"] = json!(rng.below(4));
                universe["rule"] = json!({"patterns": [["?".repeat(rng.below(6)), "."]], "default": rng.pick(&[".", ">", "#", "0", ""])});
                if rng.percent(50) {
                    let symbols: String = ".>#0123456789".chars().take(rng.below(13)).collect();
                    universe["symbols"] = symbols.into();
                }
                if rng.percent(50) {
                    universe["transforms"] = json!([]);
                }
                bend(&mut universe, rng);
                universe.to_string()
            }
            // Another universe that can be read.
            2 => {
                if let Some(patterns) = universe["rule"]["patterns"].as_array_mut() {
                    let at = rng.below(patterns.len());
                    patterns.remove(at);
                }
                if let Some(table) = universe["rule"]["table"].as_object_mut() {
                    let mut images: Vec<Value> = table.values().cloned().collect();
                    shuffle(&mut images, rng);
                    table
                        .values_mut()
                        .zip(images)
                        .for_each(|(old, new)| *old = new);
                }
                if rng.percent(30) {
                    universe["initial_forbidden"] = json!([]);
                }
                as_text(&universe, rng)
            }
            _ => {
                bend(&mut universe, rng);
                as_text(&universe, rng)
            }
        }
    };
    let read = AtomicU64::new(0);
    fuzz(4000, make, |text| {
        let universe = match Tabulated::from_json(text) {
            Ok(universe) => universe,
            Err(error) => return says(&error),
        };
        let definition =
            serde_json::to_string(&universe.definition()).map_err(|error| error.to_string())?;
        let back =
            Tabulated::from_json(&definition).map_err(|error| format!("{error}: {definition}"))?;
        read.fetch_add(1, Ordering::Relaxed);
        if back.definition_hash() != universe.definition_hash() {
            return Err("another universe comes back".into());
        }
        let symbols = universe.alphabet().len();
        for n in 1..=6 {
            let state: Vec<_> = (0..n).map(|cell| (cell % symbols) as u8).collect();
            if universe
                .evolve(&state, 3)
                .iter()
                .any(|&cell| usize::from(cell) >= symbols)
            {
                return Err("a step leaves the alphabet".into());
            }
        }
        let law = laws[text.len() % laws.len()].clone();
        let law = Law::from_value(law, "$", Extensions::ALL).map_err(|error| error.to_string())?;
        let harness = Harness::new(universe, tiny()).map_err(|error| error.to_string())?;
        decides(&law, &[&harness])
    });
    let read = read.into_inner();
    assert!(read >= cases(4000) / 8, "only {read} could be read");
}
