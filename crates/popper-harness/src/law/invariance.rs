//! Transforms that map a law to itself, so that a start and its image have the same verdict.

use super::program::{
    Arith, Cells, Claim, Condition, Formula, Observable, Program, Symmetry, Term,
};
use super::syntax::Op;
use crate::universe::{Tabulated, Transform, Universe};

/// Returns a transform of the universe under which every run and the law on it look the same, up to a rotation.
///
/// It is its own inverse, keeps the first symbol and the set of symbols that may start, and commutes with the rule. So
/// an image has as many movers as its start, fails at the same step, and visits as many symbols that may not start.
///
/// The answer may be `None` where there is such a transform: a law is compared as text, with sums, products and
/// conjunctions in a fixed order. A law whose expressions may have no value has no such transform.
pub fn symmetry<'a>(program: &Program, universe: &'a Tabulated) -> Option<&'a Transform> {
    if !program.is_rotation_invariant() || can_fail(program) {
        return None;
    }
    universe.transforms().iter().find(|transform| {
        let image = |symbol: usize| usize::from(transform.map[symbol]);
        image(0) == 0
            && !transform.is_identity()
            && (0..transform.map.len()).all(|symbol| {
                image(image(symbol)) == symbol
                    && universe.may_start(symbol as u8) == universe.may_start(transform.map[symbol])
            })
            && transform.commutes_with(universe.rule())
            && keeps(program, transform)
    })
}

/// Whether some expression has no value on some state.
fn can_fail(program: &Program) -> bool {
    fn fails(observable: &Observable) -> bool {
        match observable {
            Observable::Bin(Arith::Mod, ..) => true,
            Observable::Bin(_, left, right) => fails(left) || fails(right),
            Observable::Neg(inner) => fails(inner),
            _ => false,
        }
    }
    let divides = |term: &Term| matches!(term, Term::Bin(Op::Div | Op::Mod, ..));
    let conditions = &program.preconditions;
    program.formulas().any(|formula| formula.any_term(&divides))
        || program.observables.iter().any(fails)
        || conditions
            .iter()
            .any(|condition| fails(&condition.left) || fails(&condition.right))
}

/// Whether the law says the same of a run and of its image.
fn keeps(program: &Program, transform: &Transform) -> bool {
    let claim = match &program.claim {
        Claim::Commutes(Symmetry::Named(other)) => {
            let each = |symbol: &u8| usize::from(*symbol);
            (transform.map.iter().map(each).map(|image| other.map[image])).eq(other
                .map
                .iter()
                .map(each)
                .map(|image| transform.map[image]))
        }
        Claim::Commutes(Symmetry::Shift(_)) => !transform.reverse,
        Claim::Local(claim) => {
            let image = |symbol: u8| transform.map[usize::from(symbol)];
            let pattern = claim.pattern.map(|[left, cell, right]| {
                let (left, right) = if transform.reverse {
                    (right, left)
                } else {
                    (left, right)
                };
                [left, cell, right].map(image)
            });
            (image(claim.trigger), pattern, image(claim.result))
                == (claim.trigger, claim.pattern, claim.result)
        }
        Claim::Always { .. } | Claim::Eventually { .. } => true,
    };
    let texts = |transform: Option<&Transform>| {
        let writer = Writer { program, transform };
        let formulas = program.formulas().map(|formula| writer.formula(formula));
        let conditions = program.preconditions.iter();
        (
            formulas.collect::<Vec<_>>(),
            sorted(
                conditions
                    .map(|condition| writer.condition(condition))
                    .collect(),
                " and ",
            ),
        )
    };
    claim && texts(None) == texts(Some(transform))
}

/// Joins texts in a fixed order.
fn sorted(mut parts: Vec<String>, sign: &str) -> String {
    parts.sort_unstable();
    format!("({})", parts.join(sign))
}

/// A writer of expressions as they read on the image of a state; equal texts have equal values.
struct Writer<'a> {
    program: &'a Program,
    transform: Option<&'a Transform>,
}

