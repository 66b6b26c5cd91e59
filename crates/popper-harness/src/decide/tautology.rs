//! The test whether a law can fail without the dynamics.
//!
//! The states at 0, t and t + 1 are chosen independently from all states, reachable or not, of one ring. A law that is shown
//! to hold for every choice says nothing about the universe.

use std::collections::BTreeSet;

use super::arithmetic::holds_everywhere;
use super::budget::Budget;
use super::rng::RngStream;
use crate::law::evaluate::{EvalError, holds, observe};
use crate::law::rings::Rings;
use crate::law::syntax::Time;
use crate::law::{Claim, Condition, Formula, Program, Symmetry, Term};
use crate::universe::{Shift, State, Symbol, Tabulated, Universe};

/// The size up to which rings are tested completely.
const COMPLETE_N: usize = 4;
/// The number of random states for each larger ring.
const RANDOM_STATES: usize = 32;
/// The most combinations that are tested one by one.
const MOST_PICKS: usize = 1 << 20;
/// The number of random combinations where there are more, and for each larger ring.
const RANDOM_PICKS: usize = 2048;

type StateValues = Vec<Result<i64, EvalError>>;

/// The result of the test of a claim without its dynamics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triviality {
    /// Some choice of states breaks the claim.
    Breakable,
    /// Arithmetic shows that no choice of states breaks the claim, on any ring.
    Shown,
    /// Neither is shown.
    Open,
}

/// Tries to show by arithmetic that no choice of states breaks the claim; otherwise searches rings up to 4 cells, then the
/// given sizes, for one that does.
pub fn triviality(
    program: &Program,
    universe: &Tabulated,
    rings: &Rings<'_>,
    sizes: &[usize],
    draw: &mut RngStream,
    budget: &Budget<'_>,
) -> Triviality {
    let candidates = (1..=COMPLETE_N).chain(sizes.iter().copied());
    let sizes: BTreeSet<usize> = candidates.filter(|&n| rings.admits(n)).collect();
    // The last t that the template uses.
    let last = |steps: bool| program.horizon - u64::from(steps);
    let (claim, last) = match &program.claim {
        Claim::Commutes(symmetry) => return moves(symmetry, rings, &sizes),
        // Any cell may become anything.
        Claim::Local { .. } if universe.alphabet().len() == 1 => return Triviality::Shown,
        Claim::Local { .. } => return Triviality::Breakable,
        Claim::Always {
            antecedent: Some(p),
            consequent: q,
            steps,
        } => (
            Formula::Implies(Box::new(p.clone()), Box::new(q.clone())),
            last(*steps),
        ),
        Claim::Eventually {
            antecedent: p,
            consequent: q,
            ..
        } => (
            Formula::Implies(Box::new(p.clone()), Box::new(q.clone())),
            last(false),
        ),
        Claim::Always {
            antecedent: None,
            consequent,
            steps,
        } => (consequent.clone(), last(*steps)),
    };
    let choices = Choices {
        claim: &claim,
        times: named_times(&claim),
        steps: if program.counts_time() {
            let few = [0, 1, 2, last].into_iter().filter(|&t| t <= last);
            few.collect::<BTreeSet<u64>>().into_iter().collect()
        } else {
            vec![0]
        },
        program,
        universe,
    };
    let conditions = program.preconditions.iter();
    let of_length: Vec<&Condition> = conditions
        .filter(|condition| condition.is_static())
        .collect();
    let symbols = universe.alphabet().len();
    if holds_everywhere(&claim, &program.observables, &of_length, symbols, last) {
        return Triviality::Shown;
    }
    for n in sizes {
        if budget.is_spent() {
            return Triviality::Open;
        }
        if choices.on_ring(n, draw) {
            return Triviality::Breakable;
        }
    }
    Triviality::Open
}

/// A claim about unrelated states.
struct Choices<'a> {
    claim: &'a Formula,
    times: Vec<Time>,
    /// The tested values of t.
    steps: Vec<u64>,
    program: &'a Program,
    universe: &'a Tabulated,
}

