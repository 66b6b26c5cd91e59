//! The recall of a run: the share of the additive conserved quantities that it has found.
//!
//! `popper_harness::conserved` knows every additive conserved quantity of a universe. The accepted laws are
//! compared with it: which of these quantities follow from them, and which laws state something else.

use std::collections::BTreeMap;

use popper_harness::conserved::ConservedSpace;
use popper_harness::decide::Status;
use popper_harness::law::syntax::{Op, Time};
use popper_harness::law::{Arith, Claim, Condition, Formula, Law, Observable, Program, Term};
use popper_harness::universe::Tabulated;
use serde::Serialize;

use crate::enumerative::{eliminate, primitive};
use crate::error::Error;
use crate::snapshot::Verdicts;
use crate::store::TestedLaw;

/// The additive conserved quantities of one window width that a run has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Recall {
    /// The window width in cells.
    pub width: usize,
    /// The number of independent quantities without the number of cells, which is conserved in every universe.
    pub dimension: usize,
    /// The number of independent quantities that the accepted laws state, `0..=dimension`.
    pub found: usize,
    /// A basis of the quantities, short patterns first.
    pub quantities: Vec<TargetQuantity>,
    /// Accepted laws that state such a quantity, in order of time. The number of cells and constants do not count.
    pub inside: Vec<MatchedLaw>,
    /// The verdicts on all other tested laws, by template. Every refuted law is among them.
    pub outside: BTreeMap<String, Verdicts>,
}

/// An accepted law that states a conserved quantity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MatchedLaw {
    /// The fingerprint of the law.
    pub law_fingerprint: String,
    /// Whether it did not follow from the laws before it.
    pub new: bool,
}

/// A conserved quantity that can be found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TargetQuantity {
    /// The quantity as an observable.
    pub expr: String,
    /// Whether it follows from the accepted laws.
    pub found: bool,
}

impl Recall {
    /// Compares the tested laws of a run with the conserved quantities of its universe.
    ///
    /// A law states a quantity when it says that an observable has the same value at two times, on all rings or on all from some
    /// size on; one with other preconditions does not.
    ///
    /// # Errors
    /// [`Error::Row`] if an accepted law cannot be read.
    pub fn measure(
        span: &ConservedSpace,
        universe: &Tabulated,
        findings: &[TestedLaw],
    ) -> Result<Self, Error> {
        let mut space = LinearSpan::default();
        let mut recall = Self {
            width: span.width,
            dimension: span.dimension.saturating_sub(1),
            found: 0,
            quantities: Vec::new(),
            inside: Vec::new(),
            outside: BTreeMap::new(),
        };
        for finding in findings {
            let status = finding.evaluation.status;
            if status == Status::Pass {
                let vector = stated(&finding.law.law()?, universe, span);
                if let Some(new) = vector.and_then(|vector| space.add(&vector)) {
                    let law_fingerprint = finding.law.law_fingerprint.clone();
                    recall.inside.push(MatchedLaw {
                        law_fingerprint,
                        new,
                    });
                    continue;
                }
            }
            let outside = recall.outside.entry(finding.law.template.clone());
            outside.or_default().count(status);
        }
        recall.found = space.rows.len();
        let unit = |index| -> Vec<i64> {
            (0..recall.dimension)
                .map(|place| i64::from(place == index))
                .collect()
        };
        recall.quantities = (span.basis.iter().skip(1).enumerate())
            .map(|(index, quantity)| TargetQuantity {
                expr: quantity.expr.clone(),
                found: space.holds(&unit(index)),
            })
            .collect();
        Ok(recall)
    }

    /// Returns the verdicts on laws that state no conserved quantity, all templates together.
    pub fn other_laws(&self) -> Verdicts {
        self.outside
            .values()
            .fold(Verdicts::default(), |sum, part| Verdicts {
                pass: sum.pass + part.pass,
                fail: sum.fail + part.fail,
                unknown: sum.unknown + part.unknown,
            })
    }
}

/// The coordinates of the quantity that a law says is conserved, without the number of cells. `None` for a law that says
/// anything else, has other preconditions, or holds in every universe.
fn stated(law: &Law, universe: &Tabulated, span: &ConservedSpace) -> Option<Vec<i64>> {
    let program = Program::compile(law, universe).ok()?;
    let Claim::Always {
        antecedent: None,
        consequent: Formula::Cmp(Op::Eq, left, right),
        ..
    } = &program.claim
    else {
        return None;
    };
    if !program.preconditions.iter().all(from_some_size_on) {
        return None;
    }
    // Brought to one side, what is read at one time must be the opposite of what is read at the other.
    let mut sums = Sums::default();
    sums.add(left, 1, &program)?;
    sums.add(right, -1, &program)?;
    let mut sums = sums.0.into_iter();
    let (Some((first, one)), Some((second, other)), None) = (sums.next(), sums.next(), sums.next())
    else {
        return None;
    };
    let runs = |time| matches!(time, Time::Now | Time::Next);
    if !runs(first) && !runs(second) {
        return None;
    }
    let (one, other) = (span.coordinates(&one)?, span.coordinates(&other)?);
    let opposite = |(one, other): (&i64, &i64)| other.checked_neg() == Some(*one);
    if !one.iter().zip(&other).skip(1).all(opposite) {
        return None;
    }
    let vector = one.get(1..)?.to_vec();
    vector.iter().any(|&entry| entry != 0).then_some(vector)
}

