//! The reference evaluator: one state at a time, straight from the definitions.
//!
//! It decides replays, witnesses and everything the bit-parallel engine does not cover; the two are tested against each other.

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedNeg, CheckedSub};

use crate::law::syntax::{Op, Time};
use crate::law::{
    Arith, Cells, Claim, Condition, Formula, Observable, Pattern, Program, Symmetry, Term,
};
use crate::universe::{State, Symbol, Universe};

/// Why an expression has no value on a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A result that 64 bits do not hold.
    #[error("the result does not fit into 64 bits")]
    Overflow,
    /// `%` or `/` by zero.
    #[error("division by zero")]
    ZeroDivisor,
    /// `%` of a fraction.
    #[error("`%` of a fraction")]
    FractionModulo,
}

type Value<T> = Result<T, EvalError>;

/// The value of an observable on a state.
///
/// # Errors
/// [`EvalError`] on overflow or a zero divisor.
pub fn observe(observable: &Observable, state: &[Symbol], universe: &dyn Universe) -> Value<i64> {
    let n = state.len();
    let first = |symbol| {
        state
            .iter()
            .position(|&cell| cell == symbol)
            .map_or(-1, |cell| cell as i64)
    };
    let last = |symbol| {
        state
            .iter()
            .rposition(|&cell| cell == symbol)
            .map_or(-1, |cell| cell as i64)
    };
    Ok(match observable {
        Observable::Int(number) => *number,
        Observable::GridLength => n as i64,
        Observable::Count(pattern) => {
            (0..n).filter(|&cell| stands(pattern, state, cell)).count() as i64
        }
        Observable::Leftmost(symbol) => first(*symbol),
        Observable::Rightmost(symbol) => last(*symbol),
        Observable::Spread(symbol) => last(*symbol) - first(*symbol),
        Observable::MaxGap(symbol) => state
            .split(|cell| cell != symbol)
            .map(<[Symbol]>::len)
            .max()
            .unwrap_or(0) as i64,
        Observable::Incoming(symbol) => {
            let next = universe.step(state);
            (0..n).filter(|&cell| next[cell] == *symbol).count() as i64
        }
        Observable::Neg(inner) => observe(inner, state, universe)?
            .checked_neg()
            .ok_or(EvalError::Overflow)?,
        Observable::Bin(op, left, right) => arithmetic(
            *op,
            observe(left, state, universe)?,
            observe(right, state, universe)?,
        )?,
    })
}

fn stands(pattern: &Pattern, state: &[Symbol], cell: usize) -> bool {
    let n = state.len();
    let reach = pattern.at.last().map_or(0, |(offset, _)| *offset);
    let allowed = match pattern.cells {
        Cells::Ring => true,
        Cells::Parity(parity) => cell % 2 == usize::from(parity),
        Cells::Line => cell + reach < n,
    };
    allowed
        && pattern
            .at
            .iter()
            .all(|(offset, symbol)| state[(cell + offset) % n] == *symbol)
}

/// Checked arithmetic; `%` is floor modulo.
pub(crate) fn arithmetic(op: Arith, left: i64, right: i64) -> Value<i64> {
    let result = match op {
        Arith::Add => left.checked_add(right),
        Arith::Sub => left.checked_sub(right),
        Arith::Mul => left.checked_mul(right),
        Arith::Mod if right == 0 => return Err(EvalError::ZeroDivisor),
        // The sign of the divisor decides; `i64::MIN % -1` is 0, not an overflow.
        Arith::Mod => Some((i128::from(left).rem_euclid(i128::from(right))) as i64).map(|rest| {
            if right < 0 && rest != 0 {
                rest + right
            } else {
                rest
            }
        }),
    };
    result.ok_or(EvalError::Overflow)
}

/// The states of a run, made as they are asked for.
pub struct Run<'a> {
    universe: &'a dyn Universe,
    states: Vec<State>,
}

impl<'a> Run<'a> {
    /// A run from a start.
    pub fn new(universe: &'a dyn Universe, start: &[Symbol]) -> Self {
        Self {
            universe,
            states: vec![start.iter().copied().collect()],
        }
    }

    /// The state at a step.
    pub fn state(&mut self, step: u64) -> &State {
        let n = self.states[0].len();
        // A known period makes every state of the future one of the first.
        let step = self
            .universe
            .period_bound(n)
            .map_or(step, |period| step % period) as usize;
        while self.states.len() <= step {
            let next = self.universe.step(&self.states[self.states.len() - 1]);
            self.states.push(next);
        }
        &self.states[step]
    }
}

