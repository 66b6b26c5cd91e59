//! The starts of an exhausted ring: each class once, by its least state.

use popper_harness::bitslice::{InitialStates, StartClasses};
use popper_harness::decide::{Config, Harness};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::{Alphabet, Shift, State, Symbol, Tabulated, Transform};
use serde_json::{Value, json};

use crate::fixtures::fixture;
use crate::random_law::Rng;

/// Lists the starts with the number of classes of rotations that each stands for.
fn listed(n: usize, k: usize, classes: StartClasses<'_>) -> Option<Vec<(State, u64)>> {
    let symbols: Vec<Symbol> = (0..k as Symbol).collect();
    let starts = InitialStates::new(n, &symbols, k, classes)?;
    let mut states = Vec::new();
    for chunk in 0..starts.chunks() {
        starts.visit(chunk, |batch, weight| {
            states.extend(batch.live.iter().map(|lane| (batch.get(lane), weight)));
            true
        });
    }
    Some(states)
}

/// Compares a state with each rotation of another one: whether it is the least, and whether some rotation equals it.
fn compared(state: &State, other: &State) -> (bool, bool) {
    let n = state.len();
    let turned = |k: usize| (0..n).map(move |cell| other[(cell + k) % n]);
    let least = (0..n).all(|k| state.iter().copied().le(turned(k)));
    (least, (0..n).any(|k| state.iter().copied().eq(turned(k))))
}

/// Counts the states that equal their image, by the cycles of its cells.
fn fixed(n: usize, k: usize, image: impl Fn(usize) -> (usize, Vec<usize>)) -> u64 {
    let mut seen = vec![false; n];
    let mut states = 1;
    for first in 0..n {
        let (mut cell, mut letters) = (first, (0..k).collect::<Vec<_>>());
        if seen[first] {
            continue;
        }
        while !seen[cell] {
            seen[cell] = true;
            let (next, map) = image(cell);
            letters = letters.into_iter().map(|letter| map[letter]).collect();
            cell = next;
        }
        states *= (0..k).filter(|&letter| letters[letter] == letter).count() as u64;
    }
    states
}

/// Counts the classes under rotations, by Burnside's formula; with a transform, those under both.
fn burnside(n: usize, k: usize, transform: Option<(&[usize], bool)>) -> u64 {
    let identity: Vec<usize> = (0..k).collect();
    let turned = (0..n).map(|by| fixed(n, k, |cell| ((cell + by) % n, identity.clone())));
    let sum: u64 = turned.sum();
    let Some((map, reverse)) = transform else {
        return sum / n as u64;
    };
    let place = |cell: usize, by: usize| {
        let from = if reverse { n - 1 - cell } else { cell };
        (from + by) % n
    };
    let images = (0..n).map(|by| fixed(n, k, |cell| (place(cell, by), map.to_vec())));
    (sum + images.sum::<u64>()) / (2 * n as u64)
}

#[test]
fn each_class_of_rotations_once_by_its_least_state() {
    for k in 1..=4 {
        for n in 1..=12 {
            let states = listed(n, k, StartClasses::Rotations).unwrap();
            assert!(states.is_sorted_by(|a, b| a.0 < b.0), "k = {k}, n = {n}");
            assert!(
                states
                    .iter()
                    .all(|(state, weight)| compared(state, state).0 && *weight == 1)
            );
            assert_eq!(
                states.len() as u64,
                burnside(n, k, None),
                "k = {k}, n = {n}"
            );
        }
    }
}

