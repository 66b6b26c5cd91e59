//! Inequalities as finite automata that read the cells of a ring from the first to the last.

use num_integer::{Integer, gcd};

use super::super::linear::{Form, LineObservable, TimeIndex, Var};
use super::windows::{Windows, alternates, is_summed};
use crate::universe::Symbol;

/// The largest number up to which an automaton counts.
const MAX_COUNT: i64 = 16;
/// The largest divisor of a remainder.
const MAX_DIVISOR: i64 = 8;
/// The largest distance of two cells of a pattern that does not wrap.
const MAX_DISTANCE: usize = 6;

/// An inequality `form <= 0` as read off the windows of a graph.
pub(super) enum InequalityReading {
    /// Holds on every ring.
    Always,
    /// Holds on no ring.
    Never,
    /// Holds exactly on the rings that an automaton accepts.
    Automaton(Automaton),
    /// Neither: a sum of weights of both signs, or a form that is not supported.
    Other,
}

/// An automaton: for each window its inputs at an even and at an odd cell, and the machine that reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Automaton {
    pub inputs: Vec<[i64; 2]>,
    pub machine: StateMachine,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StateMachine {
    /// Sums the inputs, which depend on the parity of the cell if it `alternates`.
    Sum { alternates: bool, goal: Goal },
    /// Counts the cells with the second mark at a distance after a cell with the first.
    Pairs { distance: usize, goal: Goal },
    /// Measures the longest run of marked cells.
    Run(Bound),
    /// Measures the first marked cell, -1 if there is none.
    Leftmost(Bound),
    /// Measures the last marked cell, -1 if there is none.
    Rightmost(Bound),
    /// Measures the distance of these two, 0 if there are none.
    Spread(Bound),
    /// Compares the first cells with the first and with the second mark: smaller, or also equal if `ties`.
    Order { ties: bool },
}

/// The sums that are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Goal {
    /// From a number on, and up to another one if there is one. The inputs are not negative.
    Between { least: i64, most: Option<i64> },
    /// The remainders with a flag.
    Remainder(Vec<bool>),
}

/// The values that are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    AtMost(i64),
    AtLeast(i64),
}

impl Goal {
    fn states(&self) -> usize {
        match self {
            Self::Between { least, most } => most.unwrap_or(*least) as usize + 1,
            Self::Remainder(accepted) => accepted.len(),
        }
    }

    fn step(&self, state: usize, input: i64) -> Option<usize> {
        let sum = state as i64 + input;
        match self {
            Self::Between {
                most: Some(most), ..
            } => (sum <= *most).then_some(sum as usize),
            Self::Between { least, most: None } => Some(sum.min(*least) as usize),
            Self::Remainder(accepted) => Some(sum.mod_floor(&(accepted.len() as i64)) as usize),
        }
    }

    fn accepts(&self, state: usize) -> bool {
        match self {
            Self::Between { least, .. } => state as i64 >= *least,
            Self::Remainder(accepted) => accepted[state],
        }
    }
}

impl Bound {
    /// Whether every value, of which `least` is the smallest, is accepted, or none; `None` where it depends on the value.
    fn decided(self, least: i64) -> Option<bool> {
        match self {
            Self::AtMost(most) => (most < least).then_some(false),
            Self::AtLeast(bound) => (bound <= least).then_some(true),
        }
    }

    fn limit(self) -> i64 {
        match self {
            Self::AtMost(limit) | Self::AtLeast(limit) => limit,
        }
    }
}

impl StateMachine {
    /// Returns the number of states; 0 is the first one.
    pub fn states(&self) -> usize {
        match self {
            Self::Sum { alternates, goal } => goal.states() << usize::from(*alternates),
            Self::Pairs { distance, goal } => goal.states() << distance,
            Self::Run(bound) => bound.limit() as usize + 1,
            Self::Leftmost(bound) | Self::Rightmost(bound) | Self::Spread(bound) => {
                (bound.limit() + 3) as usize
            }
            Self::Order { .. } => 5,
        }
    }

    /// Whether the result depends on the cell with which the walk begins.
    pub fn is_positional(&self) -> bool {
        !matches!(
            self,
            Self::Sum {
                alternates: false,
                ..
            }
        )
    }

    /// Returns the state after a cell, `None` if no continuation is accepted.
    pub fn step(&self, state: usize, inputs: [i64; 2]) -> Option<usize> {
        let [input, _] = inputs;
        let marked = input != 0;
        match self {
            Self::Sum {
                alternates: false,
                goal,
            } => goal.step(state, input),
            Self::Sum {
                alternates: true,
                goal,
            } => {
                let odd = state % 2;
                Some(goal.step(state / 2, inputs[odd])? * 2 + (1 - odd))
            }
            Self::Pairs { distance, goal } => {
                let (count, seen) = (state >> distance, state & ((1 << distance) - 1));
                let pair = input & 2 != 0 && seen >> (distance - 1) & 1 == 1;
                let count = goal.step(count, i64::from(pair))?;
                let seen = (seen << 1 | (input & 1) as usize) & ((1 << distance) - 1);
                Some(count << distance | seen)
            }
            Self::Run(bound) => {
                let limit = bound.limit() as usize;
                match bound {
                    Bound::AtLeast(_) if state == limit => Some(state),
                    _ if !marked => Some(0),
                    _ => (state < limit).then_some(state + 1),
                }
            }
            Self::Leftmost(bound) => leftmost(*bound, state, marked),
            Self::Rightmost(bound) => rightmost(*bound, state, marked),
            Self::Spread(bound) => spread(*bound, state, marked),
            Self::Order { .. } => Some(match (state, input) {
                (0, 1) => 1,
                (0, 2) => 2,
                (1, 2) => 3,
                (2, 1) => 4,
                _ => state,
            }),
        }
    }

