//! Linear arithmetic, which shows that a claim holds for any states.
//!
//! Every observable at every time is an unknown of which only the range is known. The negated claim is a disjunction of
//! conjunctions of linear inequalities, and each conjunction must contradict the ranges. A term that is not linear is one
//! unknown.

use std::collections::{BTreeMap, BTreeSet};

use num_integer::gcd;

use crate::law::syntax::{Op, Time};
use crate::law::{Arith, Cells, Condition, Formula, Observable, Pattern, Term};
use crate::proof::{comparison, disjunction};

/// The most inequalities that elimination may make.
const MOST_INEQUALITIES: usize = 2000;

/// A sum of unknowns, by their place in [`Space::unknowns`], and a constant.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct LinearSum {
    /// The coefficients by unknown; no coefficient is 0.
    terms: BTreeMap<usize, i128>,
    constant: i128,
}

/// An inequality `sum <= 0`, or `sum < 0` if `strict`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Inequality {
    sum: LinearSum,
    strict: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Unknown {
    Length,
    Step,
    Seen(Observable, Time),
    /// The result of an operation that is not linear.
    Result(Op, LinearSum, LinearSum),
}

/// The unknowns of a claim and the inequalities that hold for them.
struct Space<'a> {
    observables: &'a [Observable],
    symbols: usize,
    /// The last step at which the claim is evaluated.
    last: u64,
    unknowns: Vec<Unknown>,
    facts: Vec<Inequality>,
}

/// Whether it is shown that a claim holds at each step up to `last` of any sequence of states.
///
/// The states need not be related; the length of their ring meets `conditions`.
pub fn holds_everywhere(
    claim: &Formula,
    observables: &[Observable],
    conditions: &[&Condition],
    symbols: usize,
    last: u64,
) -> bool {
    let mut space = Space {
        observables,
        symbols,
        last,
        unknowns: Vec::new(),
        facts: Vec::new(),
    };
    let parts = disjunction(claim, false, &mut |op, wanted, left, right| {
        let (left, right) = (space.term(left)?, space.term(right)?);
        compare(op, wanted, &left, &right)
    });
    let Some(parts) = parts else {
        return false;
    };
    for condition in conditions {
        let sides = (
            space.observable(&condition.left, Time::Now),
            space.observable(&condition.right, Time::Now),
        );
        let (Some(left), Some(right)) = sides else {
            continue;
        };
        // `!=` is a choice of two, and no fact.
        if let Some([facts]) = compare(condition.op, true, &left, &right).as_deref() {
            space.facts.extend_from_slice(facts);
        }
    }
    space.count_symbols();
    parts.into_iter().all(|part| space.contradicts(part))
}

impl LinearSum {
    fn constant(constant: i128) -> Self {
        Self {
            terms: BTreeMap::new(),
            constant,
        }
    }

    /// Adds `factor * other`; `None` where 128 bits do not hold a coefficient.
    fn add(mut self, factor: i128, other: &Self) -> Option<Self> {
        let sum = |left: i128, right: i128| left.checked_add(factor.checked_mul(right)?);
        self.constant = sum(self.constant, other.constant)?;
        for (&unknown, &coefficient) in &other.terms {
            let entry = self.terms.entry(unknown).or_default();
            *entry = sum(*entry, coefficient)?;
            if *entry == 0 {
                self.terms.remove(&unknown);
            }
        }
        Some(self)
    }

    fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }
}

/// Returns the ways in which a comparison holds, or fails.
fn compare(
    op: Op,
    wanted: bool,
    left: &LinearSum,
    right: &LinearSum,
) -> Option<Vec<Vec<Inequality>>> {
    let at_most = |sum| Inequality { sum, strict: false };
    let less = at_most(left.clone().add(-1, right)?);
    let more = at_most(right.clone().add(-1, left)?);
    comparison(op, wanted, less, more, |inequality| {
        Some(Inequality {
            strict: true,
            ..inequality
        })
    })
}