/// The value of a formula at step `t`, where `read` gives an observable's value at a time.
///
/// # Errors
/// [`EvalError`] from the parts that count.
pub fn holds(
    formula: &Formula,
    t: u64,
    read: &mut dyn FnMut(usize, Time) -> Value<i64>,
) -> Value<bool> {
    match formula {
        Formula::Cmp(op, left, right) => {
            if [left, right]
                .iter()
                .any(|term| term.any(&|term| matches!(term, Term::Bin(Op::Div, ..))))
            {
                Ok(op.compares(&fraction(left, t, read)?, &fraction(right, t, read)?))
            } else {
                Ok(op.compares(&integer(left, t, read)?, &integer(right, t, read)?))
            }
        }
        Formula::Not(inner) => holds(inner, t, read).map(|value| !value),
        Formula::And(left, right) => Ok(holds(left, t, read)? && holds(right, t, read)?),
        Formula::Or(left, right) => Ok(holds(left, t, read)? || holds(right, t, read)?),
        Formula::Implies(left, right) => Ok(!holds(left, t, read)? || holds(right, t, read)?),
    }
}

/// The step that a time names.
pub(crate) fn step_of(time: Time, t: u64) -> u64 {
    match time {
        Time::At(step) => step,
        Time::Now => t,
        Time::Next => t + 1,
    }
}

/// The value of a term without `/`.
///
/// # Errors
/// [`EvalError`] on overflow or a zero divisor.
pub fn integer(term: &Term, t: u64, read: &mut dyn FnMut(usize, Time) -> Value<i64>) -> Value<i64> {
    Ok(match term {
        Term::Int(number) => *number,
        Term::Step => t as i64,
        Term::Obs(index, time) => read(*index, *time)?,
        Term::Neg(inner) => integer(inner, t, read)?
            .checked_neg()
            .ok_or(EvalError::Overflow)?,
        Term::Bin(op, left, right) => {
            let (left, right) = (integer(left, t, read)?, integer(right, t, read)?);
            let op = match op {
                Op::Add => Arith::Add,
                Op::Sub => Arith::Sub,
                Op::Mul => Arith::Mul,
                _ => Arith::Mod,
            };
            arithmetic(op, left, right)?
        }
    })
}

/// The exact value of a term, as a fraction.
///
/// # Errors
/// [`EvalError`] on overflow, a zero divisor or `%` of a fraction.
pub fn fraction(
    term: &Term,
    t: u64,
    read: &mut dyn FnMut(usize, Time) -> Value<i64>,
) -> Value<Ratio<i64>> {
    let checked = |value: Option<Ratio<i64>>| value.ok_or(EvalError::Overflow);
    match term {
        Term::Int(_) | Term::Step | Term::Obs(..) => {
            integer(term, t, read).map(Ratio::from_integer)
        }
        Term::Neg(inner) => {
            let inner = fraction(inner, t, read)?;
            let numerator = CheckedNeg::checked_neg(inner.numer()).ok_or(EvalError::Overflow)?;
            Ok(Ratio::new_raw(numerator, *inner.denom()))
        }
        Term::Bin(op, left, right) => {
            let (left, right) = (fraction(left, t, read)?, fraction(right, t, read)?);
            match op {
                Op::Add => checked(left.checked_add(&right)),
                Op::Sub => checked(left.checked_sub(&right)),
                Op::Mul => checked(left.checked_mul(&right)),
                Op::Div if *right.numer() == 0 => Err(EvalError::ZeroDivisor),
                Op::Div => checked(left.checked_div(&right)),
                _ if !left.is_integer() || !right.is_integer() => Err(EvalError::FractionModulo),
                _ => arithmetic(Arith::Mod, left.to_integer(), right.to_integer())
                    .map(Ratio::from_integer),
            }
        }
    }
}

/// Whether a start meets the preconditions. One that fails decides, whatever the others are.
///
/// # Errors
/// [`EvalError`] from a condition that has no value, where no other fails.
pub fn admitted(
    conditions: &[Condition],
    start: &[Symbol],
    universe: &dyn Universe,
) -> Value<bool> {
    let mut outcome = Ok(true);
    for condition in conditions {
        let left = observe(&condition.left, start, universe);
        let right = observe(&condition.right, start, universe);
        match left.and_then(|left| Ok(condition.op.compares(&left, &right?))) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => outcome = outcome.and(Err(error)),
        }
    }
    outcome
}

/// What a law made of one start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Case {
    /// Whether the start meets the preconditions; nothing else is asked of one that does not.
    pub admitted: bool,
    /// The first t at which the claim fails.
    pub violation: Option<u64>,
    /// At how many t the antecedent held (each cell counts for `local_transition`); 0 where the law has none.
    pub triggers: u64,
    /// The first t without a value, and why.
    pub error: Option<(u64, EvalError)>,
}

/// The values of a program's observables along a run, each computed once.
struct Values<'a> {
    program: &'a Program,
    run: Run<'a>,
    /// By step, then by observable.
    known: Vec<Vec<Option<Value<i64>>>>,
}

