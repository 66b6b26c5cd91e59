//! Random laws of all templates, in universes of 2 to 4 symbols, against brute force.
//!
//! `PROPTEST_CASES=4000` asks for as many as the acceptance does.

use popper_harness::decide::Harness;
use popper_harness::universe::Tabulated;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::fuzz::cases;
use crate::hunt::{contradiction, hasty};
use crate::oracle::Universe;
use crate::random_law::{Rng, random_law};

const SYMBOLS: [char; 4] = ['.', '>', '<', 'X'];

/// A random rule over the first `k` symbols.
fn universe(k: usize, rng: &mut Rng) -> Value {
    let symbols = &SYMBOLS[..k];
    let mut table = Map::new();
    for &left in symbols {
        for &middle in symbols {
            for &right in symbols {
                let window: String = [left, middle, right].iter().collect();
                table.insert(window, json!(rng.pick(symbols)));
            }
        }
    }
    let map = |image: &dyn Fn(usize) -> usize| -> Value {
        let pairs = (0..k).map(|index| (symbols[index].to_string(), json!(symbols[image(index)])));
        Value::Object(pairs.collect())
    };
    let (keep, swap) = (map(&|index| index), map(&|index| (k - index) % k));
    json!({
        "id": format!("brute_{k}"), "symbols": symbols, "radius": 1, "rule": {"table": table},
        "initial_forbidden": if rng.percent(40) { vec![symbols[k - 1]] } else { vec![] },
        "transforms": [
            {"name": "mirror_swap", "reverse": true, "map": swap},
            {"name": "mirror_only", "reverse": true, "map": keep},
            {"name": "swap_only", "reverse": false, "map": swap},
        ],
    })
}

/// An expression with the symbols in its quotes taken from the first `k`.
fn recast(expr: &str, k: usize) -> String {
    let expr = expr
        .replace("incoming_collisions", "count('X')")
        .replace("transition_indicator", "count('X')");
    let mut quoted = false;
    expr.chars()
        .map(|c| {
            quoted ^= c == '\'';
            let place = SYMBOLS.iter().position(|&symbol| symbol == c);
            place
                .filter(|_| quoted)
                .map_or(c, |place| SYMBOLS[place % k])
        })
        .collect()
}

fn law(seed: u64, k: usize, rng: &mut Rng) -> Value {
    let mut law = random_law(seed);
    for observable in law["observables"].as_array_mut().unwrap() {
        observable["expr"] = recast(observable["expr"].as_str().unwrap(), k).into();
    }
    for condition in law["preconditions"].as_array_mut().unwrap() {
        for side in ["lhs", "rhs"] {
            if let Some(expr) = condition[side].as_str() {
                condition[side] = recast(expr, k).into();
            }
        }
    }
    // A name that is built in stands for itself no longer.
    if seed % 8 == 7
        || law["observables"]
            .to_string()
            .contains("\"incoming_collisions\"")
    {
        local(&law, k, rng)
    } else {
        law
    }
}

fn local(like: &Value, k: usize, rng: &mut Rng) -> Value {
    let trigger = rng.pick(&SYMBOLS[..k]);
    let mut law = json!({
        "law_id": like["law_id"], "template": "local_transition", "quantifiers": {"T": like["quantifiers"]["T"]},
        "claim": "", "forbidden": "another symbol",
        "trigger_symbol": trigger, "result_symbol": rng.pick(&SYMBOLS[..k]),
        "result_op": rng.pick(&["==", "!=", "!="]),
    });
    if rng.percent(60) {
        let pattern: String = [rng.pick(&SYMBOLS[..k]), trigger, rng.pick(&SYMBOLS[..k])]
            .iter()
            .collect();
        law["neighbor_pattern"] = pattern.into();
    }
    if rng.percent(30) {
        law["required_parity"] = rng.below(2).into();
    }
    law
}

#[test]
fn laws_of_every_template_against_brute_force() {
    let wrong: Vec<String> = (0..cases(400))
        .into_par_iter()
        .filter_map(|seed| {
            let mut rng = Rng::new(seed ^ 0x5eed);
            let k = 2 + (seed / 8 % 3) as usize;
            let definition = universe(k, &mut rng);
            let law = law(500_000 + seed, k, &mut rng);
            let table = Tabulated::from_json(&definition.to_string()).unwrap();
            let config = hasty().exhaustive_n(7).minimal_n(7).ladder(vec![8, 13]);
            let harness = Harness::new(table, config).unwrap();
            let universe = Universe::table(&definition).unwrap();
            contradiction(&law, &harness, &universe)
                .map(|what| format!("seed {seed}: {what}\n{law}\n{definition}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} contradictions\n{}",
        wrong.len(),
        wrong[..wrong.len().min(4)].join("\n\n")
    );
}
