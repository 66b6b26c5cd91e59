//! The constants and patterns of a law, the rings that they need, and the ring size from which a test of them counts.

use std::collections::BTreeSet;

use crate::law::rings::Rings;
use crate::law::syntax::Op;
use crate::law::{Arith, Condition, Formula, MAX_RING, Observable, Program, Term};
use crate::universe::{State, Symbol, Tabulated};

/// The most ring sizes that constants and patterns add to the ladder.
const MOST_RINGS: usize = 64;

/// The constants and patterns of a law's normal form, so that a law in other words has the same ones.
pub struct Constants {
    /// The absolute values of the integers in the claim and the preconditions.
    integers: BTreeSet<u64>,
    /// The patterns of two or more symbols that may start, with gaps filled by the background.
    patterns: Vec<State>,
    thresholds: Vec<Threshold>,
}

/// A constant that a claim compares with a count or with the length of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Threshold {
    /// The constant.
    pub constant: u64,
    /// The ring size from which states on both sides of the constant exist.
    pub cells: u64,
}

impl Constants {
    /// Reads a program, which should be that of the law's normal form.
    pub fn new(program: &Program, universe: &Tabulated) -> Self {
        let starts = universe.start_symbols();
        let mut constants = Self {
            integers: BTreeSet::new(),
            patterns: Vec::new(),
            thresholds: Vec::new(),
        };
        let conditions = program.preconditions.iter();
        let sides = conditions.flat_map(|Condition { left, right, .. }| [left, right]);
        for observable in program.observables.iter().chain(sides) {
            constants.read(observable, &starts);
        }
        for formula in program.formulas() {
            constants.compare(formula, &program.observables);
        }
        constants.thresholds.sort_unstable();
        constants.thresholds.dedup();
        constants
    }

    /// Returns the ring sizes that the constants and patterns need, apart from those that are exhausted or on the ladder.
    pub fn rings(&self, rings: &Rings<'_>, exhausted: usize, ladder: &[usize]) -> Vec<usize> {
        let around = |&k: &u64| {
            let double = k.saturating_mul(2);
            let few = |from: u64, to: u64| from..=to;
            few(k.saturating_sub(1), k.saturating_add(1))
                .chain(few(double, double.saturating_add(3)))
        };
        let of_integers = self.integers.iter().flat_map(around);
        let of_patterns = self.patterns.iter().flat_map(|pattern| {
            let m = pattern.len() as u64;
            [m, m + 1, m + 2, 2 * m]
        });
        let sizes: BTreeSet<u64> = of_integers
            .chain(of_patterns)
            .filter(|n| (1..=MAX_RING).contains(n))
            .collect();
        sizes
            .into_iter()
            .map(|n| n as usize)
            .filter(|&n| n > exhausted && !ladder.contains(&n) && rings.admits(n))
            .take(MOST_RINGS)
            .collect()
    }

    /// Returns the patterns as starts of rings of `n` cells: alone, twice, and with one or two cells of background.
    pub fn starts(&self, n: usize, background: Symbol) -> Vec<State> {
        let fits = |pattern: &State| -> Option<State> {
            let m = pattern.len();
            let filled = pattern.iter().copied();
            match n {
                _ if n == 2 * m => Some(filled.clone().chain(filled).collect()),
                _ if (m..=m + 2).contains(&n) => Some(
                    filled
                        .chain(std::iter::repeat_n(background, n - m))
                        .collect(),
                ),
                _ => None,
            }
        };
        self.patterns.iter().filter_map(fits).collect()
    }

    /// Returns the first constant that needs a larger ring than `tested`, where the preconditions admit one.
    pub fn untested(&self, tested: usize, largest: Option<usize>) -> Option<Threshold> {
        self.thresholds.iter().copied().find(|threshold| {
            threshold.cells > tested as u64
                && largest.is_none_or(|largest| threshold.cells <= largest as u64)
        })
    }

    fn read(&mut self, observable: &Observable, starts: &[Symbol]) {
        match observable {
            Observable::Int(number) => {
                self.integers.insert(number.unsigned_abs());
            }
            Observable::Count(pattern) if pattern.at.len() > 1 => {
                let reach = pattern.at.last().map_or(0, |(offset, _)| *offset);
                let mut state = vec![starts[0]; reach + 1];
                for &(offset, symbol) in &pattern.at {
                    state[offset] = symbol;
                }
                let state = State::from(state);
                if state.iter().all(|symbol| starts.contains(symbol))
                    && !self.patterns.contains(&state)
                {
                    self.patterns.push(state);
                }
            }
            Observable::Neg(inner) => self.read(inner, starts),
            Observable::Bin(_, left, right) => {
                self.read(left, starts);
                self.read(right, starts);
            }
            _ => {}
        }
    }

