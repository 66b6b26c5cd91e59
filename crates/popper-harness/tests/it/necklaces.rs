//! The starts of an exhausted ring: each class once, by its least state.

use popper_harness::bitslice::{InitialStates, StartClasses};
use popper_harness::universe::{Alphabet, Shift, State, Symbol, Transform};

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