impl Choices<'_> {
    /// Whether a choice of states of `n` cells breaks the claim.
    fn on_ring(&self, n: usize, draw: &mut RngStream) -> bool {
        let symbols = self.universe.alphabet().len();
        // States that no observable tells apart count once; that makes complete enumeration cheap.
        let kinds = if n <= COMPLETE_N {
            distinct(crate::universe::windows(symbols, n).map(|state| self.values(&state)))
        } else {
            let random: Vec<State> = (0..RANDOM_STATES)
                .map(|_| random_state(n, symbols, draw))
                .collect();
            let extreme = extreme_states(n, symbols);
            distinct(
                random
                    .iter()
                    .chain(&extreme)
                    .map(|state| self.values(state)),
            )
        };
        let every = kinds
            .len()
            .checked_pow(self.times.len() as u32)
            .is_some_and(|picks| picks <= MOST_PICKS);
        if n <= COMPLETE_N && every {
            return self.every_pick(&kinds, &mut Vec::new());
        }
        (0..RANDOM_PICKS).any(|_| {
            let pick: Vec<&StateValues> = (self.times.iter())
                .map(|_| &kinds[draw.below(kinds.len())])
                .collect();
            self.is_broken_by(&pick)
        })
    }

    fn values(&self, state: &[Symbol]) -> StateValues {
        let observables = self.program.observables.iter();
        observables
            .map(|observable| observe(observable, state, self.universe))
            .collect()
    }

    fn is_broken_by(&self, pick: &[&StateValues]) -> bool {
        self.steps.iter().any(|&t| {
            let mut read = |index: usize, time: Time| {
                // Every time that the claim names is in the list.
                self.times
                    .iter()
                    .position(|&named| named == time)
                    .map_or(Ok(0), |place| pick[place][index])
            };
            holds(self.claim, t, &mut read) == Ok(false)
        })
    }

    fn every_pick<'v>(&self, kinds: &'v [StateValues], picked: &mut Vec<&'v StateValues>) -> bool {
        if picked.len() == self.times.len() {
            return self.is_broken_by(picked);
        }
        kinds.iter().any(|kind| {
            picked.push(kind);
            let found = self.every_pick(kinds, picked);
            picked.pop();
            found
        })
    }
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

fn distinct(values: impl Iterator<Item = StateValues>) -> Vec<StateValues> {
    let mut kinds: Vec<StateValues> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for value in values {
        if seen.insert(format!("{value:?}")) {
            kinds.push(value);
        }
    }
    kinds
}

fn random_state(n: usize, symbols: usize, draw: &mut RngStream) -> State {
    (0..n).map(|_| draw.below(symbols) as Symbol).collect()
}

/// Returns uniform states and those of two blocks of any two symbols.
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

/// Whether a transform changes some state of an admitted ring.
fn moves(symmetry: &Symmetry, rings: &Rings<'_>, sizes: &BTreeSet<usize>) -> Triviality {
    let still = |n: usize| match symmetry {
        Symmetry::Named(transform) => {
            keeps_symbols(&transform.map) && (!transform.reverse || n == 1)
        }
        Symmetry::Shift(Shift::By(k)) => k.rem_euclid(n as i64) == 0,
        Symmetry::Shift(Shift::Every) => n == 1,
    };
    let nowhere = match symmetry {
        Symmetry::Named(transform) => {
            // Turning round changes some state as soon as two cells can differ.
            keeps_symbols(&transform.map) && (!transform.reverse || transform.map.len() == 1)
        }
        Symmetry::Shift(Shift::By(k)) => *k == 0,
        Symmetry::Shift(Shift::Every) => false,
    };
    let most = rings
        .largest()
        .filter(|&n| n as u64 <= crate::law::MAX_RING);
    if nowhere || most.is_some_and(|most| (1..=most).all(|n| !rings.admits(n) || still(n))) {
        Triviality::Shown
    } else if sizes.iter().all(|&n| still(n)) {
        Triviality::Open
    } else {
        Triviality::Breakable
    }
}

fn keeps_symbols(map: &[Symbol]) -> bool {
    map.iter()
        .enumerate()
        .all(|(from, &to)| from == usize::from(to))
}
