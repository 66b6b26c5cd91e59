//! Compilation of conditions, terms and formulas.

use super::compile::{BoundedNumber, Compiler, EmitTarget, ProgramSlot, Truth};
use super::number::Arithmetic;
use crate::law::syntax::{Op, Time};
use crate::law::{Arith, Condition, Formula, Observable, Term};

impl Compiler<'_> {
    /// Compiles the conditions on the start: true where all hold, an error where none fails and one has no value.
    pub(super) fn conditions(&mut self, conditions: &[Condition]) -> Option<Truth> {
        let mut all: Option<Truth> = None;
        for condition in conditions {
            self.range(&condition.left)?;
            self.range(&condition.right)?;
            let left = self.value(ProgramSlot::Start, &condition.left)?;
            let right = self.value(ProgramSlot::Start, &condition.right)?;
            let here = self.compare(EmitTarget::Start, condition.op, left, right);
            all = Some(match all {
                None => here,
                Some(before) => self.both_asked(EmitTarget::Start, before, here),
            });
        }
        match all {
            None => {
                let yes = self.take(1);
                self.start.push(Arithmetic::Mask(yes, true));
                Some(Truth { yes, error: None })
            }
            all => all,
        }
    }

    /// Compiles a term of a formula.
    pub(super) fn term(&mut self, term: &Term) -> Option<BoundedNumber> {
        if let Some((observable, time)) = self.as_observable(term) {
            return self.reading(&observable, time.unwrap_or(Time::At(0)));
        }
        match term {
            Term::Int(number) => self.constant(i128::from(*number)),
            Term::Step => self.step(),
            // Readings are observables.
            Term::Obs(..) => None,
            Term::Neg(inner) => {
                let inner = self.term(inner)?;
                let zero = self.constant(0)?;
                self.scaled(EmitTarget::Formula, zero, inner, -1)
            }
            Term::Bin(op, left, right) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                match op {
                    Op::Add => self.scaled(EmitTarget::Formula, left, right, 1),
                    Op::Sub => self.scaled(EmitTarget::Formula, left, right, -1),
                    Op::Mul => self.product(EmitTarget::Formula, left, right),
                    Op::Mod => self.rest(EmitTarget::Formula, left, right),
                    _ => None,
                }
            }
        }
    }

    /// Returns a term as one observable if it reads all its observables at one time, so that a sum of counts is one count.
    fn as_observable(&self, term: &Term) -> Option<(Observable, Option<Time>)> {
        Some(match term {
            Term::Int(number) => (Observable::Int(*number), None),
            Term::Step => return None,
            Term::Obs(index, time) => {
                let observable = &self.program.observables[*index];
                let time = (!observable.is_static()).then_some(*time);
                (observable.clone(), time)
            }
            Term::Neg(inner) => {
                let (inner, time) = self.as_observable(inner)?;
                (Observable::Neg(Box::new(inner)), time)
            }
            Term::Bin(op, left, right) => {
                let op = match op {
                    Op::Add => Arith::Add,
                    Op::Sub => Arith::Sub,
                    Op::Mul => Arith::Mul,
                    Op::Mod => Arith::Mod,
                    _ => return None,
                };
                let (left, at_left) = self.as_observable(left)?;
                let (right, at_right) = self.as_observable(right)?;
                let time = match (at_left, at_right) {
                    (Some(left), Some(right)) if left != right => return None,
                    (left, right) => left.or(right),
                };
                (Observable::Bin(op, Box::new(left), Box::new(right)), time)
            }
        })
    }

    /// Compiles a formula.
    pub(super) fn truth(&mut self, formula: &Formula) -> Option<Truth> {
        let at = EmitTarget::Formula;
        Some(match formula {
            Formula::Cmp(op, left, right) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                self.compare(at, *op, left, right)
            }
            Formula::Not(inner) => {
                let inner = self.truth(inner)?;
                self.not(at, inner)
            }
            Formula::And(left, right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                self.both(at, left, right)
            }
            // `p or q` is `not (not p and not q)`, also in what is not asked.
            Formula::Or(left, right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                let (left, right) = (self.not(at, left), self.not(at, right));
                let neither = self.both(at, left, right);
                self.not(at, neither)
            }
            Formula::Implies(left, right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                let right = self.not(at, right);
                let against = self.both(at, left, right);
                self.not(at, against)
            }
        })
    }
}
