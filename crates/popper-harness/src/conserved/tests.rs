//! Comparison of the span with an independent brute force: all pattern counts on all small rings, before and after one step.

use num_rational::Ratio;

use super::{SpanError, span};
use crate::law::evaluate::observe;
use crate::law::{Extensions, Law, Observable, Program};
use crate::universe::{KineticGrid, Symbol, Tabulated, Universe, random_universe};

type Row = Vec<Ratio<i128>>;

fn strings(symbols: usize, width: usize) -> Vec<Vec<Symbol>> {
    (0..width).fold(vec![Vec::new()], |strings, _| {
        strings
            .iter()
            .flat_map(|string| {
                (0..symbols as Symbol).map(|symbol| {
                    let mut longer = string.clone();
                    longer.push(symbol);
                    longer
                })
            })
            .collect()
    })
}

/// A set of rows in echelon form, by textbook Gaussian elimination.
#[derive(Default)]
struct Echelon(Vec<(usize, Row)>);

impl Echelon {
    fn add(&mut self, row: &[i128]) {
        let mut row: Row = row
            .iter()
            .map(|&entry| Ratio::from_integer(entry))
            .collect();
        for (lead, known) in &self.0 {
            let factor = row[*lead];
            if *factor.numer() != 0 {
                for (entry, other) in row.iter_mut().zip(known) {
                    *entry -= factor * other;
                }
            }
        }
        if let Some(lead) = row.iter().position(|entry| *entry.numer() != 0) {
            let first = row[lead];
            for entry in &mut row {
                *entry /= first;
            }
            self.0.push((lead, row));
        }
    }
}

/// Computes the dimension by brute force on rings of up to `n` cells.
///
/// It counts the combinations of window counts that no step changes, modulo those that are zero on all of these rings.
fn dimension(universe: &Tabulated, width: usize, n: usize) -> usize {
    let symbols = universe.alphabet().len();
    let patterns = strings(symbols, width);
    let counts = |state: &[Symbol]| -> Vec<i128> {
        patterns
            .iter()
            .map(|pattern| {
                (0..state.len())
                    .filter(|&cell| {
                        (0..width).all(|at| state[(cell + at) % state.len()] == pattern[at])
                    })
                    .count() as i128
            })
            .collect()
    };
    let (mut values, mut changes) = (Echelon::default(), Echelon::default());
    for state in (1..=n).flat_map(|n| strings(symbols, n)) {
        let before = counts(&state);
        let after = counts(&universe.step(&state));
        let change: Vec<i128> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
        values.add(&before);
        changes.add(&change);
    }
    // Conserved: unknowns less rank of the changes. Zero everywhere: unknowns less rank of the values; these are conserved too.
    values.0.len() - changes.0.len()
}

fn elementary(number: u32) -> Tabulated {
    let table: serde_json::Map<String, serde_json::Value> = (0..8)
        .map(|code| {
            let next = if number >> code & 1 == 1 { "1" } else { "0" };
            (format!("{code:03b}"), next.into())
        })
        .collect();
    let json = serde_json::json!({
        "id": format!("rule_{number}"), "symbols": "01", "radius": 1, "rule": {"table": table},
    });
    Tabulated::from_json(&json.to_string()).unwrap()
}

#[test]
fn dimensions_agree_with_brute_force() {
    for (width, wanted, n) in [(1, 3, 5), (2, 5, 6), (3, 9, 7)] {
        let found = span(&KineticGrid, width).unwrap();
        assert_eq!(found.dimension, wanted);
        assert_eq!(dimension(&KineticGrid, width, n), wanted, "width {width}");
    }
    for number in [30, 90, 110, 184] {
        for width in 1..=4 {
            let rule = elementary(number);
            let found = span(&rule, width).unwrap();
            let brute = dimension(&rule, width, 11);
            assert_eq!(found.dimension, brute, "rule {number}, width {width}");
        }
    }
    for seed in 0..20 {
        for (width, n) in [(1, 5), (2, 6)] {
            let rule = random_universe(seed);
            let found = span(&rule, width).unwrap();
            assert_eq!(
                found.dimension,
                dimension(&rule, width, n),
                "seed {seed}, width {width}"
            );
        }
    }
}

fn observable(expr: &str, universe: &Tabulated) -> Observable {
    let text = serde_json::json!({
        "schema_version": "1.0.0", "law_id": "l", "template": "invariant", "quantifiers": {"T": 1},
        "preconditions": [], "observables": [{"name": "f", "expr": expr}], "claim": "f(t) == f(0)", "forbidden": "f(t) != f(0)",
        "proposed_tests": [],
    });
    let law = Law::from_json(&text.to_string(), Extensions::default()).unwrap();
    Program::compile(&law, universe).unwrap().named[0].1.clone()
}