    /// Whether a walk that ends in a state is accepted.
    pub fn accepts(&self, state: usize) -> bool {
        match self {
            Self::Sum {
                alternates: false,
                goal,
            } => goal.accepts(state),
            Self::Sum {
                alternates: true,
                goal,
            } => goal.accepts(state / 2),
            Self::Pairs { distance, goal } => goal.accepts(state >> distance),
            Self::Run(Bound::AtLeast(limit)) => state as i64 == *limit,
            Self::Leftmost(Bound::AtLeast(limit))
            | Self::Rightmost(Bound::AtLeast(limit))
            | Self::Spread(Bound::AtLeast(limit)) => state as i64 == limit + 1,
            Self::Order { ties } => matches!(state, 2 | 3) || *ties && state == 0,
            _ => true,
        }
    }
}

/// Reads a cell: the states are the number of cells so far, up to one past the limit, and then that of a marked one.
fn leftmost(bound: Bound, state: usize, marked: bool) -> Option<usize> {
    let (cells, found) = match bound {
        Bound::AtMost(limit) => ((limit + 1) as usize, (limit + 2) as usize),
        Bound::AtLeast(limit) => (limit as usize, (limit + 1) as usize),
    };
    if state == found || !marked {
        return Some(if state == found {
            found
        } else {
            (state + 1).min(cells)
        });
    }
    match bound {
        Bound::AtMost(_) => (state < cells).then_some(found),
        Bound::AtLeast(_) => (state == cells).then_some(found),
    }
}

/// Reads a cell: the states are the number of cells so far, and for a lower bound that of a marked one from there on.
fn rightmost(bound: Bound, state: usize, marked: bool) -> Option<usize> {
    match bound {
        Bound::AtMost(limit) => {
            let beyond = (limit + 1) as usize;
            (state < beyond || !marked).then_some((state + 1).min(beyond))
        }
        Bound::AtLeast(limit) => {
            let (cells, found) = (limit as usize, (limit + 1) as usize);
            Some(match state {
                _ if state == found || state == cells && marked => found,
                _ => (state + 1).min(cells),
            })
        }
    }
}

/// Reads a cell: the states are 0, the number of cells from the first marked one on, and for a lower bound that of one so far.
fn spread(bound: Bound, state: usize, marked: bool) -> Option<usize> {
    let limit = bound.limit() as usize;
    match bound {
        _ if state == 0 => Some(usize::from(marked)),
        Bound::AtMost(_) => (state <= limit || !marked).then_some((state + 1).min(limit + 1)),
        Bound::AtLeast(_) if state == limit + 1 || state == limit && marked => Some(limit + 1),
        Bound::AtLeast(_) => Some((state + 1).min(limit)),
    }
}

/// Reads the inequality `form <= 0`.
pub(super) fn read(form: &Form, windows: &Windows<'_>) -> InequalityReading {
    let summed = |(var, _): (&Var, _)| is_summed(var);
    if form.terms.iter().all(summed) {
        return sum(form, windows).unwrap_or(InequalityReading::Other);
    }
    let terms: Vec<(&Var, i64)> = form
        .terms
        .iter()
        .map(|(var, &factor)| (var, factor))
        .collect();
    match terms.as_slice() {
        [(Var::Modulo(inner, divisor), factor)] => {
            remainder(inner, *divisor, *factor, form.constant, windows)
        }
        [(Var::Line { moment, observable }, factor)] => {
            let bound = if *factor > 0 {
                Bound::AtMost(Integer::div_floor(&-form.constant, factor))
            } else {
                Bound::AtLeast(Integer::div_ceil(&form.constant, &-factor))
            };
            line(observable, *moment, bound, windows)
        }
        [
            (
                Var::Line {
                    moment,
                    observable: LineObservable::Leftmost(first),
                },
                one,
            ),
            (
                Var::Line {
                    moment: other,
                    observable: LineObservable::Leftmost(second),
                },
                minus,
            ),
        ] if moment == other && one + minus == 0 && one.abs() == 1 => {
            let (first, second) = if *one == 1 {
                (*first, *second)
            } else {
                (*second, *first)
            };
            order(first, second, *moment, form.constant, windows)
        }
        _ => None,
    }
    .unwrap_or(InequalityReading::Other)
}