/// Whether a precondition excludes small rings and nothing else. A law for the larger rings says as much: a small ring behaves as
/// a large one on which it is repeated, and the quantities are multiplied.
fn from_some_size_on(condition: &Condition) -> bool {
    matches!(
        (condition.op, &condition.left, &condition.right),
        (Op::Lt | Op::Le, Observable::Int(_), Observable::GridLength)
            | (Op::Gt | Op::Ge, Observable::GridLength, Observable::Int(_))
    )
}

/// The observables of a sum by time, without those that depend on the ring size alone.
#[derive(Default)]
struct Sums(BTreeMap<Time, Observable>);

impl Sums {
    /// Adds a multiple of a term. `None` if it is not a sum of observables with constant factors.
    fn add(&mut self, term: &Term, factor: i64, program: &Program) -> Option<()> {
        match term {
            Term::Int(_) => Some(()),
            Term::Obs(index, time) => {
                let observable = program.observables.get(*index)?;
                if !observable.is_static() {
                    let product = binary(Arith::Mul, Observable::Int(factor), observable.clone());
                    let sum = self.0.remove(time).unwrap_or(Observable::Int(0));
                    self.0.insert(*time, binary(Arith::Add, sum, product));
                }
                Some(())
            }
            Term::Neg(inner) => self.add(inner, factor.checked_neg()?, program),
            Term::Bin(Op::Add, left, right) => {
                self.add(left, factor, program)?;
                self.add(right, factor, program)
            }
            Term::Bin(Op::Sub, left, right) => {
                self.add(left, factor, program)?;
                self.add(right, factor.checked_neg()?, program)
            }
            Term::Bin(Op::Mul, left, right) => match (left.as_ref(), right.as_ref()) {
                (Term::Int(number), term) | (term, Term::Int(number)) => {
                    self.add(term, factor.checked_mul(*number)?, program)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn binary(op: Arith, left: Observable, right: Observable) -> Observable {
    Observable::Bin(op, Box::new(left), Box::new(right))
}

/// A vector space with exact arithmetic: rows in reduced echelon form without a common divisor, each with a positive lead.
#[derive(Default)]
struct LinearSpan {
    rows: Vec<Vec<i128>>,
}

impl LinearSpan {
    /// Adds a vector, and returns whether it was independent. `None` if an entry needs more than 128 bits; nothing is added then.
    fn add(&mut self, vector: &[i64]) -> Option<bool> {
        let Some((lead, row)) = leading(self.reduce(vector)?) else {
            return Some(false);
        };
        let others = self.rows.iter().map(|other| eliminate(other, &row, lead));
        self.rows = others.collect::<Option<_>>()?;
        self.rows.push(row);
        Some(true)
    }

    fn holds(&self, vector: &[i64]) -> bool {
        self.reduce(vector)
            .is_some_and(|rest| rest.iter().all(|&entry| entry == 0))
    }

    /// The remainder of a vector after reduction by the rows.
    fn reduce(&self, vector: &[i64]) -> Option<Vec<i128>> {
        let wide: Vec<i128> = vector.iter().copied().map(i128::from).collect();
        self.rows.iter().try_fold(wide, |rest, row| {
            let lead = row.iter().position(|&entry| entry != 0)?;
            eliminate(&rest, row, lead)
        })
    }
}

/// A row with the index of its leading entry, which is made positive. `None` for the zero row.
fn leading(row: Vec<i128>) -> Option<(usize, Vec<i128>)> {
    let row = primitive(row);
    let lead = row.iter().position(|&entry| entry != 0)?;
    let sign = row[lead].signum();
    Some((lead, row.into_iter().map(|entry| entry * sign).collect()))
}

#[cfg(test)]
mod tests {
    use super::LinearSpan;

    #[test]
    fn rank_is_exact() {
        let mut space = LinearSpan::default();
        for vector in [[2, 4, 0], [1, 2, 0], [-3, -6, 0], [0, 0, 0]] {
            space.add(&vector).unwrap();
        }
        assert_eq!(space.rows, [[1, 2, 0]]);
        assert!(!space.holds(&[1, 0, 0]));
        space.add(&[1, 1, 1]).unwrap();
        assert_eq!(space.rows.len(), 2);
        assert!(space.holds(&[0, 1, -1]) && !space.holds(&[0, 0, 1]));
        space.add(&[0, 5, 7]).unwrap();
        assert!(space.holds(&[0, 0, 1]));
        // A vector that a prime of 61 bits would take for zero.
        let mut space = LinearSpan::default();
        space.add(&[(1 << 61) - 1, 0]).unwrap();
        assert!(space.holds(&[1, 0]));
    }

    #[test]
    fn numbers_without_room_are_refused_and_change_nothing() {
        let mut space = LinearSpan::default();
        let mut number = 0x9e37_79b9_7f4a_7c15_u64;
        let mut refused = 0;
        for _ in 0..6 {
            let row: Vec<i64> = (0..6)
                .map(|_| {
                    number = number.wrapping_mul(0xd129_0b26_1f37_5c3d).wrapping_add(1);
                    number as i64
                })
                .collect();
            let before = space.rows.clone();
            if space.add(&row).is_none() {
                assert_eq!(space.rows, before);
                refused += 1;
            }
        }
        assert!(refused > 0);
        assert!(!space.rows.is_empty());
    }
}
