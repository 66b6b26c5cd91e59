//! Linear forms: sums of local pattern counts, with other observables as opaque variables.

use std::collections::BTreeMap;

use crate::law::syntax::{Op, Time};
use crate::law::{Arith, Cells, Claim, Observable, Pattern, Program, Term};
use crate::universe::Symbol;

/// The ring size up to which evaluation is shown to stay within 64 bits.
///
/// It is 16 times the largest ring that a law may ask for ([`MAX_RING`](crate::law::MAX_RING)), so that no run of the harness
/// overflows.
const SAFE_RING: i128 = 1 << 16;
/// The bound on the values of an expression on such a ring.
const SAFE_VALUE: i128 = 1 << 62;

/// The step at which a state is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TimeIndex {
    /// Whether steps are counted from the start of the run rather than from the running step.
    pub start: bool,
    /// The number of steps later.
    pub delay: u64,
}

/// A variable of a linear form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Var {
    /// The number of cells: 1 for each cell.
    Length,
    /// The number of cells of the ring at which a pattern occurs; distances ascend from 0.
    Cells {
        moment: TimeIndex,
        at: Vec<(usize, Symbol)>,
    },
    /// An observable that depends on where the ring is cut into a line.
    Line {
        moment: TimeIndex,
        observable: LineObservable,
    },
    /// A product of two forms, the smaller first.
    Product(Form, Form),
    /// The floor modulo by a constant other than 0.
    Modulo(Form, i64),
}

/// An observable of the line of cells from the first to the last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineObservable {
    /// The number of even cells at which a pattern of the ring begins.
    Even(Vec<(usize, Symbol)>),
    /// The number of cells at which a pattern occurs that does not reach beyond the last cell.
    Inside(Vec<(usize, Symbol)>),
    /// The first cell with a symbol, -1 if there is none.
    Leftmost(Symbol),
    /// The last cell with a symbol, -1 if there is none.
    Rightmost(Symbol),
    /// The distance between these two, 0 if there are none.
    Spread(Symbol),
    /// The longest run of a symbol.
    MaxGap(Symbol),
}

impl LineObservable {
    /// Returns the least value.
    pub fn least(&self) -> i64 {
        match self {
            Self::Leftmost(_) | Self::Rightmost(_) => -1,
            _ => 0,
        }
    }

    /// Returns a local form that is nowhere less.
    fn most(&self, moment: TimeIndex) -> Option<Form> {
        let cells = |at: &[(usize, Symbol)]| {
            let at = at.to_vec();
            Some(Form::var(Var::Cells { moment, at }))
        };
        match self {
            Self::Even(at) | Self::Inside(at) => cells(at),
            Self::MaxGap(symbol) => cells(&[(0, *symbol)]),
            Self::Leftmost(_) | Self::Rightmost(_) | Self::Spread(_) => {
                Form::var(Var::Length).add(-1, &Form::constant(1))
            }
        }
    }
}

/// A sum of variables with integer coefficients, and a constant.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    /// The coefficients by variable; no coefficient is 0.
    pub terms: BTreeMap<Var, i64>,
    pub constant: i64,
}

impl Form {
    pub fn constant(constant: i64) -> Self {
        Self {
            terms: BTreeMap::new(),
            constant,
        }
    }

    pub fn var(var: Var) -> Self {
        Self {
            terms: BTreeMap::from([(var, 1)]),
            constant: 0,
        }
    }

    /// Adds `factor * other`; `None` where 64 bits do not hold a coefficient.
    pub fn add(mut self, factor: i64, other: &Self) -> Option<Self> {
        let sum = |left: i64, right: i64| left.checked_add(factor.checked_mul(right)?);
        self.constant = sum(self.constant, other.constant)?;
        for (var, &coefficient) in &other.terms {
            let entry = self.terms.entry(var.clone()).or_default();
            *entry = sum(*entry, coefficient)?;
            if *entry == 0 {
                self.terms.remove(var);
            }
        }
        Some(self)
    }

    /// Whether no variable is left.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether every variable is a sum over the cells of the ring.
    pub fn is_local(&self) -> bool {
        self.terms
            .keys()
            .all(|var| matches!(var, Var::Length | Var::Cells { .. }))
    }

