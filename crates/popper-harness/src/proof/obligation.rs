//! The obligations of a proof: the negation of a claim, as conjunctions of linear inequalities to be refuted.

use super::linear::{Form, TimeIndex, Var, of_observable, of_term};
use crate::law::syntax::Op;
use crate::law::{Condition, Formula, Program, Term};

/// The most conjunctions, and the most inequalities of one.
const MAX_PARTS: usize = 64;

/// The most combinations of one conjunction that are tried.
const MAX_COMBINATIONS: usize = 48;
/// The largest multiplier that is tried.
const MAX_MULTIPLIER: i64 = 3;

/// A conjunction of `form <= 0`.
pub(super) type Inequalities = Vec<Form>;

/// Returns the ways in which `antecedent(t) -> consequent(t + d) for some d of delays` can fail.
///
/// It fails at a step of a run exactly if one of the conjunctions holds there. `None` if the claim is not supported.
pub(super) fn failures(
    program: &Program,
    antecedent: Option<&Formula>,
    consequent: &Formula,
    delays: &[u64],
) -> Option<Vec<Inequalities>> {
    let part = |formula: &Formula, wanted, delay| {
        disjunction(formula, wanted, &mut |op, wanted, left, right| {
            let left = of_term(left, &program.observables, delay)?;
            let right = of_term(right, &program.observables, delay)?;
            compared(op, wanted, &left, &right)
        })
    };
    let mut failing = match antecedent {
        Some(antecedent) => part(antecedent, true, 0)?,
        None => vec![Vec::new()],
    };
    for &delay in delays {
        failing = all(failing, &part(consequent, false, delay)?)?;
    }
    Some(failing)
}

/// Returns the ways in which the preconditions hold, as conjunctions of inequalities about the start.
///
/// A precondition that is not supported is left out, and so are all of them if there are too many ways.
pub(super) fn starts(program: &Program) -> Vec<Inequalities> {
    let start = TimeIndex {
        start: true,
        delay: 0,
    };
    let ways = |condition: &Condition| {
        let left = of_observable(&condition.left, start)?;
        let right = of_observable(&condition.right, start)?;
        compared(condition.op, true, &left, &right)
    };
    let supported = program.preconditions.iter().filter_map(ways);
    let mut ways = vec![Vec::new()];
    for condition in supported {
        match all(ways, &condition) {
            Some(both) => ways = both,
            None => return vec![Vec::new()],
        }
    }
    ways
}

/// Returns the ways in which a run that begins in one of some ways can fail in one of others.
pub(super) fn from_starts(starts: &[Inequalities], failures: &[Inequalities]) -> Vec<Inequalities> {
    all(starts.to_vec(), failures).unwrap_or_else(|| failures.to_vec())
}

/// Returns the ways in which a comparison of two forms holds, or fails if not `wanted`.
fn compared(op: Op, wanted: bool, left: &Form, right: &Form) -> Option<Vec<Inequalities>> {
    let less = left.clone().add(-1, right)?;
    let more = right.clone().add(-1, left)?;
    // Between integers, a < b is a + 1 <= b.
    comparison(op, wanted, less, more, |form| {
        form.add(1, &Form::constant(1))
    })
}

/// Returns the disjunctive normal form of a formula, or of its negation if not `wanted`.
///
/// `compare` returns the form of a comparison that must or must not hold. `None` if that is not supported or too large.
pub(crate) fn disjunction<F: Clone>(
    formula: &Formula,
    wanted: bool,
    compare: &mut impl FnMut(Op, bool, &Term, &Term) -> Option<Vec<Vec<F>>>,
) -> Option<Vec<Vec<F>>> {
    let (left, right, left_wanted, joined) = match formula {
        Formula::Cmp(op, left, right) => return compare(*op, wanted, left, right),
        Formula::Not(inner) => return disjunction(inner, !wanted, compare),
        Formula::And(left, right) => (left, right, wanted, wanted),
        Formula::Or(left, right) => (left, right, wanted, !wanted),
        Formula::Implies(left, right) => (left, right, !wanted, !wanted),
    };
    let left = disjunction(left, left_wanted, compare)?;
    let right = disjunction(right, wanted, compare)?;
    if joined {
        all(left, &right)
    } else {
        any(left, right)
    }
}

