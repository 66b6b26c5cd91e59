//! The reference evaluator, which follows the definitions one state at a time.
//!
//! It derives counterexamples and witnesses, and evaluates laws that the bit-parallel engine does not cover. The two
//! evaluators are tested against each other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedNeg, CheckedSub};

use super::program::{
    Arith, Cells, Claim, Condition, Formula, Observable, Pattern, Program, Symmetry, Term,
};
use super::syntax::{Op, Time};
use crate::universe::{State, Symbol, Tabulated};

/// A reason why an expression has no value on a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The result does not fit into 64 bits.
    #[error("the result does not fit into 64 bits")]
    Overflow,
    /// The divisor of `%` or `/` is zero.
    #[error("division by zero")]
    ZeroDivisor,
    /// The left side of `%` is a fraction.
    #[error("`%` of a fraction")]
    FractionModulo,
}

type Evaluated<T> = Result<T, EvalError>;

/// Returns the value of an observable on a state.
///
/// # Errors
/// [`EvalError`] on overflow or a zero divisor.
pub fn observe(observable: &Observable, state: &[Symbol], universe: &Tabulated) -> Evaluated<i64> {
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
        Observable::Count(pattern) => (0..n)
            .filter(|&cell| matches_at(pattern, state, cell))
            .count() as i64,
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

/// Whether a pattern occurs at a cell.
fn matches_at(pattern: &Pattern, state: &[Symbol], cell: usize) -> bool {
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

/// Computes with overflow checks; `%` is floor modulo.
pub(crate) fn arithmetic(op: Arith, left: i64, right: i64) -> Evaluated<i64> {
    let result = match op {
        Arith::Add => left.checked_add(right),
        Arith::Sub => left.checked_sub(right),
        Arith::Mul => left.checked_mul(right),
        Arith::Mod if right == 0 => return Err(EvalError::ZeroDivisor),
        // The result has the sign of the divisor; `i64::MIN % -1` is 0, not an overflow.
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

/// A run. The start, fixed steps and two neighbouring states are in memory.
pub struct Trajectory<'a> {
    universe: &'a Tabulated,
    period: Option<u64>,
    start: State,
    fixed: Vec<(u64, State)>,
    /// The step of the state `now`.
    at: u64,
    now: State,
    next: Option<State>,
}

impl<'a> Trajectory<'a> {
    /// Begins a run at a start.
    pub fn new(universe: &'a Tabulated, start: &[Symbol]) -> Self {
        let start: State = start.iter().copied().collect();
        Self {
            universe,
            period: universe.period_bound(start.len()),
            now: start.clone(),
            start,
            fixed: Vec::new(),
            at: 0,
            next: None,
        }
    }

    /// Returns the same run, which keeps the states at the given steps.
    #[must_use]
    pub fn keeping(mut self, steps: &BTreeSet<u64>) -> Self {
        let reduced: BTreeSet<u64> = steps.iter().map(|&step| self.reduced(step)).collect();
        let (mut at, mut state) = (0, self.start.clone());
        for step in reduced {
            state = self.universe.evolve(&state, step - at);
            at = step;
            self.fixed.push((step, state.clone()));
        }
        self
    }

    /// Reduces a step by the period, if one is known.
    fn reduced(&self, step: u64) -> u64 {
        self.period.map_or(step, |period| step % period)
    }

    /// Returns the state at a step. A step before the last two requested ones is computed again from the start.
    pub fn state(&mut self, step: u64) -> &State {
        let step = self.reduced(step);
        if step == 0 {
            return &self.start;
        }
        if let Some(place) = self.fixed.iter().position(|(fixed, _)| *fixed == step) {
            return &self.fixed[place].1;
        }
        if step < self.at {
            (self.at, self.next) = (0, None);
            self.now.clone_from(&self.start);
        }
        if step == self.at {
            return &self.now;
        }
        if step > self.at + 1 {
            let (from, at) = match self.next.take() {
                Some(next) => (next, self.at + 1),
                None => (self.now.clone(), self.at),
            };
            self.now = self.universe.evolve(&from, step - 1 - at);
            self.at = step - 1;
        }
        self.next
            .get_or_insert_with(|| self.universe.step(&self.now))
    }
}

/// Returns the value of a formula at step `t`, where `read` returns an observable's value at a time.
///
/// # Errors
/// [`EvalError`] from the parts that decide the value.
pub fn holds(
    formula: &Formula,
    t: u64,
    read: &mut dyn FnMut(usize, Time) -> Evaluated<i64>,
) -> Evaluated<bool> {
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

/// Returns the step that a time names.
pub(crate) fn step_of(time: Time, t: u64) -> u64 {
    match time {
        Time::At(step) => step,
        Time::Now => t,
        Time::Next => t + 1,
    }
}

/// Returns the value of a term without `/`.
///
/// # Errors
/// [`EvalError`] on overflow or a zero divisor.
pub fn integer(
    term: &Term,
    t: u64,
    read: &mut dyn FnMut(usize, Time) -> Evaluated<i64>,
) -> Evaluated<i64> {
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

/// Returns the exact value of a term, as a fraction.
///
/// # Errors
/// [`EvalError`] on overflow, a zero divisor or `%` of a fraction.
pub fn fraction(
    term: &Term,
    t: u64,
    read: &mut dyn FnMut(usize, Time) -> Evaluated<i64>,
) -> Evaluated<Ratio<i64>> {
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

/// Whether a start meets the preconditions. A condition that fails decides, even if another has no value.
///
/// # Errors
/// [`EvalError`] from a condition that has no value, where no other fails.
pub fn admitted(
    conditions: &[Condition],
    start: &[Symbol],
    universe: &Tabulated,
) -> Evaluated<bool> {
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

/// The result of a law on one start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Case {
    /// Whether the start meets the preconditions; if not, the claim is not evaluated.
    pub admitted: bool,
    /// The first t at which the claim fails.
    pub violation: Option<u64>,
    /// The number of t at which the antecedent held (each cell counts for `local_transition`); 0 without an antecedent.
    pub triggers: u64,
    /// The first t without a value, with the reason.
    pub error: Option<(u64, EvalError)>,
}

impl Case {
    /// Evaluates the law on one start up to a horizon.
    pub fn new(
        program: &Program,
        universe: &Tabulated,
        start: &[Symbol],
        horizon: Horizon,
    ) -> Self {
        let mut case = Self::default();
        match admitted(&program.preconditions, start, universe) {
            Err(error) => case.error = Some((0, error)),
            Ok(admitted) => case.admitted = admitted,
        }
        if !case.admitted {
            return case;
        }
        let mut values = RunValues::new(program, universe, start);
        match &program.claim {
            Claim::Commutes(symmetry) => {
                case.violation = commutes(symmetry, universe, start, horizon);
            }
            Claim::Local { .. } => local(program, &mut values.run, horizon, &mut case),
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
                    values.reach(t);
                    let triggered = antecedent.as_ref().map_or(Ok(true), |p| values.holds(p, t));
                    case.triggers += u64::from(antecedent.is_some() && triggered == Ok(true));
                    match triggered
                        .and_then(|triggered| Ok(!triggered || values.holds(consequent, t)?))
                    {
                        Ok(true) => {}
                        Ok(false) => case.violation = case.violation.or(Some(t)),
                        Err(error) => case.fail(t, error),
                    }
                }
            }
            Claim::Eventually {
                antecedent,
                consequent,
                ..
            } => eventually(&mut values, antecedent, consequent, horizon, &mut case),
        }
        case
    }

    /// Records a step without a value, if it is the earliest one.
    fn fail(&mut self, t: u64, error: EvalError) {
        if self.error.is_none_or(|(first, _)| t < first) {
            self.error = Some((t, error));
        }
    }
}

/// The values of a program's observables along a run, each computed once while its step is near.
struct RunValues<'a> {
    program: &'a Program,
    run: Trajectory<'a>,
    fixed: BTreeSet<u64>,
    /// The values by step, then by observable.
    known: BTreeMap<u64, Vec<Option<Evaluated<i64>>>>,
}

impl<'a> RunValues<'a> {
    fn new(program: &'a Program, universe: &'a Tabulated, start: &[Symbol]) -> Self {
        let fixed = program.fixed_steps();
        Self {
            program,
            run: Trajectory::new(universe, start).keeping(&fixed),
            fixed,
            known: BTreeMap::new(),
        }
    }

    /// Advances to a step and forgets earlier values, except those of fixed steps.
    fn reach(&mut self, t: u64) {
        let fixed = &self.fixed;
        self.known
            .retain(|step, _| *step >= t || fixed.contains(step));
    }

    fn read(&mut self, index: usize, step: u64) -> Evaluated<i64> {
        let program = self.program;
        let row = self
            .known
            .entry(step)
            .or_insert_with(|| vec![None; program.observables.len()]);
        let (universe, run) = (self.run.universe, &mut self.run);
        *row[index]
            .get_or_insert_with(|| observe(&program.observables[index], run.state(step), universe))
    }

    /// Whether a formula holds at a step.
    fn holds(&mut self, formula: &Formula, t: u64) -> Evaluated<bool> {
        holds(formula, t, &mut |index, time| {
            self.read(index, step_of(time, t))
        })
    }
}

/// The length up to which a run is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a length and a window")]
pub struct Horizon {
    /// The last t at which the claim is evaluated: T, or less where the period makes the rest a repetition.
    pub t: u64,
    /// The window of `eventually`, in steps.
    pub window: u64,
}

/// Evaluates a local transition on every cell.
fn local(program: &Program, run: &mut Trajectory<'_>, horizon: Horizon, case: &mut Case) {
    let Claim::Local(claim) = &program.claim else {
        return;
    };
    for t in 0..horizon.t {
        let now = run.state(t).clone();
        let next = run.state(t + 1);
        for cell in 0..now.len() {
            if claim.is_about(&now, cell) {
                case.triggers += 1;
                if !claim.allows(next[cell]) {
                    case.violation = case.violation.or(Some(t));
                }
            }
        }
    }
}

/// Evaluates an `eventually` in one pass: each t0 at which the antecedent holds waits for the consequent.
fn eventually(
    values: &mut RunValues<'_>,
    antecedent: &Formula,
    consequent: &Formula,
    horizon: Horizon,
    case: &mut Case,
) {
    let mut waiting: VecDeque<u64> = VecDeque::new();
    let mut failed: VecDeque<(u64, EvalError)> = VecDeque::new();
    for t in 0..=horizon.t.saturating_add(horizon.window) {
        values.reach(t);
        if t <= horizon.t {
            match values.holds(antecedent, t) {
                Ok(false) => {}
                Ok(true) => {
                    case.triggers += 1;
                    waiting.push_back(t);
                }
                Err(error) => case.fail(t, error),
            }
        }
        if waiting.is_empty() {
            continue;
        }
        match values.holds(consequent, t) {
            // One state that satisfies the consequent is enough.
            Ok(true) => {
                waiting.clear();
                failed.clear();
            }
            Ok(false) => {}
            Err(error) => failed.push_back((t, error)),
        }
        if let Some(t0) = waiting.pop_front_if(|t0| *t0 + horizon.window == t) {
            while failed.pop_front_if(|(step, _)| *step < t0).is_some() {}
            match failed.front() {
                None => case.violation = case.violation.or(Some(t0)),
                Some(&(_, error)) => case.fail(t0, error),
            }
        }
    }
}

/// Returns the first t at which a transform does not commute with t steps.
fn commutes(
    symmetry: &Symmetry,
    universe: &Tabulated,
    start: &[Symbol],
    horizon: Horizon,
) -> Option<u64> {
    let differs = |single: Symmetry| {
        let mut run = Trajectory::new(universe, start);
        let mut moved = Trajectory::new(universe, &single.apply(start));
        (0..=horizon.t).find(|&t| *moved.state(t) != single.apply(run.state(t)))
    };
    symmetry
        .each(start.len())
        .into_iter()
        .filter_map(differs)
        .min()
}

#[cfg(test)]
mod tests {
    use super::Trajectory;
    use crate::universe::{KineticGrid, Tabulated, random_universe};

    #[test]
    fn a_run_has_the_states_of_evolve_in_any_order() {
        let table = random_universe(3);
        let universes: [&Tabulated; 2] = [&KineticGrid, &table];
        for universe in universes {
            let start = [0, 1, 0, 2, 1, 0, 0, 2, 2, 1, 0];
            let mut run = Trajectory::new(universe, &start).keeping(&[5, 13, 40].into());
            for step in [
                0, 1, 2, 2, 1, 5, 3, 13, 4, 9, 10, 11, 10, 0, 12, 40, 6, 7, 13, 11, 22, 21, 23,
            ] {
                assert_eq!(*run.state(step), universe.evolve(&start, step), "{step}");
            }
        }
    }
}