    /// Returns the variables that pass the test, without the constant.
    pub fn part(&self, test: impl Fn(&Var) -> bool) -> Self {
        Self {
            terms: self
                .terms
                .iter()
                .filter(|(var, _)| test(var))
                .map(|(var, &coefficient)| (var.clone(), coefficient))
                .collect(),
            constant: 0,
        }
    }

    /// Returns the form with every time index replaced.
    pub fn moved(&self, moment: &impl Fn(TimeIndex) -> TimeIndex) -> Self {
        let mut moved = Self::constant(self.constant);
        for (var, &coefficient) in &self.terms {
            let var = match var {
                Var::Length => Var::Length,
                Var::Cells { moment: old, at } => Var::Cells {
                    moment: moment(*old),
                    at: at.clone(),
                },
                Var::Line {
                    moment: old,
                    observable,
                } => Var::Line {
                    moment: moment(*old),
                    observable: observable.clone(),
                },
                Var::Product(left, right) => product(left.moved(moment), right.moved(moment)),
                Var::Modulo(inner, divisor) => Var::Modulo(inner.moved(moment), *divisor),
            };
            // Two variables can become one. No overflow: `cannot_fail` keeps a law's coefficients below 2^46.
            *moved.terms.entry(var).or_default() += coefficient;
        }
        moved.terms.retain(|_, coefficient| *coefficient != 0);
        moved
    }

    /// Returns the least delay of a variable read at the running step or later, products and remainders included.
    pub fn least_delay(&self) -> Option<u64> {
        self.terms
            .keys()
            .filter_map(|var| match var {
                Var::Cells { moment, .. } | Var::Line { moment, .. } => {
                    (!moment.start).then_some(moment.delay)
                }
                Var::Product(left, right) => left
                    .least_delay()
                    .into_iter()
                    .chain(right.least_delay())
                    .min(),
                Var::Modulo(inner, _) => inner.least_delay(),
                Var::Length => None,
            })
            .min()
    }

    /// Whether a variable is read at the start or a step later, or if not `start`, at the running step or later.
    pub fn reads(&self, start: bool) -> bool {
        self.terms.keys().any(|var| match var {
            Var::Length => false,
            Var::Cells { moment, .. } | Var::Line { moment, .. } => moment.start == start,
            Var::Product(left, right) => left.reads(start) || right.reads(start),
            Var::Modulo(inner, _) => inner.reads(start),
        })
    }

    /// Returns the part read at the running step and later (with the length of the ring) and the part read at the start, both
    /// without the constant.
    pub fn by_time(&self) -> (Self, Self) {
        let at_start = |var: &Var| matches!(var, Var::Cells { moment, .. } if moment.start);
        (self.part(|var| !at_start(var)), self.part(at_start))
    }

    /// Splits the form into the part read at the running step and later (with the length of the ring) and the part read at the
    /// start.
    ///
    /// Every state of a run is the running one at some step, so the first part may be moved to begin at the running step.
    pub fn split(&self) -> (Self, Self) {
        let (now, start) = self.by_time();
        let early = now.least_delay().unwrap_or(0);
        let now = now.moved(&|moment| TimeIndex {
            delay: moment.delay - if moment.start { 0 } else { early },
            ..moment
        });
        (now, start)
    }

    /// Returns the form read `delay` steps later.
    pub fn later(&self, delay: u64) -> Self {
        self.moved(&|moment| TimeIndex {
            delay: moment.delay + if moment.start { 0 } else { delay },
            ..moment
        })
    }

    /// Returns the form with everything read at the start instead of the running step, or the other way round.
    pub fn anchored(&self, start: bool) -> Self {
        self.moved(&|moment| TimeIndex { start, ..moment })
    }

    /// Returns a local form that is nowhere less: other variables are replaced by their largest value.
    ///
    /// Variables with a negative coefficient are replaced by their least value. `None` if a product has no such bound.
    pub fn relaxed(&self) -> Option<Self> {
        let mut relaxed = Self::constant(self.constant);
        for (var, &coefficient) in &self.terms {
            relaxed = relaxed.add(coefficient, &var.bound(coefficient > 0)?)?;
        }
        Some(relaxed)
    }

    /// Whether the signs show that the form is never negative.
    fn is_natural(&self) -> bool {
        let natural = |(var, coefficient): (&Var, &i64)| {
            let floor = || {
                var.bound(false)
                    .map(|floor| floor.is_constant() && floor.constant >= 0)
            };
            *coefficient > 0
                && (matches!(var, Var::Length | Var::Cells { .. }) || floor() == Some(true))
        };
        self.constant >= 0 && self.terms.iter().all(natural)
    }