impl Writer<'_> {
    fn symbol(&self, symbol: u8) -> u8 {
        self.transform
            .map_or(symbol, |transform| transform.map[usize::from(symbol)])
    }

    fn condition(&self, condition: &Condition) -> String {
        let Condition { op, left, right } = condition;
        compared(*op, self.observable(left), self.observable(right))
    }

    fn observable(&self, observable: &Observable) -> String {
        match observable {
            Observable::Int(number) => number.to_string(),
            Observable::GridLength => "grid_length".into(),
            Observable::Count(pattern) if pattern.cells == Cells::Ring => {
                let last = pattern.at.last().map_or(0, |(offset, _)| *offset);
                let reverse = self.transform.is_some_and(|transform| transform.reverse);
                let place = |offset| if reverse { last - offset } else { offset };
                let cells = pattern.at.iter();
                let cells = cells.map(|&(offset, symbol)| (place(offset), self.symbol(symbol)));
                let mut cells: Vec<_> = cells.collect();
                cells.sort_unstable();
                format!("count{cells:?}")
            }
            Observable::Incoming(symbol) => format!("incoming {}", self.symbol(*symbol)),
            Observable::Neg(_) | Observable::Bin(Arith::Add | Arith::Sub, ..) => {
                let mut parts = Vec::new();
                self.observables(observable, "+", &mut parts);
                sorted(parts, " ")
            }
            Observable::Bin(Arith::Mul, left, right) => {
                sorted(vec![self.observable(left), self.observable(right)], " * ")
            }
            Observable::Bin(Arith::Mod, left, right) => {
                format!("({} % {})", self.observable(left), self.observable(right))
            }
            // They change under rotations, so they never look the same on an image.
            Observable::Count(_)
            | Observable::Leftmost(_)
            | Observable::Rightmost(_)
            | Observable::Spread(_)
            | Observable::MaxGap(_) => format!("{observable:?} of {:?}", self.transform),
        }
    }

    /// Collects the parts of a sum with their signs.
    fn observables(&self, observable: &Observable, sign: &str, parts: &mut Vec<String>) {
        match observable {
            Observable::Neg(inner) => self.observables(inner, turned(sign), parts),
            Observable::Bin(op @ (Arith::Add | Arith::Sub), left, right) => {
                let second = if *op == Arith::Sub {
                    turned(sign)
                } else {
                    sign
                };
                self.observables(left, sign, parts);
                self.observables(right, second, parts);
            }
            single => parts.push(format!("{sign}{}", self.observable(single))),
        }
    }

    fn term(&self, term: &Term) -> String {
        match term {
            Term::Int(number) => number.to_string(),
            Term::Step => "t".into(),
            Term::Obs(index, time) => {
                format!(
                    "{}@{time:?}",
                    self.observable(&self.program.observables[*index])
                )
            }
            Term::Neg(_) | Term::Bin(Op::Add | Op::Sub, ..) => {
                let mut parts = Vec::new();
                self.terms(term, "+", &mut parts);
                sorted(parts, " ")
            }
            Term::Bin(Op::Mul, left, right) => {
                sorted(vec![self.term(left), self.term(right)], " * ")
            }
            Term::Bin(op, left, right) => {
                format!("({} {op:?} {})", self.term(left), self.term(right))
            }
        }
    }

    /// Collects the parts of a sum with their signs.
    fn terms(&self, term: &Term, sign: &str, parts: &mut Vec<String>) {
        match term {
            Term::Neg(inner) => self.terms(inner, turned(sign), parts),
            Term::Bin(op @ (Op::Add | Op::Sub), left, right) => {
                let second = if *op == Op::Sub { turned(sign) } else { sign };
                self.terms(left, sign, parts);
                self.terms(right, second, parts);
            }
            single => parts.push(format!("{sign}{}", self.term(single))),
        }
    }

    fn formula(&self, formula: &Formula) -> String {
        let both = |left, right| vec![self.formula(left), self.formula(right)];
        match formula {
            Formula::Cmp(op, left, right) => compared(*op, self.term(left), self.term(right)),
            Formula::Not(inner) => format!("not {}", self.formula(inner)),
            Formula::And(left, right) => sorted(both(left, right), " and "),
            Formula::Or(left, right) => sorted(both(left, right), " or "),
            Formula::Implies(left, right) => format!("({})", both(left, right).join(" -> ")),
        }
    }
}

fn turned(sign: &str) -> &'static str {
    if sign == "+" { "-" } else { "+" }
}

fn compared(op: Op, left: String, right: String) -> String {
    match op {
        Op::Eq | Op::Ne => sorted(vec![left, right], &format!(" {op:?} ")),
        Op::Gt | Op::Ge => format!("({right} {:?} {left})", op.mirrored()),
        _ => format!("({left} {op:?} {right})"),
    }
}
