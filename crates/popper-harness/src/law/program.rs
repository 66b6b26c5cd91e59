//! A law compiled for a universe: the program that the evaluators run.

use super::model::Template;
use super::syntax::{Op, Time};
use crate::universe::{Shift, State, Symbol, Transform};

/// An operator of integer arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arith {
    /// The sum `+`.
    Add,
    /// The difference `-`.
    Sub,
    /// The product `*`.
    Mul,
    /// The floor modulo `%`.
    Mod,
}

/// The cells at which a pattern may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cells {
    /// Every cell; the pattern wraps around the ring.
    Ring,
    /// The cells whose index is even (0) or odd (1).
    Parity(u8),
    /// The cells from which the pattern does not reach beyond the last cell.
    Line,
}

/// A pattern: symbols at given distances from a cell.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Pattern {
    /// The distances to the right, ascending from 0, with the symbol at each.
    pub at: Vec<(usize, Symbol)>,
    /// The cells at which it may begin.
    pub cells: Cells,
}

/// An observable: an integer read off one state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Observable {
    /// A constant.
    Int(i64),
    /// The number of cells.
    GridLength,
    /// The number of cells at which a pattern occurs.
    Count(Pattern),
    /// The first cell with a symbol, -1 if there is none.
    Leftmost(Symbol),
    /// The last cell with a symbol, -1 if there is none.
    Rightmost(Symbol),
    /// `rightmost - leftmost`, 0 if there is none.
    Spread(Symbol),
    /// The longest run of a symbol, without wrapping.
    MaxGap(Symbol),
    /// The number of cells that will hold this symbol one step later.
    Incoming(Symbol),
    /// The negative `-x`.
    Neg(Box<Observable>),
    /// An operation `x op y`.
    Bin(Arith, Box<Observable>, Box<Observable>),
}

impl Observable {
    /// Whether the observable depends on the length of the ring alone.
    pub fn is_static(&self) -> bool {
        match self {
            Self::Int(_) | Self::GridLength => true,
            Self::Neg(inner) => inner.is_static(),
            Self::Bin(_, left, right) => left.is_static() && right.is_static(),
            _ => false,
        }
    }

    /// Returns the number of nodes.
    pub fn size(&self) -> usize {
        1 + match self {
            Self::Neg(inner) => inner.size(),
            Self::Bin(_, left, right) => left.size() + right.size(),
            _ => 0,
        }
    }

    /// Whether the value is invariant under rotations of the ring.
    pub fn is_rotation_invariant(&self) -> bool {
        match self {
            Self::Int(_) | Self::GridLength | Self::Incoming(_) => true,
            Self::Count(pattern) => pattern.cells == Cells::Ring,
            Self::Neg(inner) => inner.is_rotation_invariant(),
            Self::Bin(_, left, right) => {
                left.is_rotation_invariant() && right.is_rotation_invariant()
            }
            Self::Leftmost(_) | Self::Rightmost(_) | Self::Spread(_) | Self::MaxGap(_) => false,
        }
    }
}

/// A number in a claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Term {
    /// A constant.
    Int(i64),
    /// The running step as a number.
    Step,
    /// An observable, by its index in [`Program::observables`], at a time.
    Obs(usize, Time),
    /// The negative `-x`.
    Neg(Box<Term>),
    /// An operation `x op y` with an arithmetic [`Op`]; `/` is exact.
    Bin(Op, Box<Term>, Box<Term>),
}

/// A truth value in a claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Formula {
    /// A comparison `x op y`.
    Cmp(Op, Term, Term),
    /// The negation `not p`.
    Not(Box<Formula>),
    /// The conjunction `p and q`; `q` is not evaluated where `p` is false.
    And(Box<Formula>, Box<Formula>),
    /// The disjunction `p or q`; `q` is not evaluated where `p` is true.
    Or(Box<Formula>, Box<Formula>),
    /// The implication `p -> q`; `q` is not evaluated where `p` is false.
    Implies(Box<Formula>, Box<Formula>),
}

/// A transform of a symmetry law.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symmetry {
    /// A transform of the universe.
    Named(Transform),
    /// A shift, or all shifts.
    Shift(Shift),
}

impl Symmetry {
    /// Returns the single transforms that the symmetry means on rings of `n` cells.
    pub fn each(&self, n: usize) -> Vec<Self> {
        match self {
            Self::Shift(Shift::Every) => (1..n as i64).map(|k| Self::Shift(Shift::By(k))).collect(),
            single => vec![single.clone()],
        }
    }

    /// Returns the image of a state; for all shifts, that of the shift by one cell, which generates them.
    pub fn apply(&self, state: &[Symbol]) -> State {
        match self {
            Self::Named(transform) => transform.apply(state),
            Self::Shift(Shift::By(k)) => Shift::apply(*k, state),
            Self::Shift(Shift::Every) => Shift::apply(1, state),
        }
    }
}

/// The claim of a law about the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// The claim `antecedent -> consequent` (or the consequent alone) at every t from 0 to T, or to T - 1.
    Always {
        /// The antecedent P, if the claim is an implication.
        antecedent: Option<Formula>,
        /// The consequent Q, or the whole claim.
        consequent: Formula,
        /// Whether t stops at T - 1, because the template or the claim looks one step ahead.
        steps: bool,
    },
    /// The claim `antecedent(t0) -> consequent(t)` for some t in t0..t0+window, for t0 = 0..T.
    Eventually {
        /// The antecedent P.
        antecedent: Formula,
        /// The consequent Q.
        consequent: Formula,
        /// The window H, in steps.
        window: u64,
    },
    /// The claim `step^t(F(s)) = F(step^t(s))` at every t from 0 to T.
    Commutes(Symmetry),
    /// The claim about the next symbol of every cell with a given symbol, for every t < T.
    Local(CellClaim),
}

