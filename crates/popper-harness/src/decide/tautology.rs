//! Whether a law holds when the dynamics are taken away.
//!
//! The states at 0, t and t + 1 are then chosen independently from all states, reachable or not, of one ring. A law that
//! still cannot fail says nothing of the universe.

use std::collections::BTreeSet;

use super::generators::Draw;
use super::rings::Rings;
use crate::eval::{EvalError, holds, observe};
use crate::law::syntax::Time;
use crate::law::{Claim, Formula, Program, Symmetry, Term};
use crate::universe::{Shift, State, Symbol, Universe};

/// Rings up to this size are asked completely.
const COMPLETE_N: usize = 4;
/// Random states for each larger ring.
const RANDOM_STATES: usize = 32;
/// The most combinations that are asked one by one.
const MOST_PICKS: usize = 1 << 20;
/// Combinations of states where there are more, and for each larger ring.
const RANDOM_PICKS: usize = 2048;

type Values = Vec<Result<i64, EvalError>>;

/// Whether no choice of states breaks the claim, on rings up to 4 cells and of the given sizes.
pub fn is_tautology(
    program: &Program,
    universe: &dyn Universe,
    rings: &Rings<'_>,
    sizes: &[usize],
    draw: &mut Draw,
) -> bool {
    let candidates = (1..=COMPLETE_N).chain(sizes.iter().copied());
    let sizes: BTreeSet<usize> = candidates.filter(|&n| rings.admits(n)).collect();
    let claim = match &program.claim {
        Claim::Commutes(symmetry) => return sizes.iter().all(|&n| changes_nothing(symmetry, n)),
        // Any cell may become anything.
        Claim::Local { .. } => return universe.alphabet().len() == 1,
        Claim::Always {
            antecedent: Some(p),
            consequent: q,
            ..
        }
        | Claim::Eventually {
            antecedent: p,
            consequent: q,
            ..
        } => Formula::Implies(Box::new(p.clone()), Box::new(q.clone())),
        Claim::Always {
            antecedent: None,
            consequent,
            ..
        } => consequent.clone(),
    };
    let times = named_times(&claim);
    let steps: Vec<u64> = if program.counts_time() {
        [0, 1, 2, program.horizon].into()
    } else {
        vec![0]
    };
    let symbols = universe.alphabet().len();
    for n in sizes {
        let values = |state: &[Symbol]| -> Values {
            program
                .observables
                .iter()
                .map(|observable| observe(observable, state, universe))
                .collect()
        };
        let broken = |pick: &[&Values]| {
            steps.iter().any(|&t| {
                let mut read = |index: usize, time: Time| {
                    // Every time that the claim names is in the list.
                    times
                        .iter()
                        .position(|&named| named == time)
                        .map_or(Ok(0), |place| pick[place][index])
                };
                holds(&claim, t, &mut read) == Ok(false)
            })
        };
        // States that no observable tells apart count once; that makes complete enumeration cheap.
        let kinds = if n <= COMPLETE_N {
            distinct(crate::universe::windows(symbols, n).map(|state| values(&state)))
        } else {
            let random: Vec<State> = (0..RANDOM_STATES)
                .map(|_| random_state(n, symbols, draw))
                .collect();
            distinct(
                random
                    .iter()
                    .chain(&extreme_states(n, symbols))
                    .map(|state| values(state)),
            )
        };
        let every = kinds
            .len()
            .checked_pow(times.len() as u32)
            .is_some_and(|picks| picks <= MOST_PICKS);
        let found = if n <= COMPLETE_N && every {
            every_pick(&kinds, times.len(), &mut Vec::new(), &broken)
        } else {
            (0..RANDOM_PICKS).any(|_| {
                let pick: Vec<&Values> = times
                    .iter()
                    .map(|_| &kinds[draw.below(kinds.len())])
                    .collect();
                broken(&pick)
            })
        };
        if found {
            return false;
        }
    }
    true
}

fn named_times(claim: &Formula) -> Vec<Time> {
    let times = std::cell::RefCell::new(BTreeSet::new());
    claim.any_term(&|term| {
        if let Term::Obs(_, time) = term {
            times.borrow_mut().insert(*time);
        }
        false
    });
    times.into_inner().into_iter().collect()
}

fn every_pick<'a>(
    kinds: &'a [Values],
    left: usize,
    picked: &mut Vec<&'a Values>,
    broken: &dyn Fn(&[&Values]) -> bool,
) -> bool {
    if left == 0 {
        return broken(picked);
    }
    kinds.iter().any(|kind| {
        picked.push(kind);
        let found = every_pick(kinds, left - 1, picked, broken);
        picked.pop();
        found
    })
}

fn distinct(values: impl Iterator<Item = Values>) -> Vec<Values> {
    let mut kinds: Vec<Values> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for value in values {
        if seen.insert(format!("{value:?}")) {
            kinds.push(value);
        }
    }
    kinds
}

fn random_state(n: usize, symbols: usize, draw: &mut Draw) -> State {
    (0..n).map(|_| draw.below(symbols) as Symbol).collect()
}

/// Uniform states, and two blocks of any two symbols.
fn extreme_states(n: usize, symbols: usize) -> Vec<State> {
    let mut states = Vec::new();
    for left in 0..symbols as Symbol {
        for right in 0..symbols as Symbol {
            states.push(
                (0..n)
                    .map(|cell| if cell < n / 2 { left } else { right })
                    .collect(),
            );
        }
    }
    states
}

fn changes_nothing(symmetry: &Symmetry, n: usize) -> bool {
    match symmetry {
        Symmetry::Named(transform) => {
            // Turning round changes some state as soon as two cells can differ.
            transform
                .map
                .iter()
                .enumerate()
                .all(|(from, &to)| from == usize::from(to))
                && (!transform.reverse || n == 1 || transform.map.len() == 1)
        }
        Symmetry::Shift(Shift::By(k)) => k.rem_euclid(n as i64) == 0,
        Symmetry::Shift(Shift::Every) => n == 1,
    }
}
