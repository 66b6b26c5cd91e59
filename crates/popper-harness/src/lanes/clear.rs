//! Division by constants cleared from comparisons: `x / 3 <= y` becomes `x <= 3 * y`.

use std::borrow::Cow;

use crate::law::syntax::Op;
use crate::law::{Claim, Formula, Program, Term};

/// The program without `/`; `None` where something is divided by what is no constant, or by 0.
pub fn cleared(program: &Program) -> Option<Cow<'_, Program>> {
    let divides =
        |formula: &Formula| formula.any_term(&|term| matches!(term, Term::Bin(Op::Div, ..)));
    if !program.formulas().any(divides) {
        return Some(Cow::Borrowed(program));
    }
    let claim = match &program.claim {
        Claim::Always {
            antecedent,
            consequent,
            steps,
        } => Claim::Always {
            antecedent: match antecedent {
                None => None,
                Some(antecedent) => Some(formula(antecedent)?),
            },
            consequent: formula(consequent)?,
            steps: *steps,
        },
        Claim::Eventually {
            antecedent,
            consequent,
            window,
        } => Claim::Eventually {
            antecedent: formula(antecedent)?,
            consequent: formula(consequent)?,
            window: *window,
        },
        other => other.clone(),
    };
    Some(Cow::Owned(Program {
        claim,
        ..program.clone()
    }))
}

fn formula(whole: &Formula) -> Option<Formula> {
    let inner = |part: &Formula| formula(part).map(Box::new);
    Some(match whole {
        Formula::Cmp(op, left, right) => {
            let (left, below_left) = fraction(left)?;
            let (right, below_right) = fraction(right)?;
            // Both denominators are positive, so the comparison keeps its direction.
            Formula::Cmp(*op, times(left, below_right), times(right, below_left))
        }
        Formula::Not(part) => Formula::Not(inner(part)?),
        Formula::And(left, right) => Formula::And(inner(left)?, inner(right)?),
        Formula::Or(left, right) => Formula::Or(inner(left)?, inner(right)?),
        Formula::Implies(left, right) => Formula::Implies(inner(left)?, inner(right)?),
    })
}

/// A term as numerator and positive denominator.
fn fraction(term: &Term) -> Option<(Term, i64)> {
    Some(match term {
        Term::Int(_) | Term::Step | Term::Obs(..) => (term.clone(), 1),
        Term::Neg(inner) => {
            let (above, below) = fraction(inner)?;
            (Term::Neg(Box::new(above)), below)
        }
        Term::Bin(op, left, right) => {
            let ((left, below_left), (right, below_right)) = (fraction(left)?, fraction(right)?);
            let below = below_left.checked_mul(below_right)?;
            match (op, &right) {
                (Op::Add | Op::Sub, _) => (
                    binary(*op, times(left, below_right), times(right, below_left)),
                    below,
                ),
                (Op::Mul, _) => (binary(Op::Mul, left, right), below),
                (Op::Div, Term::Int(divisor)) if *divisor != 0 => {
                    // (a/b) / (k/c) = a*c / (b*k), with the sign kept above.
                    let above = times(left, below_right.checked_mul(divisor.signum())?);
                    (above, below_left.checked_mul(divisor.checked_abs()?)?)
                }
                (Op::Mod, _) if below == 1 => (binary(Op::Mod, left, right), 1),
                _ => return None,
            }
        }
    })
}

fn times(term: Term, factor: i64) -> Term {
    if factor == 1 {
        term
    } else {
        binary(Op::Mul, Term::Int(factor), term)
    }
}

fn binary(op: Op, left: Term, right: Term) -> Term {
    Term::Bin(op, Box::new(left), Box::new(right))
}