/// A claim about the next symbol of every cell with a given symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CellClaim {
    /// The symbol of the cell.
    pub trigger: Symbol,
    /// The cell and its two neighbours.
    pub pattern: Option<[Symbol; 3]>,
    /// The parity of the cell's index.
    pub parity: Option<u8>,
    /// Whether the cell must become `result`; otherwise it must not.
    pub equal: bool,
    /// The symbol one step later.
    pub result: Symbol,
}

impl CellClaim {
    /// Returns whether the claim is about this cell of a ring.
    pub fn is_about(&self, ring: &[Symbol], cell: usize) -> bool {
        let n = ring.len();
        let around = [ring[(cell + n - 1) % n], ring[cell], ring[(cell + 1) % n]];
        ring[cell] == self.trigger
            && self.pattern.is_none_or(|pattern| pattern == around)
            && self
                .parity
                .is_none_or(|parity| cell % 2 == usize::from(parity))
    }

    /// Returns whether a cell that the claim is about may become this symbol.
    pub fn allows(&self, next: Symbol) -> bool {
        (next == self.result) == self.equal
    }
}

/// A condition on the initial state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Condition {
    /// The comparison.
    pub op: Op,
    /// The left side.
    pub left: Observable,
    /// The right side.
    pub right: Observable,
}

impl Condition {
    /// Whether the condition depends on the length of the ring alone.
    pub fn is_static(&self) -> bool {
        self.left.is_static() && self.right.is_static()
    }
}

/// A law compiled for a universe.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// The template of the law.
    pub template: Template,
    /// The distinct observables that the claim reads.
    pub observables: Vec<Observable>,
    /// Every declared observable by name, for witnesses.
    pub named: Vec<(String, Observable)>,
    /// The conditions on the initial state.
    pub preconditions: Vec<Condition>,
    /// The claim of the law.
    pub claim: Claim,
    /// The horizon T, in steps.
    pub horizon: u64,
}

impl Program {
    /// Whether a rotated start behaves like the start itself.
    pub fn is_rotation_invariant(&self) -> bool {
        let claim = match &self.claim {
            Claim::Local(claim) => claim.parity.is_none(),
            Claim::Commutes(_) => true,
            Claim::Always { .. } | Claim::Eventually { .. } => self
                .observables
                .iter()
                .all(Observable::is_rotation_invariant),
        };
        claim
            && self.preconditions.iter().all(|condition| {
                condition.left.is_rotation_invariant() && condition.right.is_rotation_invariant()
            })
    }

    /// Returns the formulas of the claim.
    pub fn formulas(&self) -> impl Iterator<Item = &Formula> {
        let (first, second) = match &self.claim {
            Claim::Always {
                antecedent,
                consequent,
                ..
            } => (antecedent.as_ref(), Some(consequent)),
            Claim::Eventually {
                antecedent,
                consequent,
                ..
            } => (Some(antecedent), Some(consequent)),
            Claim::Commutes(_) | Claim::Local { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Returns the latest fixed step that the claim names.
    pub fn latest_fixed_step(&self) -> u64 {
        let latest = std::cell::Cell::new(0);
        for formula in self.formulas() {
            formula.any_term(&|term| {
                if let Term::Obs(_, Time::At(step)) = term {
                    latest.set(latest.get().max(*step));
                }
                false
            });
        }
        latest.get()
    }

    /// Returns the fixed steps that the claim names, except 0.
    pub(crate) fn fixed_steps(&self) -> std::collections::BTreeSet<u64> {
        let steps = std::cell::RefCell::new(std::collections::BTreeSet::new());
        for formula in self.formulas() {
            formula.any_term(&|term| {
                if let Term::Obs(_, Time::At(step @ 1..)) = term {
                    steps.borrow_mut().insert(*step);
                }
                false
            });
        }
        steps.into_inner()
    }

    /// Returns the number of nodes of all expressions.
    pub fn size(&self) -> usize {
        let observables = self.observables.iter().map(Observable::size).sum::<usize>();
        let terms = std::cell::Cell::new(1);
        for formula in self.formulas() {
            formula.any_term(&|_| {
                terms.set(terms.get() + 1);
                false
            });
        }
        observables + terms.get()
    }

    /// Whether the claim uses t as a number, so that no two steps are equivalent.
    pub fn counts_time(&self) -> bool {
        self.formulas()
            .any(|formula| formula.any_term(&|term| matches!(term, Term::Step)))
    }
}

impl Formula {
    /// Whether some term of the formula passes the test.
    pub fn any_term(&self, test: &dyn Fn(&Term) -> bool) -> bool {
        match self {
            Self::Cmp(_, left, right) => left.any(test) || right.any(test),
            Self::Not(inner) => inner.any_term(test),
            Self::And(left, right) | Self::Or(left, right) | Self::Implies(left, right) => {
                left.any_term(test) || right.any_term(test)
            }
        }
    }
}

impl Term {
    /// Whether this term or one inside passes the test.
    pub fn any(&self, test: &dyn Fn(&Self) -> bool) -> bool {
        test(self)
            || match self {
                Self::Neg(inner) => inner.any(test),
                Self::Bin(_, left, right) => left.any(test) || right.any(test),
                Self::Int(_) | Self::Step | Self::Obs(..) => false,
            }
    }
}
