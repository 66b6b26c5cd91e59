//! What has to be refuted: the negation of a claim, as conjunctions of linear inequalities.

use super::linear::{Form, Moment, Var, of_term};
use crate::law::syntax::Op;
use crate::law::{Formula, Observable, Program};

/// The most conjunctions, and the most inequalities of one, that are looked at.
const MAX_PARTS: usize = 64;

/// A conjunction of `form <= 0`.
pub(super) type Conjunction = Vec<Form>;

/// The ways in which `antecedent(t) -> consequent(t + d) for some d of delays` can fail: it fails at a step of a run exactly
/// if one of the conjunctions holds there. `None` where the claim is out of reach.
pub(super) fn failures(
    program: &Program,
    antecedent: Option<&Formula>,
    consequent: &Formula,
    delays: &[u64],
) -> Option<Vec<Conjunction>> {
    let observables = &program.observables;
    let mut failing = match antecedent {
        Some(antecedent) => normal(antecedent, true, observables, 0)?,
        None => vec![Vec::new()],
    };
    for &delay in delays {
        failing = all(failing, &normal(consequent, false, observables, delay)?)?;
    }
    Some(failing)
}

/// The disjunctive normal form of a formula, or of its negation.
fn normal(
    formula: &Formula,
    wanted: bool,
    observables: &[Observable],
    delay: u64,
) -> Option<Vec<Conjunction>> {
    let part = |formula: &Formula, wanted| normal(formula, wanted, observables, delay);
    match formula {
        Formula::Not(inner) => part(inner, !wanted),
        Formula::And(left, right) if wanted => all(part(left, true)?, &part(right, true)?),
        Formula::And(left, right) => any(part(left, false)?, part(right, false)?),
        Formula::Or(left, right) if wanted => any(part(left, true)?, part(right, true)?),
        Formula::Or(left, right) => all(part(left, false)?, &part(right, false)?),
        Formula::Implies(left, right) if wanted => any(part(left, false)?, part(right, true)?),
        Formula::Implies(left, right) => all(part(left, true)?, &part(right, false)?),
        Formula::Cmp(op, left, right) => {
            let left = of_term(left, observables, delay)?;
            let right = of_term(right, observables, delay)?;
            let less = left.clone().add(-1, &right)?;
            let more = right.add(-1, &left)?;
            // Between integers, a < b is a + 1 <= b.
            let strictly = |form: Form| form.add(1, &Form::constant(1));
            Some(match (*op, wanted) {
                (Op::Le, true) | (Op::Gt, false) => vec![vec![less]],
                (Op::Ge, true) | (Op::Lt, false) => vec![vec![more]],
                (Op::Lt, true) | (Op::Ge, false) => vec![vec![strictly(less)?]],
                (Op::Gt, true) | (Op::Le, false) => vec![vec![strictly(more)?]],
                (Op::Eq, true) | (Op::Ne, false) => vec![vec![less, more]],
                (Op::Ne, true) | (Op::Eq, false) => {
                    vec![vec![strictly(less)?], vec![strictly(more)?]]
                }
                _ => return None,
            })
        }
    }
}

fn any(mut left: Vec<Conjunction>, right: Vec<Conjunction>) -> Option<Vec<Conjunction>> {
    left.extend(right);
    (left.len() <= MAX_PARTS).then_some(left)
}

fn all(left: Vec<Conjunction>, right: &[Conjunction]) -> Option<Vec<Conjunction>> {
    (left.len() * right.len() <= MAX_PARTS).then_some(())?;
    let mut both = Vec::with_capacity(left.len() * right.len());
    for first in left {
        for second in right {
            let joined: Conjunction = first.iter().chain(second).cloned().collect();
            (joined.len() <= MAX_PARTS).then_some(())?;
            both.push(joined);
        }
    }
    Some(both)
}

/// The forms read at the running step on which products and remainders of a form depend, each moved to begin at the running step.
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

/// The form with everything inside products and remainders read at the start where it is known to be conserved: a conserved form
/// has one value at all steps.
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
            Moment {
                start: true,
                delay: moment.delay - early,
            }
        }
    }))
}
