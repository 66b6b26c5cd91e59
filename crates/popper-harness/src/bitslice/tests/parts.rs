//! Tests of bit slices, batches, enumeration and the smallest counterexample.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::super::*;
use super::{TestStream, batches, compile, drawn, law, universes};
use crate::law::evaluate::Case;
use crate::universe::{KineticGrid, State, Symbol, Universe as _};

#[test]
fn masks() {
    for k in [0, 1, 63, 64, 65, 200, 511, 512, 600] {
        let lanes = BitSlice::first(k);
        assert_eq!(
            lanes.iter().collect::<Vec<_>>(),
            (0..k.min(LANES)).collect::<Vec<_>>()
        );
        assert_eq!(lanes.count(), k.min(LANES) as u64);
    }
    assert_eq!(
        BitSlice::range(3, 130).iter().collect::<Vec<_>>(),
        (3..130).collect::<Vec<_>>()
    );
    assert_eq!(BitSlice::one(77).lowest(), Some(77));
    let mut rows: [u64; 64] = std::array::from_fn(|row| (row as u64 + 3).wrapping_pow(9));
    let before = rows;
    word::transpose(&mut rows);
    for (r, row) in rows.iter().enumerate() {
        for (c, column) in before.iter().enumerate() {
            assert_eq!(row >> c & 1, column >> r & 1);
        }
    }
}

#[test]
fn batches_hold_states_and_tell_them_apart() {
    let mut draw = TestStream::new(6);
    for n in [1, 5, 32, 40, 300, 4096] {
        let mut batch = Batch::new(n, 4);
        let states: Vec<State> = (0..LANES).map(|_| draw.state(n, 2)).collect();
        for (lane, state) in states.iter().enumerate() {
            batch.set(lane, state);
        }
        assert_eq!(Batch::of(&states, n, 4), batch);
        let keys = batch.keys();
        let mut by_state: BTreeMap<&State, u64> = BTreeMap::new();
        for (lane, state) in states.iter().enumerate() {
            assert_eq!(batch.get(lane), *state);
            assert_eq!(*by_state.entry(state).or_insert(keys[lane]), keys[lane]);
        }
        let distinct: BTreeSet<u64> = keys.iter().copied().collect();
        assert_eq!(distinct.len(), by_state.len());
    }
}

#[test]
fn a_batch_of_a_few_states_holds_them_alone() {
    let mut draw = TestStream::new(7);
    for (n, symbols, lanes) in [
        (3, 1, 5),
        (64, 2, 63),
        (65, 3, 64),
        (130, 8, 201),
        (9, 4, 0),
    ] {
        let states: Vec<State> = (0..lanes).map(|_| draw.state(n, symbols)).collect();
        let batch = Batch::of(&states, n, symbols);
        assert_eq!(batch.live, BitSlice::first(lanes));
        for (lane, state) in states.iter().enumerate() {
            assert_eq!(batch.get(lane), *state);
        }
    }
}

fn all_states(n: usize, symbols: &[Symbol]) -> Vec<State> {
    let k = symbols.len();
    (0..k.pow(n as u32))
        .map(|code| {
            (0..n)
                .rev()
                .map(|p| symbols[code / k.pow(p as u32) % k])
                .collect()
        })
        .collect()
}

fn listed(starts: &InitialStates) -> Vec<State> {
    let mut states = Vec::new();
    for chunk in 0..starts.chunks() {
        starts.visit(chunk, |batch, weight| {
            let lanes: Vec<usize> = batch.live.iter().collect();
            assert_eq!(lanes, (0..lanes.len()).collect::<Vec<_>>());
            assert_eq!(weight, 1);
            states.extend(lanes.into_iter().map(|lane| batch.get(lane)));
            true
        });
    }
    states
}

#[test]
fn starts_are_all_states_in_order() {
    let alphabets: [(&[Symbol], usize, usize); 6] = [
        (&[0], 4, 30),
        (&[0, 1], 2, 12),
        (&[0, 1, 2], 4, 9),
        (&[1, 3], 5, 11),
        (&[0, 1, 2, 3], 4, 6),
        (&[0, 1, 2, 3, 4, 5, 6, 7], 8, 4),
    ];
    for (symbols, total, most) in alphabets {
        for n in 1..=most {
            let starts = |classes| InitialStates::new(n, symbols, total, classes).unwrap();
            let all = all_states(n, symbols);
            assert_eq!(listed(&starts(StartClasses::Each)), all);
            let least = |state: &State| {
                let turned = (0..n).map(|k| [&state[k..], &state[..k]].concat());
                turned.min().unwrap() == state.to_vec()
            };
            let expected: Vec<State> = all.into_iter().filter(least).collect();
            assert_eq!(listed(&starts(StartClasses::Rotations)), expected);
        }
    }
    assert!(InitialStates::new(40, &[0, 1, 2], 4, StartClasses::Each).is_none());
}