impl Space<'_> {
    fn term(&mut self, term: &Term) -> Option<LinearSum> {
        match term {
            Term::Int(number) => Some(LinearSum::constant((*number).into())),
            Term::Step => self.unknown(&Unknown::Step),
            Term::Obs(index, time) => {
                let observables = self.observables;
                self.observable(observables.get(*index)?, *time)
            }
            Term::Neg(inner) => LinearSum::default().add(-1, &self.term(inner)?),
            Term::Bin(op, left, right) => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                self.operation(*op, left, right)
            }
        }
    }

    fn observable(&mut self, observable: &Observable, time: Time) -> Option<LinearSum> {
        match observable {
            Observable::Int(number) => Some(LinearSum::constant((*number).into())),
            Observable::GridLength => self.unknown(&Unknown::Length),
            Observable::Neg(inner) => LinearSum::default().add(-1, &self.observable(inner, time)?),
            Observable::Bin(op, left, right) => {
                let left = self.observable(left, time)?;
                let right = self.observable(right, time)?;
                let op = match op {
                    Arith::Add => Op::Add,
                    Arith::Sub => Op::Sub,
                    Arith::Mul => Op::Mul,
                    Arith::Mod => Op::Mod,
                };
                self.operation(op, left, right)
            }
            seen => self.unknown(&Unknown::Seen(seen.clone(), time)),
        }
    }

    fn operation(&mut self, op: Op, left: LinearSum, right: LinearSum) -> Option<LinearSum> {
        match op {
            Op::Add => left.add(1, &right),
            Op::Sub => left.add(-1, &right),
            Op::Mul if left.is_constant() => LinearSum::default().add(left.constant, &right),
            Op::Mul if right.is_constant() => LinearSum::default().add(right.constant, &left),
            Op::Mul if right < left => self.unknown(&Unknown::Result(op, right, left)),
            _ => self.unknown(&Unknown::Result(op, left, right)),
        }
    }

    /// Returns the unknown as a sum and enters its range when it occurs for the first time.
    fn unknown(&mut self, unknown: &Unknown) -> Option<LinearSum> {
        let known = self.unknowns.iter().position(|other| other == unknown);
        let place = known.unwrap_or(self.unknowns.len());
        let sum = LinearSum {
            terms: BTreeMap::from([(place, 1)]),
            constant: 0,
        };
        if known.is_none() {
            self.unknowns.push(unknown.clone());
            let (least, most) = self.range(unknown)?;
            for (bound, sign) in [(least, -1), (most, 1)] {
                if let Some(bound) = bound {
                    let sum = LinearSum::default().add(sign, &sum)?.add(-sign, &bound)?;
                    self.facts.push(Inequality { sum, strict: false });
                }
            }
        }
        Some(sum)
    }

    /// Returns the least and the largest value of an unknown.
    fn range(&mut self, unknown: &Unknown) -> Option<(Option<LinearSum>, Option<LinearSum>)> {
        let number = |number: i128| Some(LinearSum::constant(number));
        Some(match unknown {
            Unknown::Length => (number(1), None),
            Unknown::Step => (number(0), number(self.last.into())),
            Unknown::Seen(observable, _) => {
                let length = self.unknown(&Unknown::Length)?;
                match observable {
                    Observable::Leftmost(_) | Observable::Rightmost(_) => {
                        (number(-1), length.add(-1, &LinearSum::constant(1)))
                    }
                    _ => (number(0), Some(length)),
                }
            }
            Unknown::Result(Op::Mul, left, right) => {
                let natural =
                    left == right || self.is_at_least(left, 0) && self.is_at_least(right, 0);
                (natural.then(LinearSum::default), None)
            }
            // A divisor of 0 gives no value, so there is nothing to show.
            Unknown::Result(Op::Mod, _, divisor) => {
                let negative = LinearSum::default().add(-1, divisor)?;
                if self.is_at_least(divisor, 1) {
                    (number(0), divisor.clone().add(-1, &LinearSum::constant(1)))
                } else if self.is_at_least(&negative, 1) {
                    (divisor.clone().add(1, &LinearSum::constant(1)), number(0))
                } else {
                    (None, None)
                }
            }
            Unknown::Result(..) => (None, None),
        })
    }

    /// Whether it is shown that a sum is never less than a number.
    fn is_at_least(&self, sum: &LinearSum, least: i128) -> bool {
        let less = sum.clone().add(-1, &LinearSum::constant(least));
        less.is_some_and(|sum| self.contradicts(vec![Inequality { sum, strict: true }]))
    }

    /// Enters the facts about counts: symbols of one state sum to at most its cells, all symbols together to exactly as many.
    fn count_symbols(&mut self) {
        let single = |unknown: &Unknown| match unknown {
            Unknown::Seen(
                Observable::Count(Pattern {
                    at,
                    cells: Cells::Ring,
                }),
                time,
            ) if at.len() == 1 => Some(*time),
            _ => None,
        };
        let times: BTreeSet<Time> = self.unknowns.iter().filter_map(single).collect();
        let Some(length) = self
            .unknowns
            .iter()
            .position(|other| *other == Unknown::Length)
        else {
            return;
        };
        for time in times {
            let counts: Vec<usize> = (0..self.unknowns.len())
                .filter(|&place| single(&self.unknowns[place]) == Some(time))
                .collect();
            let signs = if counts.len() == self.symbols {
                &[1, -1][..]
            } else {
                &[1]
            };
            for &sign in signs {
                let mut terms: BTreeMap<usize, i128> =
                    counts.iter().map(|&place| (place, sign)).collect();
                terms.insert(length, -sign);
                let sum = LinearSum { terms, constant: 0 };
                self.facts.push(Inequality { sum, strict: false });
            }
        }
    }

    /// Whether an unknown is an integer.
    fn is_whole(&self, place: usize) -> bool {
        match &self.unknowns[place] {
            Unknown::Result(Op::Div, ..) => false,
            Unknown::Result(_, left, right) => left
                .terms
                .keys()
                .chain(right.terms.keys())
                .all(|&inner| self.is_whole(inner)),
            _ => true,
        }
    }

    /// Whether inequalities contradict each other and the facts.
    ///
    /// Unknowns are eliminated one by one, until a false statement about numbers is left.
    fn contradicts(&self, part: Vec<Inequality>) -> bool {
        let mut system: BTreeSet<Inequality> = BTreeSet::new();
        let all = self.facts.iter().cloned().chain(part);
        if !all
            .into_iter()
            .all(|inequality| self.enter(inequality, &mut system))
        {
            return true;
        }
        while let Some(unknown) = cheapest(&system) {
            let (with, mut rest): (Vec<Inequality>, BTreeSet<Inequality>) = {
                let (with, rest): (Vec<_>, Vec<_>) = system
                    .into_iter()
                    .partition(|inequality| inequality.sum.terms.contains_key(&unknown));
                (with, rest.into_iter().collect())
            };
            let (above, below): (Vec<_>, Vec<_>) = with
                .iter()
                .partition(|inequality| inequality.sum.terms[&unknown] > 0);
            for upper in &above {
                for lower in &below {
                    let (a, b) = (upper.sum.terms[&unknown], -lower.sum.terms[&unknown]);
                    let sum = LinearSum::default()
                        .add(b, &upper.sum)
                        .and_then(|sum| sum.add(a, &lower.sum));
                    let Some(sum) = sum else { return false };
                    let strict = upper.strict || lower.strict;
                    if !self.enter(Inequality { sum, strict }, &mut rest) {
                        return true;
                    }
                }
            }
            if rest.len() > MOST_INEQUALITIES {
                return false;
            }
            system = rest;
        }
        false
    }

    /// Enters an inequality, made as sharp as integers allow; `false` if it is a false statement about numbers.
    fn enter(&self, mut inequality: Inequality, system: &mut BTreeSet<Inequality>) -> bool {
        let Inequality { sum, strict } = &mut inequality;
        if sum.is_constant() {
            return sum.constant < 0 || sum.constant == 0 && !*strict;
        }
        let divisor = sum
            .terms
            .values()
            .fold(0, |divisor, &coefficient| gcd(divisor, coefficient));
        if sum.terms.keys().all(|&place| self.is_whole(place)) {
            if *strict {
                sum.constant = sum.constant.saturating_add(1);
                *strict = false;
            }
            // The terms are a multiple of the divisor, so the constant may be rounded up to one.
            sum.constant = -(-sum.constant).div_euclid(divisor);
        } else if sum.constant % divisor == 0 {
            sum.constant /= divisor;
        } else {
            system.insert(inequality);
            return true;
        }
        for coefficient in sum.terms.values_mut() {
            *coefficient /= divisor;
        }
        system.insert(inequality);
        true
    }
}

/// Returns the unknown whose elimination makes the fewest inequalities.
fn cheapest(system: &BTreeSet<Inequality>) -> Option<usize> {
    let mut signs: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for inequality in system {
        for (&unknown, &coefficient) in &inequality.sum.terms {
            let (above, below) = signs.entry(unknown).or_default();
            *(if coefficient > 0 { above } else { below }) += 1;
        }
    }
    signs
        .into_iter()
        .min_by_key(|(_, (above, below))| above * below)
        .map(|(unknown, _)| unknown)
}