#[test]
fn each_class_under_a_transform_once_by_its_least_state() {
    for k in 2..=4 {
        let alphabet = Alphabet::new(".abc".chars().take(k)).unwrap();
        let (a, b) = (
            alphabet.char(k as Symbol - 2),
            alphabet.char(k as Symbol - 1),
        );
        for (reverse, swap) in [(true, false), (false, true), (true, true)] {
            let pairs = [(a, b), (b, a)].into_iter().filter(|_| swap);
            let transform = Transform::new("image", reverse, pairs, &alphabet).unwrap();
            let mut map: Vec<usize> = (0..k).collect();
            if swap {
                map.swap(k - 2, k - 1);
            }
            for n in 1..=12 {
                let what = format!("k = {k}, n = {n}, {transform:?}");
                let states = listed(n, k, StartClasses::RotationsAnd(&transform)).unwrap();
                for (state, weight) in &states {
                    let (least, equal) = compared(state, &transform.apply(state));
                    assert!(least && compared(state, state).0, "{what}: {state:?}");
                    assert_eq!(*weight, if equal { 1 } else { 2 }, "{what}: {state:?}");
                }
                let mut different: Vec<&State> = states.iter().map(|(state, _)| state).collect();
                different.sort_unstable();
                different.dedup();
                assert_eq!(different.len(), states.len(), "{what}");
                let classes = burnside(n, k, Some((&map, reverse)));
                assert_eq!(states.len() as u64, classes, "{what}");
                let weights: u64 = states.iter().map(|(_, weight)| weight).sum();
                assert_eq!(weights, burnside(n, k, None), "{what}");
            }
        }
    }
}

#[test]
fn a_rotation_of_a_start_is_no_other_start() {
    let states = listed(9, 3, StartClasses::Rotations).unwrap();
    let starts: std::collections::BTreeSet<State> =
        states.into_iter().map(|(state, _)| state).collect();
    for state in &starts {
        let others = (1..9)
            .map(|k| Shift::apply(k, state))
            .filter(|turned| turned != state);
        assert!(others.into_iter().all(|turned| !starts.contains(&turned)));
    }
}

/// A table over `.abc` that commutes with the exchange of a and b, which alone may start.
fn exchanged(seed: u64, reverse: bool) -> Value {
    const SYMBOLS: [char; 4] = ['.', 'a', 'b', 'c'];
    let other = |cell: char| match cell {
        'a' => 'b',
        'b' => 'a',
        cell => cell,
    };
    let mut rng = Rng::new(seed);
    let mut table = serde_json::Map::new();
    for code in 0..64 {
        let window = [code / 16, code / 4 % 4, code % 4].map(|symbol| SYMBOLS[symbol]);
        let mut image = window.map(other);
        if reverse {
            image.reverse();
        }
        let [window, image]: [String; 2] = [window, image].map(|cells| cells.iter().collect());
        if !table.contains_key(&window) {
            let next = rng.pick(if window == image {
                &['.', 'c']
            } else {
                &SYMBOLS
            });
            table.insert(image, json!(other(next)));
            table.insert(window, json!(next));
        }
    }
    json!({
        "id": "exchanged", "symbols": ".abc", "radius": 1, "rule": {"table": table},
        "initial_forbidden": ".c", "incoming": "c",
        "transforms": [{"name": "exchange", "reverse": reverse, "map": {"a": "b", "b": "a"}}],
    })
}

/// The parts of a verdict that pairs must not change: the answer, the counterexample, the exhausted rings, and with `counts`
/// all that is counted. The generators of samples use the transforms of a universe, so their counts say nothing here.
fn kept(verdict: &Value, counts: bool) -> Value {
    let power = &verdict["power"];
    let rings = power["rings"].as_array().unwrap().iter();
    let rings: Vec<&Value> = rings
        .filter(|ring| counts || ring["exhausted"] == true)
        .collect();
    let counted = [
        "attempted",
        "used",
        "distinct",
        "triggers",
        "densities",
        "wrap_coverage",
        "collision_coverage",
        "mutation",
    ];
    let example = ["initial_state", "t_fail", "minimized", "minimal", "witness"];
    json!({
        "answer": [verdict["status"], verdict["reason_code"], verdict["notes"]],
        "evidence": [verdict["evidence"]["strength"], verdict["evidence"]["scope"], verdict["evidence"]["complete"]],
        "counterexample": example.map(|key| &verdict["counterexample"][key]),
        "rings": rings,
        "exhausted": [power["families"]["exhaustive"], power["trigger_families"]["exhaustive"]],
        "counts": counts.then(|| counted.map(|key| &power[key])),
    })
}

