//! Tests of automata and regions against the evaluation of laws and against simulated rings.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::super::fuel::Fuel;
use super::super::obligation::failures;
use super::automaton::{Automaton, InequalityReading, read};
use super::windows::{RingKind, Windows};
use super::words::WordSet;
use super::{Conjunction, MAX_LAW, UniverseFacts};
use crate::law::evaluate::{Case, Horizon};
use crate::law::{Claim, Law, Program};
use crate::universe::{Symbol, Tabulated, Universe as _, random_universe};

/// The claims about one state or two whose inequalities all have an automaton, over the symbols of random universes.
const CLAIMS: [(&str, &str); 24] = [
    ("count('a')", "f(t) <= 2"),
    ("count('a')", "f(t) == 1"),
    ("count_pattern('ab')", "f(t+1) != 0"),
    ("count('a') + 2*count('b')", "f(t+1) < 4"),
    ("grid_length", "f(t) >= 5"),
    ("grid_length % 3", "f(t) == 1"),
    ("count('a') % 2", "f(t+1) == 0"),
    ("(count('a') - count('b')) % 3", "f(t) <= 1"),
    ("(count('a') + 1) % -3", "f(t) >= -1"),
    ("count_even('a')", "f(t) <= 1"),
    ("count_even('a')", "f(t+1) >= 2"),
    ("count_odd('a')", "f(t+1) == 1"),
    ("count_odd('b') % 2", "f(t) == 1"),
    ("max_gap('a')", "f(t) <= 1"),
    ("max_gap('a')", "f(t+1) >= 2"),
    ("leftmost('b')", "f(t) <= 1"),
    ("leftmost('b')", "f(t+1) >= 1"),
    ("rightmost('c')", "f(t+1) <= 2"),
    ("rightmost('c')", "f(t) >= 2"),
    ("spread('a')", "f(t+1) <= 2"),
    ("spread('a')", "f(t) >= 3"),
    ("leftmost('a') - leftmost('c')", "f(t+1) < 0"),
    ("adjacent_pairs('a', 'a')", "f(t) <= 1"),
    ("gap_pairs('a', 'b', 2) % 2", "f(t+1) == 1"),
];

fn program(expr: &str, claim: &str, universe: &Tabulated) -> Program {
    let law = serde_json::json!({
        "schema_version": "1.0.0", "law_id": "test", "template": "bound", "quantifiers": {"T": 9},
        "observables": [{"name": "f", "expr": expr}], "claim": claim, "forbidden": "the contrary",
    });
    let law = Law::from_json(&law.to_string(), crate::law::Extensions::default()).unwrap();
    Program::compile(&law, universe).unwrap()
}

/// A random ring of 1 to 9 cells.
fn ring(rng: &mut ChaCha20Rng, symbols: usize) -> Vec<Symbol> {
    let mut draw = |bound: usize| (rng.next_u64() % bound as u64) as usize;
    let cells = 1 + draw(9);
    (0..cells).map(|_| draw(symbols) as Symbol).collect()
}

/// Whether an automaton accepts a ring, read from its first cell on.
fn accepts(automaton: &Automaton, windows: &Windows<'_>, ring: &[Symbol]) -> bool {
    let mut state = 0;
    for cell in 0..ring.len() {
        let place = windows.place(ring, cell).unwrap();
        match automaton.machine.step(state, automaton.inputs[place]) {
            Some(next) => state = next,
            None => return false,
        }
    }
    automaton.machine.accepts(state)
}

#[test]
fn an_automaton_accepts_the_rings_that_meet_its_inequality() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (mut held, mut failed) = (0, 0);
    for seed in 0..4 {
        let universe = random_universe(seed);
        let symbols = universe.alphabet().len();
        let mut every = WordSet::new(symbols, 1).unwrap();
        (0..symbols).for_each(|symbol| every.insert(symbol));
        for (expr, claim) in CLAIMS {
            let program = program(expr, claim, &universe);
            let Claim::Always { consequent, .. } = &program.claim else {
                panic!("{claim}");
            };
            let failures = failures(&program, None, consequent, &[0]).unwrap();
            for _ in 0..60 {
                let ring = ring(&mut rng, symbols);
                let meets = |form| {
                    let forms = std::iter::once(form);
                    let windows = Windows::new(universe.rule(), RingKind::Within(&every), forms, 1);
                    let windows = windows.unwrap();
                    match read(form, &windows) {
                        InequalityReading::Always => true,
                        InequalityReading::Never => false,
                        InequalityReading::Automaton(automaton) => {
                            accepts(&automaton, &windows, &ring)
                        }
                        InequalityReading::Other => panic!("no automaton: {expr}: {claim}"),
                    }
                };
                let fails = failures
                    .iter()
                    .any(|conjunction| conjunction.iter().all(meets));
                let horizon = Horizon { t: 0, window: 0 };
                let case = Case::new(&program, &universe, &ring, horizon);
                assert_eq!(
                    fails,
                    case.violation.is_some(),
                    "{expr}: {claim} on {ring:?}"
                );
                held += usize::from(!fails);
                failed += usize::from(fails);
            }
        }
    }
    assert!(held > 1000 && failed > 1000, "{held} {failed}");
}

#[test]
fn a_region_holds_the_words_of_all_later_states() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for seed in 1..6 {
        let universe = random_universe(seed);
        let symbols: Vec<Symbol> = (0..universe.alphabet().len() as Symbol).collect();
        let fuel = Fuel::new(MAX_LAW);
        let known = UniverseFacts {
            rule: universe.rule(),
            alphabet: universe.alphabet(),
            starting: &symbols[..3],
            fuel: &fuel,
        };
        let nothing = Vec::new();
        let conjunction = Conjunction::new(&known, &nothing);
        for (length, base) in [(1, 0), (2, 0), (2, 1), (3, 2)] {
            let region = conjunction.region(length, base).unwrap();
            for _ in 0..40 {
                let mut state = ring(&mut rng, 3);
                for step in 0..8 {
                    let twice: Vec<Symbol> = state
                        .iter()
                        .cycle()
                        .take(state.len() + 3)
                        .copied()
                        .collect();
                    let inside = twice.len() < length
                        || region.words.admits(&twice[..state.len() + length - 1]);
                    assert!(step < base || inside, "{seed} {length} {base} {step}");
                    state = universe.step(&state).to_vec();
                }
            }
        }
    }
}

#[test]
fn words_are_read_as_they_are_written_alone() {
    let alphabet = random_universe(1).alphabet().clone();
    let words: Vec<String> = [".a", "ab", "c."].map(Into::into).to_vec();
    assert!(WordSet::read(&words, 2, &alphabet).is_some());
    for wrong in [
        vec!["ab", ".a", "c."],
        vec![".a", ".a"],
        vec![".a", "abc"],
        vec![".x"],
    ] {
        let wrong: Vec<String> = wrong.into_iter().map(Into::into).collect();
        assert!(WordSet::read(&wrong, 2, &alphabet).is_none(), "{wrong:?}");
    }
    assert!(WordSet::new(8, 6).is_none());
}