#[test]
fn the_smallest_violation_is_the_least_of_all() {
    let mut draw = TestStream::new(7);
    let mut scratch = Scratch::default();
    let mut found = 0;
    for universe in universes() {
        let circuit = Circuit::new(universe.rule());
        for _ in 0..10 {
            let (law, horizon) = law(&mut draw, &universe);
            let program = compile(&law, &universe);
            for batch in batches(&universe, &mut draw, 1) {
                let plan =
                    BitProgram::new(&program, &circuit, &universe, batch.n, horizon).unwrap();
                let outcome = plan.run(&batch, &mut scratch);
                let expected = (0..LANES)
                    .filter(|&lane| batch.live.get(lane))
                    .filter_map(|lane| {
                        let state = batch.get(lane);
                        let t_fail = Case::new(&program, &universe, &state, horizon).violation?;
                        let movers = state.iter().filter(|&&cell| cell != 0).count() as u64;
                        Some(MinimalViolation {
                            movers,
                            t_fail,
                            state,
                            lane,
                        })
                    })
                    .min();
                assert_eq!(smallest(&batch, &outcome), expected);
                found += u32::from(expected.is_some());
            }
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn coverage_is_that_of_the_states_asked() {
    let mut draw = TestStream::new(8);
    let mut scratch = Scratch::default();
    let mut all = universes();
    all.push(drawn("01234567", 2, 12));
    for universe in all {
        let circuit = Circuit::new(universe.rule());
        let radius = universe.radius();
        let symbol = universe.alphabet().char(1);
        for (template, claim, extra) in [
            ("bound", "f(t) <= 3", 0),
            ("monotone", "f(t+1) <= f(t)", 0),
            ("eventually", "f(t) > 1 -> f(t) <= 1", 2),
            ("symmetry_commutation", "", 0),
        ] {
            let mut value = json!({
                "template": template, "quantifiers": {"T": 3, "H": 2}, "claim": claim,
                "observables": [{"name": "f", "expr": format!("count('{symbol}')")}],
            });
            match template {
                "monotone" => value["direction"] = json!("<="),
                "symmetry_commutation" => value["transform"] = json!("shift_1"),
                _ => {}
            }
            let program = compile(&value, &universe);
            let horizon = Horizon { t: 3, window: 2 };
            for batch in batches(&universe, &mut draw, 1) {
                let plan =
                    BitProgram::new(&program, &circuit, &universe, batch.n, horizon).unwrap();
                let outcome = plan.run(&batch, &mut scratch);
                for lane in batch.live.iter() {
                    let mut state = batch.get(lane);
                    let (mut unusual, mut wrapped) = (false, false);
                    for _ in 0..=3 + extra {
                        let n = state.len();
                        unusual |= state.iter().any(|&cell| !universe.may_start(cell));
                        wrapped |= (0..n).any(|i| state[i] != 0 && (i < radius || i + radius >= n));
                        state = universe.step(&state);
                    }
                    let seen = (outcome.unusual.get(lane), outcome.wrapped.get(lane));
                    assert_eq!(seen, (unusual, wrapped), "{claim} {}", universe.id());
                }
                let bare = plan.without_coverage().run(&batch, &mut scratch);
                assert!(!bare.unusual.any() && !bare.wrapped.any());
                assert_eq!(bare.first, outcome.first);
            }
        }
    }
}

#[test]
fn what_the_engine_cannot_say_it_declines() {
    let circuit = Circuit::new(KineticGrid.rule());
    let horizon = Horizon { t: 3, window: 0 };
    for (expr, claim) in [
        ("count('>')", "f(t) / 2 % 3 <= 3"),
        ("count('>') * 9223372036854775807", "f(t) >= 0"),
        ("count('>') * 281474976710656", "f(t) >= 0"),
    ] {
        let law = json!({"template": "bound", "quantifiers": {"T": 3}, "claim": claim,
            "observables": [{"name": "f", "expr": expr}]});
        let program = compile(&law, &KineticGrid);
        assert!(
            BitProgram::new(&program, &circuit, &KineticGrid, 8, horizon).is_none(),
            "{expr}"
        );
    }
}
