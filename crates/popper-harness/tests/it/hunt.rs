//! No law may get a verdict that brute force contradicts: random laws of the whole grammar against the oracle, which shares
//! no code with the harness.

use popper_harness::counterexample::rederive;
use popper_harness::decide::{Config, Harness, Status, UnknownReason};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::{KineticGrid, Tabulated};
use rayon::prelude::*;
use serde_json::Value;

use crate::oracle::{Oracle, Universe};
use crate::random_law::{Rng, random_law, random_universe};

/// Rings up to this size are checked by brute force.
const BRUTE_N: usize = 7;

/// The largest ring of the unrelated states.
const PICKED_N: usize = 5;
/// The number of unrelated states.
const PICKS: usize = 2000;

/// Returns the first error in the verdict on a law.
pub fn contradiction(value: &Value, harness: &Harness, universe: &Universe) -> Option<String> {
    let extensions = Extensions::ALL;
    let law = match Law::from_value(value.clone(), "$", extensions) {
        Ok(law) => law,
        Err(error) => return Some(format!("not a law: {error}")),
    };
    let verdict = harness.evaluate(&law);
    let oracle = match Oracle::new(value, universe) {
        Ok(oracle) => oracle,
        // What the oracle refuses to read, the harness must not decide.
        Err(_) if verdict.status == Status::Unknown => return None,
        Err(refusal) => {
            return Some(format!(
                "{:?}, but the oracle refuses it: {refusal:?}",
                verdict.status
            ));
        }
    };
    let smallest = oracle.smallest(BRUTE_N);
    if verdict.reason_code == Some(UnknownReason::TautologicalClaim)
        && let Some(states) = breaking(&oracle, universe)
    {
        return Some(format!("tautological_claim, but {states:?} break it"));
    }
    match (verdict.status, smallest) {
        (Status::Pass, Some(smallest)) => Some(format!("PASS, but {smallest:?} violates it")),
        (Status::Unknown, Some(smallest)) => {
            // The oracle reads a step after T as one that never comes.
            let unread = matches!(
                verdict.reason_code,
                Some(
                    UnknownReason::MissingObservable
                        | UnknownReason::MissingTransform
                        | UnknownReason::AmbiguousClaim
                )
            );
            (!unread).then(|| {
                format!(
                    "UNKNOWN {:?}, but {smallest:?} violates it",
                    verdict.reason_code
                )
            })
        }
        (Status::Fail, smallest) => {
            let example = verdict.counterexample?;
            if let Err(error) = rederive(&example) {
                return Some(format!("the counterexample does not replay: {error}"));
            }
            let case = oracle.case(&example.initial_state);
            if !case.admitted || case.first_violation != Some(example.t_fail as usize) {
                return Some(format!(
                    "{} fails at {}, the oracle says {case:?}",
                    example.initial_state, example.t_fail
                ));
            }
            let minimal = example.minimal || example.config.n > BRUTE_N;
            let same = match &smallest {
                Some(smallest) => {
                    smallest.state == example.initial_state
                        && smallest.t_fail == example.t_fail as usize
                }
                None => example.config.n > BRUTE_N,
            };
            (!minimal || !same).then(|| format!("{example:?} is not the smallest: {smallest:?}"))
        }
        _ => None,
    }
}

/// Unrelated states of a small ring that break a claim, among some drawn at random.
fn breaking(oracle: &Oracle, universe: &Universe) -> Option<Vec<Vec<u8>>> {
    let mut rng = Rng::new(1);
    (0..PICKS).find_map(|pick| {
        let n = 1 + pick % PICKED_N;
        let mut state = || {
            (0..n)
                .map(|_| rng.below(universe.symbols.len()) as u8)
                .collect()
        };
        let states: Vec<Vec<u8>> = (0..5).map(|_| state()).collect();
        oracle.is_broken_by(&states).then_some(states)
    })
}

fn hunt(seeds: std::ops::Range<u64>, harness: &Harness, universe: &Universe) {
    let wrong: Vec<String> = seeds
        .into_par_iter()
        .filter_map(|seed| {
            let law = random_law(seed);
            contradiction(&law, harness, universe).map(|what| format!("seed {seed}: {what}\n{law}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} contradictions\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n\n")
    );
}

/// Small budgets for what lies beyond brute force, so that many laws can be asked.
pub fn hasty() -> Config {
    Config::default()
        .exhaustive_n(8)
        .ladder(vec![9, 16, 27])
        .generations(2)
}

/// Ten thousand laws in all; in parts, so that a runner can spread them.
fn kinetic(part: u64) {
    let harness = Harness::new(KineticGrid, hasty()).unwrap();
    hunt(
        part * 2500..(part + 1) * 2500,
        &harness,
        &Universe::kinetic(),
    );
}

#[test]
fn ten_thousand_laws_first_part() {
    kinetic(0);
}

#[test]
fn ten_thousand_laws_second_part() {
    kinetic(1);
}

#[test]
fn ten_thousand_laws_third_part() {
    kinetic(2);
}

#[test]
fn ten_thousand_laws_fourth_part() {
    kinetic(3);
}

#[test]
fn five_hundred_laws_with_the_default_budgets() {
    let harness = Harness::new(KineticGrid, Config::default()).unwrap();
    hunt(10_000..10_500, &harness, &Universe::kinetic());
}

#[test]
fn laws_of_random_universes() {
    for seed in 0..40 {
        let definition = random_universe(seed);
        let universe = Universe::table(&definition).unwrap();
        let table = Tabulated::from_json(&definition.to_string()).unwrap();
        let config = hasty().exhaustive_n(7).minimal_n(7).ladder(vec![8, 16]);
        let harness = Harness::new(table, config).unwrap();
        hunt(seed * 1000..seed * 1000 + 50, &harness, &universe);
    }
}