    /// Collects the constants of the comparisons in a formula.
    fn compare(&mut self, formula: &Formula, observables: &[Observable]) {
        match formula {
            Formula::Not(inner) => self.compare(inner, observables),
            Formula::And(left, right)
            | Formula::Or(left, right)
            | Formula::Implies(left, right) => {
                self.compare(left, observables);
                self.compare(right, observables);
            }
            Formula::Cmp(_, left, right) => {
                let mut sum = ComparedSum::default();
                sum.term(left, 1, observables);
                sum.term(right, -1, observables);
                let Some(per_cell) = sum.per_cell() else {
                    self.integers.extend(sum.integers);
                    return;
                };
                let constant = sum.constant.unsigned_abs();
                let constant = if sum.is_product {
                    constant.isqrt()
                } else {
                    constant
                };
                let count = u64::try_from(constant / per_cell).unwrap_or(u64::MAX);
                let counts = sum.divisors.iter().copied().chain([count]);
                for count in counts {
                    self.thresholds.push(Threshold {
                        constant: count,
                        cells: match sum.state {
                            // As many cells of one symbol, and as many others.
                            1.. => count.saturating_mul(2).saturating_add(1),
                            0 => count.saturating_add(1),
                        },
                    });
                }
                self.integers
                    .extend(sum.integers.into_iter().chain([count]));
            }
        }
    }
}

/// A comparison as `sum op 0`, reduced to what decides the ring size that its constant needs.
#[derive(Default)]
struct ComparedSum {
    constant: i128,
    /// The largest factor of an observable of the state; 0 if there is none.
    state: u128,
    /// The factor of the ring's length.
    length: i128,
    /// Whether observables are multiplied, so that the constant is compared with a square.
    is_product: bool,
    divisors: Vec<u64>,
    /// The integers that are written in the comparison.
    integers: Vec<u64>,
}

impl ComparedSum {
    /// Returns the largest change of the sum by one cell; `None` if no ring changes it.
    fn per_cell(&self) -> Option<u128> {
        let factor = if self.state > 0 {
            self.state
        } else {
            self.length.unsigned_abs()
        };
        (factor > 0).then_some(factor)
    }

    fn int(&mut self, number: i64, factor: i128) {
        self.integers.push(number.unsigned_abs());
        self.constant = self
            .constant
            .saturating_add(factor.saturating_mul(number.into()));
    }

    /// Reads the operands of an operation that is not a sum.
    fn inside(&mut self, read: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        read(&mut inner);
        if inner.per_cell().is_some() {
            self.state = self.state.max(1);
        }
        self.integers.extend(inner.integers);
        self.divisors.extend(inner.divisors);
    }

    fn term(&mut self, term: &Term, factor: i128, observables: &[Observable]) {
        match term {
            Term::Int(number) => self.int(*number, factor),
            Term::Step => {}
            Term::Obs(index, _) => self.observable(&observables[*index], factor),
            Term::Neg(inner) => self.term(inner, -factor, observables),
            Term::Bin(op, left, right) => match (op, &**left, &**right) {
                (Op::Add, left, right) => {
                    self.term(left, factor, observables);
                    self.term(right, factor, observables);
                }
                (Op::Sub, left, right) => {
                    self.term(left, factor, observables);
                    self.term(right, -factor, observables);
                }
                (Op::Mul, Term::Int(number), other) | (Op::Mul, other, Term::Int(number)) => {
                    self.integers.push(number.unsigned_abs());
                    self.term(other, factor.saturating_mul((*number).into()), observables);
                }
                (op, left, right) => {
                    self.is_product |= *op == Op::Mul;
                    if let (Op::Mod, Term::Int(number)) = (op, right) {
                        self.divisors.push(number.unsigned_abs());
                    }
                    self.inside(|inner| {
                        inner.term(left, 1, observables);
                        inner.term(right, 1, observables);
                    });
                }
            },
        }
    }

    fn observable(&mut self, observable: &Observable, factor: i128) {
        match observable {
            Observable::Int(number) => self.int(*number, factor),
            Observable::GridLength => self.length = self.length.saturating_add(factor),
            Observable::Neg(inner) => self.observable(inner, -factor),
            Observable::Bin(op, left, right) => match (op, &**left, &**right) {
                (Arith::Add, left, right) => {
                    self.observable(left, factor);
                    self.observable(right, factor);
                }
                (Arith::Sub, left, right) => {
                    self.observable(left, factor);
                    self.observable(right, -factor);
                }
                (Arith::Mul, Observable::Int(number), other)
                | (Arith::Mul, other, Observable::Int(number)) => {
                    self.integers.push(number.unsigned_abs());
                    self.observable(other, factor.saturating_mul((*number).into()));
                }
                (op, left, right) => {
                    self.is_product |= *op == Arith::Mul;
                    if let (Arith::Mod, Observable::Int(number)) = (op, right) {
                        self.divisors.push(number.unsigned_abs());
                    }
                    self.inside(|inner| {
                        inner.observable(left, 1);
                        inner.observable(right, 1);
                    });
                }
            },
            _ => self.state = self.state.max(factor.unsigned_abs()),
        }
    }
}
