//! The share of the conserved quantities that the proposer finds.

use popper_harness::conserved::span;
use popper_harness::decide::{Config, Status, behaviour_hash};
use popper_harness::law::{Extensions, Law, Observable, Program, Template};
use popper_harness::universe::{KineticGrid, State, Tabulated, Universe, random_universe};
use serde_json::json;

use super::{Order, Story, fixture, hasty, story};

/// The conditionless laws of a template that passed.
fn passed(story: &Story, template: Template) -> impl Iterator<Item = &Law> {
    let passed = story
        .tested
        .iter()
        .filter(|(_, verdict)| verdict.status == Status::Pass);
    passed
        .map(|(law, _)| law)
        .filter(move |law| law.template() == template && law.preconditions().is_empty())
}

/// The quantities of the accepted invariants.
fn conserved(story: &Story, universe: &Tabulated) -> Vec<Observable> {
    passed(story, Template::Invariant)
        .flat_map(|law| Program::compile(law, universe).unwrap().observables)
        .collect()
}

/// The rank of the given vectors, by elimination modulo a prime.
fn rank(mut rows: Vec<Vec<i64>>) -> usize {
    const PRIME: i64 = 1_000_000_007;
    let power = |mut base: i64, mut exponent: i64| {
        let mut result = 1;
        while exponent > 0 {
            if exponent % 2 == 1 {
                result = result * base % PRIME;
            }
            base = base * base % PRIME;
            exponent /= 2;
        }
        result
    };
    for entry in rows.iter_mut().flatten() {
        *entry = entry.rem_euclid(PRIME);
    }
    let mut rank = 0;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let Some(pivot) = (rank..rows.len()).find(|&row| rows[row][column] != 0) else {
            continue;
        };
        rows.swap(rank, pivot);
        let inverse = power(rows[rank][column], PRIME - 2);
        let leading = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            let factor = row[column] * inverse % PRIME;
            for (entry, lead) in row.iter_mut().zip(&leading) {
                *entry = (*entry - factor * lead % PRIME).rem_euclid(PRIME);
            }
        }
        rank += 1;
    }
    rank
}

/// The number of independent quantities of windows up to `width` that were found without the number of cells, and their total.
fn recall(story: &Story, universe: &Tabulated, width: usize) -> (usize, usize) {
    let span = span(universe, width).unwrap();
    let states: Vec<_> = (0..200_u64)
        .map(|number| {
            let symbols = universe.alphabet().len() as u64;
            let digits = 1 + number % 9;
            let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
            let cells =
                (0..digits).map(|place| (mixed / symbols.pow(place as u32) % symbols) as u8);
            cells.collect::<State>()
        })
        .collect();
    let values = |observable: &Observable| -> Vec<i64> {
        let value =
            |state: &State| popper_harness::law::observe(observable, state, universe).unwrap();
        states.iter().map(value).collect()
    };
    let found = conserved(story, universe);
    let inside = found
        .iter()
        .filter(|observable| span.coordinates(observable).is_some());
    let rows = [Observable::GridLength].iter().chain(inside).map(values);
    (rank(rows.collect()) - 1, span.dimension - 1)
}

/// The known laws of the kinetic grid that did not pass.
fn missed(story: &Story) -> Vec<String> {
    let invariant = |expr: &str| {
        let law = json!({
            "law_id": "known", "template": "invariant", "quantifiers": {"T": 40}, "claim": "f(t) == f(0)", "forbidden": "not so",
            "observables": [{"name": "f", "expr": expr}],
        });
        Law::from_value(law, "$", Extensions::default()).unwrap()
    };
    let quantities = [
        "count('>') + count('X')",
        "count('<') + count('X')",
        "count('>') + count('<') + 2*count('X')",
        "count('>') - count('<')",
    ];
    let mut missed: Vec<String> = quantities
        .into_iter()
        .filter(|expr| {
            let program = Program::compile(&invariant(expr), &KineticGrid).unwrap();
            let hash = behaviour_hash(&program, &KineticGrid);
            !passed(story, Template::Invariant).any(|law| {
                let program = Program::compile(law, &KineticGrid).unwrap();
                behaviour_hash(&program, &KineticGrid) == hash
            })
        })
        .map(str::to_owned)
        .collect();
    let symmetry = passed(story, Template::SymmetryCommutation)
        .any(|law| law.transform() == Some("mirror_swap"));
    if !symmetry {
        missed.push("mirror_swap".into());
    }
    missed
}

#[test]
fn five_iterations_find_what_the_kinetic_grid_conserves() {
    assert_eq!(
        missed(&story(
            KineticGrid,
            Config::default(),
            0,
            Order::Proposed,
            5
        )),
        Vec::<String>::new()
    );
    for seed in 0..3 {
        for order in [
            Order::Proposed,
            Order::Shuffled(seed),
            Order::Shuffled(seed + 100),
        ] {
            let told = story(KineticGrid, hasty(), seed, order, 5);
            assert_eq!(missed(&told), Vec::<String>::new(), "{seed} {order:?}");
            assert_eq!(recall(&told, &KineticGrid, 1), (2, 2));
        }
    }
}

#[test]
fn ten_iterations_find_most_of_what_random_universes_conserve() {
    let (mut found, mut there) = (0, 0);
    for seed in [1, 2, 11] {
        let universe = random_universe(seed);
        let told = story(universe.clone(), hasty(), seed, Order::Proposed, 10);
        let (single, all) = recall(&told, &universe, 1);
        assert_eq!(single, all, "{seed}");
        let (pairs, all) = recall(&told, &universe, 2);
        found += pairs;
        there += all;
    }
    assert!(there > 0 && 2 * found > there, "{found} of {there}");
}

#[test]
fn ten_iterations_find_what_elementary_automata_conserve() {
    for number in [30, 90, 110, 184] {
        let universe = fixture(&format!("elementary_{number}"));
        let told = story(universe.clone(), hasty(), 0, Order::Proposed, 10);
        for width in [1, 2] {
            let (found, there) = recall(&told, &universe, width);
            assert_eq!(found, there, "{number}, width {width}");
        }
    }
}