    /// Returns the width of the windows that decide a local form's density.
    ///
    /// A cell `d` steps later needs `radius * d` cells on either side.
    pub fn width(&self, radius: usize) -> Option<usize> {
        self.terms.keys().try_fold(1, |widest: usize, var| {
            let width = match var {
                Var::Cells { moment, at } => {
                    let reach = at.last().map_or(0, |(offset, _)| offset + 1);
                    usize::try_from(moment.delay)
                        .ok()?
                        .checked_mul(2 * radius)?
                        .checked_add(reach)?
                }
                _ => 0,
            };
            Some(widest.max(width))
        })
    }
}

impl Var {
    /// Returns a local form that is nowhere less than the variable (or nowhere more).
    fn bound(&self, above: bool) -> Option<Form> {
        match self {
            Self::Length | Self::Cells { .. } => Some(Form::var(self.clone())),
            Self::Line { observable, .. } if !above => Some(Form::constant(observable.least())),
            Self::Line { moment, observable } => observable.most(*moment),
            // Floor modulo has the sign of the divisor.
            Self::Modulo(_, divisor) => Some(Form::constant(match (above, *divisor > 0) {
                (true, true) => divisor - 1,
                (false, false) => divisor + 1,
                _ => 0,
            })),
            Self::Product(left, right) => {
                let natural = left == right || left.is_natural() && right.is_natural();
                (natural && !above).then(Form::default)
            }
        }
    }
}

fn product(left: Form, right: Form) -> Var {
    if left <= right {
        Var::Product(left, right)
    } else {
        Var::Product(right, left)
    }
}

/// Returns the form of an observable of a state; `None` if it may have no value.
pub(super) fn of_observable(observable: &Observable, moment: TimeIndex) -> Option<Form> {
    let line = |observable| Some(Form::var(Var::Line { moment, observable }));
    let ring = |at: &[(usize, Symbol)]| {
        Form::var(Var::Cells {
            moment,
            at: at.to_vec(),
        })
    };
    match observable {
        Observable::Int(number) => Some(Form::constant(*number)),
        Observable::GridLength => Some(Form::var(Var::Length)),
        Observable::Count(pattern) => match pattern.cells {
            Cells::Ring => Some(ring(&pattern.at)),
            // What is not odd is even.
            Cells::Parity(1) => {
                let even = Observable::Count(Pattern {
                    cells: Cells::Parity(0),
                    ..pattern.clone()
                });
                ring(&pattern.at).add(-1, &of_observable(&even, moment)?)
            }
            Cells::Parity(_) => line(LineObservable::Even(pattern.at.clone())),
            Cells::Line => line(LineObservable::Inside(pattern.at.clone())),
        },
        Observable::Leftmost(symbol) => line(LineObservable::Leftmost(*symbol)),
        Observable::Rightmost(symbol) => line(LineObservable::Rightmost(*symbol)),
        Observable::Spread(symbol) => line(LineObservable::Spread(*symbol)),
        Observable::MaxGap(symbol) => line(LineObservable::MaxGap(*symbol)),
        // What will stand there one step on is what stands there one step on.
        Observable::Incoming(symbol) => Some(Form::var(Var::Cells {
            moment: TimeIndex {
                delay: moment.delay + 1,
                ..moment
            },
            at: vec![(0, *symbol)],
        })),
        Observable::Neg(inner) => Form::default().add(-1, &of_observable(inner, moment)?),
        Observable::Bin(op, left, right) => binary(
            *op,
            of_observable(left, moment)?,
            of_observable(right, moment)?,
        ),
    }
}

fn binary(op: Arith, left: Form, right: Form) -> Option<Form> {
    match op {
        Arith::Add => left.add(1, &right),
        Arith::Sub => left.add(-1, &right),
        Arith::Mul if left.is_constant() => Form::default().add(left.constant, &right),
        Arith::Mul if right.is_constant() => Form::default().add(right.constant, &left),
        Arith::Mul => Some(Form::var(product(left, right))),
        Arith::Mod if !right.is_constant() || right.constant == 0 => None,
        Arith::Mod if left.is_constant() => {
            crate::law::evaluate::arithmetic(Arith::Mod, left.constant, right.constant)
                .ok()
                .map(Form::constant)
        }
        Arith::Mod => Some(Form::var(Var::Modulo(left, right.constant))),
    }
}

