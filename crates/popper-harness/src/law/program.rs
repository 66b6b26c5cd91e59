//! A law resolved against a universe: what the engines run.

use super::model::Template;
use super::syntax::{Op, Time};
use crate::universe::{Shift, State, Symbol, Transform};

/// Integer arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arith {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `%`, floor modulo
    Mod,
}

/// The cells at which a pattern may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cells {
    /// Every cell, the pattern wraps round the ring.
    Ring,
    /// The cells whose index is even (0) or odd (1).
    Parity(u8),
    /// The cells from which the pattern does not reach over the end.
    Line,
}

/// Symbols that must stand at given distances from a cell.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// Distance to the right and the symbol there; distances ascend from 0.
    pub at: Vec<(usize, Symbol)>,
    /// Where it is looked for.
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
    /// At how many cells a pattern stands.
    Count(Pattern),
    /// The first cell with a symbol, -1 if there is none.
    Leftmost(Symbol),
    /// The last cell with a symbol, -1 if there is none.
    Rightmost(Symbol),
    /// `rightmost - leftmost`, 0 if there is none.
    Spread(Symbol),
    /// The longest run of a symbol, without wrapping.
    MaxGap(Symbol),
    /// How many cells will hold this symbol one step on.
    Incoming(Symbol),
    /// `-x`
    Neg(Box<Observable>),
    /// `x op y`
    Bin(Arith, Box<Observable>, Box<Observable>),
}

impl Observable {
    /// Whether it depends on the length of the ring alone.
    pub fn is_static(&self) -> bool {
        match self {
            Self::Int(_) | Self::GridLength => true,
            Self::Neg(inner) => inner.is_static(),
            Self::Bin(_, left, right) => left.is_static() && right.is_static(),
            _ => false,
        }
    }

    /// How many nodes it has.
    pub fn size(&self) -> usize {
        1 + match self {
            Self::Neg(inner) => inner.size(),
            Self::Bin(_, left, right) => left.size() + right.size(),
            _ => 0,
        }
    }

    /// Whether rotating the ring leaves the value alone.
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
    /// `-x`
    Neg(Box<Term>),
    /// `x op y` with an arithmetic [`Op`]; `/` is exact.
    Bin(Op, Box<Term>, Box<Term>),
}

/// A truth value in a claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Formula {
    /// `x op y` with a comparing [`Op`].
    Cmp(Op, Term, Term),
    /// `not p`
    Not(Box<Formula>),
    /// `p and q`; `q` is not asked where `p` fails.
    And(Box<Formula>, Box<Formula>),
    /// `p or q`; `q` is not asked where `p` holds.
    Or(Box<Formula>, Box<Formula>),
    /// `p -> q`; `q` is not asked where `p` fails.
    Implies(Box<Formula>, Box<Formula>),
}

/// A transform of a symmetry law.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symmetry {
    /// One of the universe's own.
    Named(Transform),
    /// A shift, or all of them.
    Shift(Shift),
}

impl Symmetry {
    /// The single transforms that it stands for on rings of `n` cells.
    pub fn each(&self, n: usize) -> Vec<Self> {
        match self {
            Self::Shift(Shift::Every) => (1..n as i64).map(|k| Self::Shift(Shift::By(k))).collect(),
            single => vec![single.clone()],
        }
    }

    /// The image of a state; for every shift, the one by a cell, which generates them all.
    pub fn apply(&self, state: &[Symbol]) -> State {
        match self {
            Self::Named(transform) => transform.apply(state),
            Self::Shift(Shift::By(k)) => Shift::apply(*k, state),
            Self::Shift(Shift::Every) => Shift::apply(1, state),
        }
    }
}

/// What a law says of the runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// `antecedent -> consequent` (or the consequent alone) at every t from 0 to T, or to T - 1.
    Always {
        /// What must hold before the rest is asked.
        antecedent: Option<Formula>,
        /// What must then hold.
        consequent: Formula,
        /// Whether t stops at T - 1, because the template or the claim looks one step ahead.
        steps: bool,
    },
    /// For t0 = 0..T: `antecedent(t0) -> consequent(t)` for some t in t0..t0+window.
    Eventually {
        /// P
        antecedent: Formula,
        /// Q
        consequent: Formula,
        /// H
        window: u64,
    },
    /// `step^t(F(s)) = F(step^t(s))` at every t from 0 to T.
    Commutes(Symmetry),
    /// What becomes of the cells with one symbol from every t < T.
    Local {
        /// The symbol of the cell.
        trigger: Symbol,
        /// The cell and its two neighbours.
        pattern: Option<[Symbol; 3]>,
        /// The parity of the cell's index.
        parity: Option<u8>,
        /// Whether the cell must become `result`, or must not.
        equal: bool,
        /// The symbol one step on.
        result: Symbol,
    },
}

/// A condition on the initial state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// A comparing [`Op`].
    pub op: Op,
    /// The left side.
    pub left: Observable,
    /// The right side.
    pub right: Observable,
}

impl Condition {
    /// Whether it speaks of the length of the ring alone.
    pub fn is_static(&self) -> bool {
        self.left.is_static() && self.right.is_static()
    }
}

/// A law resolved against a universe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The shape it was written in.
    pub template: Template,
    /// The distinct observables that the claim reads.
    pub observables: Vec<Observable>,
    /// Every declared observable by name, for witnesses.
    pub named: Vec<(String, Observable)>,
    /// What the initial state must satisfy.
    pub preconditions: Vec<Condition>,
    /// What is claimed.
    pub claim: Claim,
    /// T
    pub horizon: u64,
}

impl Program {
    /// Whether a rotated start behaves like the start itself.
    pub fn is_rotation_invariant(&self) -> bool {
        let claim = match &self.claim {
            Claim::Local { parity, .. } => parity.is_none(),
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

    /// The formulas of the claim.
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

    /// The latest fixed step that the claim names.
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

    /// The steps that the claim names, 0 left out.
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

    /// How many nodes its expressions have.
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

    /// Whether the claim uses t as a number, so that no two steps are alike.
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