/// Beyond 14 cells one start of a pair is run; a universe that names no transform has no pairs.
#[test]
fn a_verdict_is_the_same_with_pairs_and_without() {
    let grid: Value = serde_json::from_str(&fixture("universes/kinetic_grid.json")).unwrap();
    let mut universes = vec![(grid, ('>', '<', 'X'))];
    universes.extend(
        [(1, false), (2, true), (3, false), (4, true)]
            .map(|(seed, reverse)| (exchanged(seed, reverse), ('a', 'b', 'c'))),
    );
    let config = || {
        let config = Config::default().exhaustive_n(16).minimal_n(16);
        config.ladder(vec![1]).generations(2)
    };
    let (mut counted, mut answers) = (0, std::collections::BTreeMap::new());
    for (universe, (a, b, c)) in universes {
        let mut plain = universe.clone();
        plain["transforms"] = json!([]);
        let [with, without_pairs] = [&universe, &plain].map(|universe| {
            let universe = Tabulated::from_json(&universe.to_string()).unwrap();
            Harness::new(universe, config()).unwrap()
        });
        let both = format!("count('{a}') + count('{b}')");
        let product = format!("count('{a}') * count('{b}')");
        let last = format!("count('{c}')");
        let incoming = "incoming_collisions".to_owned();
        for (template, expr, claim, least) in [
            ("bound", &both, "f(t) <= f(0)", 1),
            ("bound", &both, "f(t) + t >= f(0)", 15),
            ("bound", &last, "f(t) <= 7", 1),
            ("bound", &last, "f(t) <= 6", 15),
            ("monotone", &last, "f(t+1) <= f(t)", 15),
            ("invariant", &product, "f(t) == f(0)", 15),
            ("implication_step", &incoming, "f(t) > 0 -> f(t+1) < 5", 1),
            ("implication_step", &incoming, "f(t) > 4 -> f(t+1) < 5", 15),
            ("implication_state", &last, "f(t) > 5 -> f(t) < f(0) + 7", 1),
            ("eventually", &last, "f(t) > 3 -> f(t) < 3", 1),
            ("eventually", &last, "f(t) > 6 -> f(t) < 3", 15),
            ("bound", &count(a), "f(t) <= 8", 15),
        ] {
            let mut law = json!({
                "law_id": claim, "template": template, "quantifiers": {"T": 6, "H": 3}, "claim": claim,
                "observables": [{"name": "f", "expr": expr}], "forbidden": "the opposite",
                "preconditions": [
                    {"lhs": "grid_length", "op": ">=", "rhs": least},
                    {"lhs": both, "op": ">=", "rhs": "1"},
                ],
            });
            if template == "monotone" {
                law["direction"] = json!("<=");
            }
            let law = Law::from_value(law, "$", Extensions::ALL).unwrap();
            let [pairs, single] =
                [&with, &without_pairs].map(|harness| json!(harness.evaluate(&law)));
            let largest = |verdict: &Value| {
                let rings = verdict["power"]["rings"].as_array().unwrap();
                rings.iter().all(|ring| ring["n"].as_u64() <= Some(16))
            };
            let counts = largest(&pairs) && largest(&single);
            counted += usize::from(counts);
            assert_eq!(
                kept(&pairs, counts),
                kept(&single, counts),
                "{claim} of {expr}"
            );
            let size = pairs["counterexample"]["initial_state"]
                .as_str()
                .map_or(0, str::len);
            *answers
                .entry((pairs["status"].to_string(), size > 14))
                .or_insert(0) += 1;
        }
    }
    assert!(counted >= 10, "{counted}");
    assert!(
        answers[&("\"FAIL\"".into(), true)] >= 10 && answers[&("\"PASS\"".into(), false)] >= 3,
        "{answers:?}"
    );
}

fn count(symbol: char) -> String {
    format!("count('{symbol}')")
}