/// Returns the form of a number in a claim, read `delay` steps after the running one.
///
/// `None` if it may have no value or is not supported: a fixed step other than 0, `/`, or the step as a number.
pub(super) fn of_term(term: &Term, observables: &[Observable], delay: u64) -> Option<Form> {
    match term {
        Term::Int(number) => Some(Form::constant(*number)),
        Term::Step => None,
        Term::Obs(index, time) => {
            let moment = match time {
                Time::At(0) => TimeIndex {
                    start: true,
                    delay: 0,
                },
                Time::At(_) => return None,
                Time::Now => TimeIndex {
                    start: false,
                    delay,
                },
                Time::Next => TimeIndex {
                    start: false,
                    delay: delay + 1,
                },
            };
            of_observable(observables.get(*index)?, moment)
        }
        Term::Neg(inner) => Form::default().add(-1, &of_term(inner, observables, delay)?),
        Term::Bin(op, left, right) => {
            let op = match op {
                Op::Add => Arith::Add,
                Op::Sub => Arith::Sub,
                Op::Mul => Arith::Mul,
                Op::Mod => Arith::Mod,
                _ => return None,
            };
            binary(
                op,
                of_term(left, observables, delay)?,
                of_term(right, observables, delay)?,
            )
        }
    }
}

/// Whether every expression of the law has a value on rings of up to [`SAFE_RING`] cells.
///
/// Every divisor must be a constant other than 0, and every value of every part of an expression must fit into 64 bits.
pub(super) fn cannot_fail(program: &Program) -> bool {
    let observable = |observable: &Observable| observable_size(observable).is_some();
    let term = |term: &Term| term_size(term, &program.observables).is_some();
    let conditions = program
        .preconditions
        .iter()
        .all(|condition| observable(&condition.left) && observable(&condition.right));
    let claim = match &program.claim {
        Claim::Commutes(_) | Claim::Local { .. } => true,
        Claim::Always { .. } | Claim::Eventually { .. } => program
            .formulas()
            .all(|formula| !formula.any_term(&|part| !term(part))),
    };
    conditions && claim
}

fn bounded(size: i128) -> Option<i128> {
    (size < SAFE_VALUE).then_some(size)
}

fn size_of(op: Arith, left: i128, right: i128) -> Option<i128> {
    match op {
        Arith::Add | Arith::Sub => bounded(left + right),
        Arith::Mul => bounded(left.checked_mul(right)?),
        Arith::Mod => Some(right),
    }
}

/// Returns a bound on the absolute value of an observable, if there is one that fits.
fn observable_size(observable: &Observable) -> Option<i128> {
    match observable {
        Observable::Int(number) => bounded(i128::from(*number).abs()),
        Observable::Neg(inner) => observable_size(inner),
        Observable::Bin(op, left, right) => {
            let size = size_of(*op, observable_size(left)?, observable_size(right)?);
            let now = TimeIndex {
                start: false,
                delay: 0,
            };
            // Only a constant is known not to be 0.
            if *op == Arith::Mod {
                let divisor = of_observable(right, now)?;
                (divisor.is_constant() && divisor.constant != 0).then_some(())?;
            }
            size
        }
        _ => Some(SAFE_RING),
    }
}

fn term_size(term: &Term, observables: &[Observable]) -> Option<i128> {
    match term {
        Term::Int(number) => bounded(i128::from(*number).abs()),
        // Horizons are at most 1e9.
        Term::Step => Some(i128::from(crate::law::MAX_STEPS)),
        Term::Obs(index, _) => observable_size(observables.get(*index)?),
        Term::Neg(inner) => term_size(inner, observables),
        Term::Bin(op, left, right) => {
            let (left, divisor) = (term_size(left, observables)?, right);
            let right = term_size(right, observables)?;
            match op {
                Op::Add | Op::Sub => size_of(Arith::Add, left, right),
                Op::Mul => size_of(Arith::Mul, left, right),
                Op::Mod => {
                    let divisor = of_term(divisor, observables, 0)?;
                    (divisor.is_constant() && divisor.constant != 0).then_some(right)
                }
                _ => None,
            }
        }
    }
}
