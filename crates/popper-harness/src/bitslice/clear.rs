//! Removal of division: `x / 3 <= y` becomes `x <= 3 * y`, and `x / y <= z` distinguishes the sign of `y`.

use std::borrow::Cow;

use crate::law::syntax::Op;
use crate::law::{Claim, Formula, Program, Term};

/// Returns the program without `/`; `None` for a remainder of a fraction or a division by the constant 0.
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
        Formula::Cmp(op, left, right) => compared(*op, fraction(left)?, fraction(right)?),
        Formula::Not(part) => Formula::Not(inner(part)?),
        Formula::And(left, right) => Formula::And(inner(left)?, inner(right)?),
        Formula::Or(left, right) => Formula::Or(inner(left)?, inner(right)?),
        Formula::Implies(left, right) => Formula::Implies(inner(left)?, inner(right)?),
    })
}

/// A term as numerator and denominator; a constant denominator is positive.
struct Fraction {
    above: Term,
    below: Term,
    /// The divisors that are not constant; where one of them is 0, the term has no value.
    divisors: Vec<Term>,
}

fn compared(op: Op, left: Fraction, right: Fraction) -> Formula {
    let below = times(left.below.clone(), right.below.clone());
    let (first, second) = (
        times(left.above, right.below),
        times(right.above, left.below),
    );
    let direct = Formula::Cmp(op, first.clone(), second.clone());
    if matches!(below, Term::Int(_)) {
        return direct;
    }
    let sign = |op| Box::new(Formula::Cmp(op, below.clone(), Term::Int(0)));
    let turned = Formula::Cmp(op.mirrored(), first, second);
    let by_sign = Formula::Or(
        Box::new(Formula::And(sign(Op::Gt), Box::new(direct))),
        Box::new(Formula::And(sign(Op::Lt), Box::new(turned))),
    );
    // `0 % d == 0` holds where d is not 0 and has no value where it is, just as the division.
    let defined =
        |divisor| Formula::Cmp(Op::Eq, binary(Op::Mod, Term::Int(0), divisor), Term::Int(0));
    let divisors = left.divisors.into_iter().chain(right.divisors);
    divisors.fold(by_sign, |rest, divisor| {
        Formula::And(Box::new(defined(divisor)), Box::new(rest))
    })
}

fn fraction(term: &Term) -> Option<Fraction> {
    let whole = |above: Term| Fraction {
        above,
        below: Term::Int(1),
        divisors: Vec::new(),
    };
    Some(match term {
        Term::Int(_) | Term::Step | Term::Obs(..) => whole(term.clone()),
        Term::Neg(inner) => {
            let inner = fraction(inner)?;
            Fraction {
                above: Term::Neg(Box::new(inner.above)),
                ..inner
            }
        }
        Term::Bin(op, left, right) => {
            let (left, right) = (fraction(left)?, fraction(right)?);
            let mut divisors = left.divisors;
            divisors.extend(right.divisors);
            let below = times(left.below.clone(), right.below.clone());
            let above = match (op, &right.above) {
                (Op::Add | Op::Sub, _) => binary(
                    *op,
                    times(left.above, right.below),
                    times(right.above, left.below),
                ),
                (Op::Mul, _) => times(left.above, right.above),
                (Op::Div, Term::Int(divisor)) if *divisor != 0 => {
                    // (a/b) / (k/c) = a*c / (b*k), with the sign of k kept above.
                    let above = times(times(left.above, right.below), Term::Int(divisor.signum()));
                    let below = times(left.below, Term::Int(divisor.checked_abs()?));
                    return Some(Fraction {
                        above,
                        below,
                        divisors,
                    });
                }
                // No value on any state: nothing to be fast about.
                (Op::Div, Term::Int(_)) => return None,
                (Op::Div, _) => {
                    divisors.push(right.above.clone());
                    let above = times(left.above, right.below);
                    return Some(Fraction {
                        above,
                        below: times(left.below, right.above),
                        divisors,
                    });
                }
                (Op::Mod, _) if matches!(below, Term::Int(1)) => {
                    binary(Op::Mod, left.above, right.above)
                }
                _ => return None,
            };
            Fraction {
                above,
                below,
                divisors,
            }
        }
    })
}

/// Returns a product, folded if both sides are constants and the result fits.
fn times(left: Term, right: Term) -> Term {
    match (&left, &right) {
        (Term::Int(1), _) => right,
        (_, Term::Int(1)) => left,
        (Term::Int(a), Term::Int(b)) => a
            .checked_mul(*b)
            .map_or_else(|| binary(Op::Mul, left, right), Term::Int),
        _ => binary(Op::Mul, left, right),
    }
}

fn binary(op: Op, left: Term, right: Term) -> Term {
    Term::Bin(op, Box::new(left), Box::new(right))
}