/// Reads a form whose windows have weights.
fn sum(form: &Form, windows: &Windows<'_>) -> Option<InequalityReading> {
    let weights = windows.weights(form)?;
    let flat = || weights.iter().flatten();
    let divisor = flat()
        .fold(0, |divisor, &weight| gcd(divisor, weight))
        .max(1);
    let scaled = |factor: i64| {
        weights
            .iter()
            .map(|pair| pair.map(|weight| weight / factor))
            .collect()
    };
    let alternates = alternates(form);
    if flat().all(|&weight| weight >= 0) {
        let most = Integer::div_floor(&-form.constant, &divisor);
        if flat().all(|&weight| weight == 0) || most < 0 {
            return Some(decided(most >= 0));
        }
        let goal = Goal::Between {
            least: 0,
            most: Some(most),
        };
        return (most <= MAX_COUNT)
            .then(|| automaton(scaled(divisor), StateMachine::Sum { alternates, goal }));
    }
    if flat().all(|&weight| weight <= 0) {
        let least = Integer::div_ceil(&form.constant, &divisor);
        if least <= 0 {
            return Some(InequalityReading::Always);
        }
        let goal = Goal::Between { least, most: None };
        return (least <= MAX_COUNT)
            .then(|| automaton(scaled(-divisor), StateMachine::Sum { alternates, goal }));
    }
    None
}

fn decided(holds: bool) -> InequalityReading {
    if holds {
        InequalityReading::Always
    } else {
        InequalityReading::Never
    }
}

fn automaton(inputs: Vec<[i64; 2]>, machine: StateMachine) -> InequalityReading {
    InequalityReading::Automaton(Automaton { inputs, machine })
}

/// Returns how a walk is read for `factor * (inner % divisor) + constant <= 0`.
fn remainder(
    inner: &Form,
    divisor: i64,
    factor: i64,
    constant: i64,
    windows: &Windows<'_>,
) -> Option<InequalityReading> {
    let states = divisor
        .checked_abs()
        .filter(|states| (1..=MAX_DIVISOR).contains(states))?;
    let accepted = (0..states)
        .map(|remainder| {
            let value = (remainder + inner.constant.mod_floor(&states)).mod_floor(&divisor);
            Some(factor.checked_mul(value)?.checked_add(constant)? <= 0)
        })
        .collect::<Option<_>>()?;
    let goal = Goal::Remainder(accepted);
    if inner.terms.keys().all(is_summed) {
        let weights = windows.weights(inner)?;
        let inputs = weights
            .iter()
            .map(|pair| pair.map(|weight| weight.mod_floor(&states)));
        let alternates = alternates(inner);
        return Some(automaton(
            inputs.collect(),
            StateMachine::Sum { alternates, goal },
        ));
    }
    let mut terms = inner.terms.iter();
    match (terms.next(), terms.next()) {
        (
            Some((
                Var::Line {
                    moment,
                    observable: LineObservable::Inside(at),
                },
                1,
            )),
            None,
        ) => pairs(at, *moment, goal, windows),
        _ => None,
    }
}

fn pairs(
    at: &[(usize, Symbol)],
    moment: TimeIndex,
    goal: Goal,
    windows: &Windows<'_>,
) -> Option<InequalityReading> {
    let [(0, first), (distance @ 1..=MAX_DISTANCE, second)] = *at else {
        return None;
    };
    let inputs = windows.marks(moment, &[first, second])?;
    Some(automaton(inputs, StateMachine::Pairs { distance, goal }))
}

/// Reads a bound of an observable of the line.
fn line(
    observable: &LineObservable,
    moment: TimeIndex,
    bound: Bound,
    windows: &Windows<'_>,
) -> Option<InequalityReading> {
    if let Some(holds) = bound.decided(observable.least()) {
        return Some(decided(holds));
    }
    if bound.limit() > MAX_COUNT {
        return None;
    }
    let (symbol, machine) = match observable {
        LineObservable::Even(_) => return None,
        LineObservable::Inside(at) => {
            let goal = match bound {
                Bound::AtMost(most) => Goal::Between {
                    least: 0,
                    most: Some(most),
                },
                Bound::AtLeast(least) => Goal::Between { least, most: None },
            };
            return pairs(at, moment, goal, windows);
        }
        LineObservable::Leftmost(symbol) => (*symbol, StateMachine::Leftmost(bound)),
        LineObservable::Rightmost(symbol) => (*symbol, StateMachine::Rightmost(bound)),
        LineObservable::Spread(symbol) => (*symbol, StateMachine::Spread(bound)),
        LineObservable::MaxGap(symbol) => (*symbol, StateMachine::Run(bound)),
    };
    Some(automaton(windows.marks(moment, &[symbol])?, machine))
}

/// Returns how a walk is read for `leftmost(first) - leftmost(second) + constant <= 0`.
fn order(
    first: Symbol,
    second: Symbol,
    moment: TimeIndex,
    constant: i64,
    windows: &Windows<'_>,
) -> Option<InequalityReading> {
    let ties = match constant {
        0 => true,
        1 => false,
        _ => return None,
    };
    let inputs = windows.marks(moment, &[first, second])?;
    Some(automaton(inputs, StateMachine::Order { ties }))
}