impl Values<'_> {
    fn read(&mut self, index: usize, step: u64) -> Value<i64> {
        let universe = self.run.universe;
        let state = self.run.state(step);
        let row = step as usize;
        if self.known.len() <= row {
            self.known
                .resize(row + 1, vec![None; self.program.observables.len()]);
        }
        *self.known[row][index]
            .get_or_insert_with(|| observe(&self.program.observables[index], state, universe))
    }
}

/// How far a run is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Horizon {
    /// The last t that is asked (T, or less where the period makes the rest a repetition).
    pub t: u64,
    /// The window of `eventually`.
    pub window: u64,
}

impl Program {
    /// What the law makes of one start, watched up to a horizon.
    pub fn case(&self, universe: &dyn Universe, start: &[Symbol], horizon: Horizon) -> Case {
        let mut case = Case::default();
        match admitted(&self.preconditions, start, universe) {
            Err(error) => case.error = Some((0, error)),
            Ok(admitted) => case.admitted = admitted,
        }
        if !case.admitted {
            return case;
        }
        let mut values = Values {
            program: self,
            run: Run::new(universe, start),
            known: Vec::new(),
        };
        match &self.claim {
            Claim::Commutes(symmetry) => {
                case.violation = commutes(symmetry, &mut values.run, horizon);
            }
            Claim::Local { .. } => self.local(&mut values.run, horizon, &mut case),
            Claim::Always {
                antecedent,
                consequent,
                steps,
            } => {
                let last = if *steps {
                    horizon.t.saturating_sub(1)
                } else {
                    horizon.t
                };
                for t in 0..=last {
                    let mut read = |index, time| values.read(index, step_of(time, t));
                    let triggered = antecedent
                        .as_ref()
                        .map_or(Ok(true), |p| holds(p, t, &mut read));
                    case.triggers += u64::from(antecedent.is_some() && triggered == Ok(true));
                    match triggered
                        .and_then(|triggered| Ok(!triggered || holds(consequent, t, &mut read)?))
                    {
                        Ok(true) => {}
                        Ok(false) => case.violation = case.violation.or(Some(t)),
                        Err(error) => case.error = case.error.or(Some((t, error))),
                    }
                }
            }
            Claim::Eventually {
                antecedent,
                consequent,
                ..
            } => {
                let mut at = |formula: &Formula, t: u64| {
                    holds(formula, t, &mut |index, time| {
                        values.read(index, step_of(time, t))
                    })
                };
                for t0 in 0..=horizon.t {
                    let outcome = match at(antecedent, t0) {
                        Ok(false) => continue,
                        Err(error) => Err(error),
                        Ok(true) => {
                            case.triggers += 1;
                            // One state that makes it true is enough, whatever the others are.
                            let mut outcome = Ok(false);
                            for t in t0..=t0 + horizon.window {
                                match (at(consequent, t), outcome) {
                                    (Ok(true), _) => {
                                        outcome = Ok(true);
                                        break;
                                    }
                                    (Err(error), Ok(_)) => outcome = Err(error),
                                    _ => {}
                                }
                            }
                            outcome
                        }
                    };
                    match outcome {
                        Ok(true) => {}
                        Ok(false) => case.violation = case.violation.or(Some(t0)),
                        Err(error) => case.error = case.error.or(Some((t0, error))),
                    }
                }
            }
        }
        case
    }

    fn local(&self, run: &mut Run<'_>, horizon: Horizon, case: &mut Case) {
        let Claim::Local {
            trigger,
            pattern,
            parity,
            equal,
            result,
        } = &self.claim
        else {
            return;
        };
        for t in 0..horizon.t {
            let now = run.state(t).clone();
            let next = run.state(t + 1);
            let n = now.len();
            for cell in 0..n {
                let around = [now[(cell + n - 1) % n], now[cell], now[(cell + 1) % n]];
                let triggered = now[cell] == *trigger
                    && pattern.is_none_or(|pattern| pattern == around)
                    && parity.is_none_or(|parity| cell % 2 == usize::from(parity));
                if triggered {
                    case.triggers += 1;
                    if (next[cell] == *result) != *equal {
                        case.violation = case.violation.or(Some(t));
                    }
                }
            }
        }
    }
}

/// The first t at which a transform and the step, in either order, give different states.
fn commutes(symmetry: &Symmetry, run: &mut Run<'_>, horizon: Horizon) -> Option<u64> {
    let start = run.state(0).clone();
    let differs = |single: Symmetry| {
        let mut moved = Run::new(run.universe, &single.apply(&start));
        (0..=horizon.t).find(|&t| *moved.state(t) != single.apply(run.state(t)))
    };
    symmetry
        .each(start.len())
        .into_iter()
        .filter_map(differs)
        .min()
}