#[test]
fn bases_are_conserved_observables() {
    let universes: [Tabulated; 4] = [
        Tabulated::clone(&KineticGrid),
        elementary(184),
        random_universe(3),
        random_universe(8),
    ];
    for universe in &universes {
        let found = span(universe, 3).unwrap();
        for quantity in &found.basis {
            let observable = observable(&quantity.expr, universe);
            assert!(
                found.coordinates(&observable).is_some(),
                "{}",
                quantity.expr
            );
            assert!(quantity.terms[0].1 > 0);
            for state in (1..=5).flat_map(|n| strings(universe.alphabet().len(), n)) {
                let next = universe.step(&state);
                assert_eq!(
                    observe(&observable, &state, universe),
                    observe(&observable, &next, universe),
                    "{} on {state:?}",
                    quantity.expr
                );
            }
        }
    }
}

#[test]
fn the_kinetic_grid_has_the_known_laws() {
    let texts = |width| -> Vec<String> {
        let found = span(&KineticGrid, width).unwrap();
        found
            .basis
            .into_iter()
            .map(|quantity| quantity.expr)
            .collect()
    };
    assert_eq!(
        texts(1),
        [
            "grid_length",
            "count('>') + count('X')",
            "count('<') + count('X')"
        ]
    );
    assert_eq!(
        texts(2)[3..],
        [
            "count_pattern('>>') + count_pattern('>X') + count_pattern('X>') + count_pattern('XX')",
            "count_pattern('<<') + count_pattern('<X') + count_pattern('X<') + count_pattern('XX')",
        ]
    );
}

#[test]
fn membership() {
    let one = span(&KineticGrid, 1).unwrap();
    let two = span(&KineticGrid, 2).unwrap();
    for (expr, in_one, in_two) in [
        ("count('.') - count('X')", true, true),
        ("count('>') + count('<') + 2*count('X') + 7", true, true),
        ("0", true, true),
        (
            "count_pattern('..') + count_pattern('.>') + count_pattern('.<') + count_pattern('.X') - count('X')",
            true,
            true,
        ),
        ("count('X')", false, false),
        ("incoming_collisions - count('X')", false, false),
        (
            "count_pattern('>>') + count_pattern('>X') + count_pattern('X>') + count_pattern('XX')",
            false,
            true,
        ),
        (
            "(count('>') + count('X')) * (count('<') + count('X'))",
            false,
            false,
        ),
        ("leftmost('>')", false, false),
        ("3 * (grid_length - count('>') - count('X'))", true, true),
        ("count_pattern('................')", false, false),
    ] {
        let observable = observable(expr, &KineticGrid);
        assert_eq!(one.coordinates(&observable).is_some(), in_one, "{expr}");
        assert_eq!(two.coordinates(&observable).is_some(), in_two, "{expr}");
    }
    assert_eq!(
        serde_json::to_value(&one).unwrap()["basis"][1]["expr"],
        "count('>') + count('X')"
    );
}

#[test]
fn coordinates_rebuild_the_observable() {
    let two = span(&KineticGrid, 2).unwrap();
    let of = |expr: &str| two.coordinates(&observable(expr, &KineticGrid));
    assert_eq!(of("grid_length"), Some(vec![1, 0, 0, 0, 0]));
    assert_eq!(of("count('.') - count('X')"), Some(vec![1, -1, -1, 0, 0]));
    assert_eq!(
        of("2*count('X') + count('<') + count('>') + 9"),
        Some(vec![0, 1, 1, 0, 0])
    );
    assert_eq!(of("7"), Some(vec![0; 5]));
    assert_eq!(of("count('X')"), None);
    assert_eq!(
        of("9223372036854775807 * (count('>') + count('X'))"),
        Some(vec![0, i64::MAX, 0, 0, 0])
    );
    // Twice beyond 64 bits: no number is made up.
    let most = "9223372036854775807 * (count('>') + count('X'))";
    assert_eq!(of(&format!("{most} + {most}")), None);
    for (index, quantity) in two.basis.iter().enumerate() {
        let unit = (0..5).map(|place| i64::from(place == index)).collect();
        assert_eq!(of(&quantity.expr), Some(unit), "{}", quantity.expr);
    }
    // On other rules a basis vector may lead with more than 1: the combination, times its denominator, is the observable.
    let mut fractions = 0;
    for seed in 0..200 {
        let universe = random_universe(seed);
        let found = span(&universe, 2).unwrap();
        for (left, right) in found.basis.iter().zip(found.basis.iter().skip(1)) {
            let sum = observable(&format!("3*({}) - ({})", left.expr, right.expr), &universe);
            let coordinates = found.coordinates(&sum).unwrap();
            let leads = coordinates.iter().filter(|&&entry| entry != 0).copied();
            assert_eq!(leads.collect::<Vec<_>>(), [3, -1], "seed {seed}");
            fractions += 1;
        }
    }
    assert!(fractions > 10, "{fractions}");
}

#[test]
fn too_wide_is_an_error() {
    assert_eq!(span(&KineticGrid, 0), Err(SpanError::ZeroWidth));
    for width in [6, 7, 30, usize::MAX] {
        let error = span(&KineticGrid, width).unwrap_err();
        assert!(matches!(error, SpanError::TooLarge { .. }), "{error}");
        assert!(error.to_string().contains("at most 70000"), "{error}");
    }
}