/// Returns the ways in which `left op right` holds or fails, where `less` is left <= right and `more` is left >= right.
pub(crate) fn comparison<F>(
    op: Op,
    wanted: bool,
    less: F,
    more: F,
    strictly: impl Fn(F) -> Option<F>,
) -> Option<Vec<Vec<F>>> {
    Some(match (op, wanted) {
        (Op::Le, true) | (Op::Gt, false) => vec![vec![less]],
        (Op::Ge, true) | (Op::Lt, false) => vec![vec![more]],
        (Op::Lt, true) | (Op::Ge, false) => vec![vec![strictly(less)?]],
        (Op::Gt, true) | (Op::Le, false) => vec![vec![strictly(more)?]],
        (Op::Eq, true) | (Op::Ne, false) => vec![vec![less, more]],
        (Op::Ne, true) | (Op::Eq, false) => vec![vec![strictly(less)?], vec![strictly(more)?]],
        _ => return None,
    })
}

fn any<F>(mut left: Vec<Vec<F>>, right: Vec<Vec<F>>) -> Option<Vec<Vec<F>>> {
    left.extend(right);
    (left.len() <= MAX_PARTS).then_some(left)
}

fn all<F: Clone>(left: Vec<Vec<F>>, right: &[Vec<F>]) -> Option<Vec<Vec<F>>> {
    (left.len() * right.len() <= MAX_PARTS).then_some(())?;
    let mut both = Vec::with_capacity(left.len() * right.len());
    for first in left {
        for second in right {
            let joined: Vec<F> = first.iter().chain(second).cloned().collect();
            (joined.len() <= MAX_PARTS).then_some(())?;
            both.push(joined);
        }
    }
    Some(both)
}

/// Collects the forms inside the products and remainders of a form, each moved to begin at the running step.
pub(super) fn operands(form: &Form, found: &mut Vec<Form>) {
    for var in form.terms.keys() {
        let inner = match var {
            Var::Product(left, right) => vec![left, right],
            Var::Modulo(inner, _) => vec![inner],
            _ => continue,
        };
        for inner in inner {
            operands(inner, found);
            let (now, _) = inner.split();
            if now.is_local() && now.least_delay().is_some() && !found.contains(&now) {
                found.push(now);
            }
        }
    }
}

/// Returns the form with each conserved form inside products and remainders read at the start.
///
/// A conserved form has the same value at all steps.
pub(super) fn freeze(form: &Form, conserved: &[Form]) -> Option<Form> {
    let mut frozen = Form::constant(form.constant);
    for (var, &coefficient) in &form.terms {
        let var = match var {
            Var::Product(left, right) => {
                let (left, right) = (
                    freeze_whole(left, conserved)?,
                    freeze_whole(right, conserved)?,
                );
                if left <= right {
                    Var::Product(left, right)
                } else {
                    Var::Product(right, left)
                }
            }
            Var::Modulo(inner, divisor) => Var::Modulo(freeze_whole(inner, conserved)?, *divisor),
            other => other.clone(),
        };
        frozen = frozen.add(coefficient, &Form::var(var))?;
    }
    Some(frozen)
}

fn freeze_whole(form: &Form, conserved: &[Form]) -> Option<Form> {
    let form = freeze(form, conserved)?;
    let (now, _) = form.split();
    if !conserved.contains(&now) {
        return Some(form);
    }
    let early = form.least_delay().unwrap_or(0);
    Some(form.moved(&|moment| {
        if moment.start {
            moment
        } else {
            TimeIndex {
                start: true,
                delay: moment.delay - early,
            }
        }
    }))
}

/// Returns multipliers for `length` inequalities, small sums first.
///
/// The last inequalities, which are the consequent's, come before the first ones.
pub(super) fn combinations(length: usize) -> Vec<Vec<i64>> {
    let mut found = Vec::new();
    let unit = |places: &[(usize, i64)]| {
        let mut multipliers = vec![0; length];
        for &(place, multiplier) in places {
            multipliers[place] = multiplier;
        }
        multipliers
    };
    found.extend((0..length).rev().map(|place| unit(&[(place, 1)])));
    for sum in 2..=MAX_MULTIPLIER + 1 {
        for second in (0..length).rev() {
            for first in (0..second).rev() {
                for multiplier in 1..sum {
                    found.push(unit(&[(first, multiplier), (second, sum - multiplier)]));
                }
            }
        }
    }
    if length > 2 {
        found.push(vec![1; length]);
    }
    found.truncate(MAX_COMBINATIONS);
    found
}
