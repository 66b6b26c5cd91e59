//! The check that a conjunction of inequalities holds at no step of any run.

use super::super::certificate::{MAX_COEFFICIENT, RegularCase, RegularReason, read};
use super::super::fuel::Fuel;
use super::super::linear::{Form, TimeIndex, Var};
use super::super::obligation::Inequalities;
use super::walks::Walks;
use super::windows::RingKind;
use super::words::WordSet;
use super::{MAX_BASE, MAX_WORD};
use crate::universe::{Alphabet, Rule, Symbol};

/// The facts of a universe that a check needs.
pub(in super::super) struct UniverseFacts<'a> {
    pub rule: &'a Rule,
    pub alphabet: &'a Alphabet,
    /// The symbols that may start.
    pub starting: &'a [Symbol],
    pub fuel: &'a Fuel<'a>,
}

/// A conjunction of inequalities `form <= 0`, by the states that they read.
pub(in super::super) struct Conjunction<'a> {
    universe: &'a UniverseFacts<'a>,
    /// All of them, read at the start and at the running step.
    all: &'a Inequalities,
    /// The inequalities about the start alone.
    start: Inequalities,
    /// The inequalities about the running step and later alone.
    state: Inequalities,
}

/// The region of a case: the words of the states from some step on.
pub(super) struct Region {
    /// The number of steps after which the region begins.
    pub base: u64,
    /// The words of the states at the start, longer by two radii a step.
    pub start: WordSet,
    pub words: WordSet,
}

/// Whether a form is a sum of variables that windows can show.
pub(super) fn is_readable(form: &Form) -> bool {
    form.terms.keys().all(|var| match var {
        Var::Product(..) => false,
        Var::Modulo(inner, _) => is_readable(inner),
        _ => true,
    })
}

impl<'a> Conjunction<'a> {
    pub fn new(universe: &'a UniverseFacts<'a>, all: &'a Inequalities) -> Self {
        // An inequality that is left out restricts nothing: what is shown then holds all the more.
        let readable = || all.iter().filter(|form| is_readable(form)).cloned();
        Self {
            universe,
            all,
            start: readable().filter(|form| !form.reads(false)).collect(),
            state: readable().filter(|form| !form.reads(true)).collect(),
        }
    }

    fn radius(&self) -> usize {
        self.universe.rule.radius()
    }

    /// Returns the walks of the starts, in windows that show `more`, too, and are at least so wide.
    fn starts(&self, more: &[&Form], width: usize) -> Option<Walks<'a>> {
        let starting = RingKind::Starting(self.universe.starting);
        self.walks(starting, &self.start, more, width)
    }

    fn walks(
        &self,
        rings: RingKind<'_>,
        met: &[Form],
        more: &[&Form],
        width: usize,
    ) -> Option<Walks<'a>> {
        let UniverseFacts { rule, fuel, .. } = self.universe;
        Walks::new(rule, rings, met, more, width, fuel)
    }

    /// Returns the least region of words of a length that begins after some steps. `None` beyond the limits, as in the following.
    pub(super) fn region(&self, length: usize, base: u64) -> Option<Region> {
        let longer = length + 2 * self.radius() * base as usize;
        let start = self.starts(&[], longer)?.words(longer)?;
        let mut words = start.clone();
        for _ in 0..base {
            words = words.image(self.universe.rule)?;
        }
        let words = words.closure(self.universe.rule)?;
        Some(Region { base, start, words })
    }

    /// Whether a region holds the words of all states from its base on.
    fn is_region(&self, region: &Region) -> Option<bool> {
        let length = region.start.length();
        if !self
            .starts(&[], length)?
            .words(length)?
            .is_subset(&region.start)
        {
            return Some(false);
        }
        let mut words = region.start.clone();
        for _ in 0..region.base {
            words = words.image(self.universe.rule)?;
        }
        let next = region.words.successors(self.universe.rule)?;
        Some(words.is_subset(&region.words) && next.is_subset(&region.words))
    }

    /// Returns `unit` minus the inequalities with multipliers, which is positive where the conjunction holds.
    pub(super) fn combination(&self, unit: i64, multipliers: &[i64]) -> Option<Form> {
        let mut sum = Form::constant(unit);
        for (form, &multiplier) in self.all.iter().zip(multipliers) {
            sum = sum.add(multiplier.checked_neg()?, form)?;
        }
        sum.relaxed()
    }

    /// Returns what is left of the conjunction from a region on.
    pub(super) fn after<'r>(&'r self, region: &'r Region) -> Option<Remainder<'r>> {
        let readable = || self.all.iter().filter(|form| is_readable(form));
        let before = (0..region.base).map(|step| {
            let forms: Vec<Form> = readable().map(|form| at_start(form, step)).collect();
            self.walks(RingKind::Starting(self.universe.starting), &forms, &[], 1)
        });
        // The windows show every inequality, so that they show each sum of some.
        let more: Vec<&Form> = readable().collect();
        Some(Remainder {
            conjunction: self,
            region,
            before: before.collect::<Option<_>>()?,
            states: self.walks(RingKind::Within(&region.words), &self.state, &more, 1)?,
        })
    }

    /// Whether a case of a certificate shows that the conjunction holds at no step of any run.
    pub fn is_refuted_by(&self, case: &RegularCase) -> Option<bool> {
        let alphabet = self.universe.alphabet;
        if !(1..=MAX_WORD).contains(&case.m) || case.s > MAX_BASE {
            return None;
        }
        let longer = case.m + 2 * self.radius() * case.s as usize;
        let region = Region {
            base: case.s,
            start: WordSet::read(&case.start_words, longer, alphabet)?,
            words: WordSet::read(&case.words, case.m, alphabet)?,
        };
        let positive = |unit: i64, multipliers: &[i64]| {
            (unit > 0
                && multipliers.len() == self.all.len()
                && multipliers
                    .iter()
                    .chain([&unit])
                    .all(|multiplier| (0..=MAX_COEFFICIENT).contains(multiplier)))
            .then(|| self.combination(unit, multipliers))
            .flatten()
        };
        let left = self.after(&region)?;
        let refuted = match &case.refutation {
            RegularReason::Empty {} => left.is_empty()?,
            RegularReason::Heaviest { unit, multipliers } => {
                left.is_light(&positive(*unit, multipliers)?)?
            }
            RegularReason::Bounded {
                unit,
                multipliers,
                invariant,
            } => {
                let sum = positive(*unit, multipliers)?;
                left.is_bounded(&sum, &read(invariant, alphabet)?)?
            }
            RegularReason::Modulo { k, form } => {
                let form = read(form, alphabet)?;
                // A form of later states alone says nothing of the first one.
                if !(1..=MAX_COEFFICIENT).contains(k) || form.least_delay() != Some(0) {
                    return None;
                }
                left.is_periodic(*k, &form)?
            }
            RegularReason::Rank { .. } => return None,
        };
        Some(refuted && self.is_region(&region)?)
    }
}

/// The remainder of a conjunction: its walks at each step before a region, and those within the region.
pub(super) struct Remainder<'a> {
    conjunction: &'a Conjunction<'a>,
    region: &'a Region,
    before: Vec<Walks<'a>>,
    states: Walks<'a>,
}

impl Remainder<'_> {
    /// Whether the conjunction holds at no step before the region, by its walks or by a combination.
    fn is_refuted_before(&self, sum: Option<&Form>) -> Option<bool> {
        for (step, walks) in (0..).zip(&self.before) {
            let refuted = walks.is_empty()?
                || match sum {
                    Some(sum) => walks.never_positive(&at_start(sum, step))?,
                    None => false,
                };
            if !refuted {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether no state of the region meets the conjunction.
    pub fn is_empty(&self) -> Option<bool> {
        Some(self.states.is_empty()? && self.is_refuted_before(None)?)
    }

    /// Whether a combination about the running step is never positive.
    pub fn is_light(&self, sum: &Form) -> Option<bool> {
        Some(
            !sum.reads(true)
                && self.states.never_positive(sum)?
                && self.is_refuted_before(Some(sum))?,
        )
    }

    /// Whether a combination is never positive, since a quantity that never grows is between its two parts.
    pub fn is_bounded(&self, sum: &Form, invariant: &Form) -> Option<bool> {
        let Self {
            conjunction,
            region,
            ..
        } = self;
        let (now, start) = sum.by_time();
        // The start first, because its walks are the fewest.
        let first = invariant
            .later(region.base)
            .anchored(true)
            .add(1, &start)?
            .add(1, &Form::constant(sum.constant))?;
        let change = invariant.later(1).add(-1, invariant)?;
        let gap = now.add(-1, invariant)?;
        let within = RingKind::Within(&region.words);
        let never_positive = |met: &[Form], form: &Form| {
            conjunction
                .walks(within, met, &[form], 1)?
                .never_positive(form)
        };
        Some(
            conjunction.starts(&[&first], 1)?.never_positive(&first)?
                && never_positive(&[], &change)?
                && never_positive(&conjunction.state, &gap)?
                && self.is_refuted_before(Some(sum))?,
        )
    }

    /// Whether the conjunction holds at no step, since a sum has the same remainder at all of them.
    pub fn is_periodic(&self, divisor: i64, form: &Form) -> Option<bool> {
        let Self {
            conjunction,
            region,
            ..
        } = self;
        let change = form.later(1).add(-1, form)?;
        let walks = conjunction.walks(RingKind::Within(&region.words), &[], &[&change], 1)?;
        if !walks.is_divisible(&change, divisor)? {
            return Some(false);
        }
        let readable = conjunction.all.iter().filter(|form| is_readable(form));
        let frozen: Inequalities = readable
            .map(|inequality| freeze(inequality, divisor, form, region.base))
            .collect::<Option<_>>()?;
        let frozen = Conjunction::new(conjunction.universe, &frozen);
        Some(frozen.starts(&[], 1)?.is_empty()? && self.is_refuted_before(None)?)
    }
}

/// Returns a form read from the start, with its running step some steps later.
fn at_start(form: &Form, step: u64) -> Form {
    form.moved(&|moment| TimeIndex {
        start: true,
        delay: moment.delay + if moment.start { 0 } else { step },
    })
}

/// Returns an inequality in which the remainders of a form, and of the same form later, are read at a step after the start.
fn freeze(form: &Form, divisor: i64, constant: &Form, step: u64) -> Option<Form> {
    let mut frozen = Form::constant(form.constant);
    for (var, &factor) in &form.terms {
        let var = match var {
            Var::Modulo(inner, by) if *by != 0 && divisor % by == 0 => {
                Var::Modulo(frozen_at(inner, constant, step), *by)
            }
            other => other.clone(),
        };
        frozen = frozen.add(factor, &Form::var(var))?;
    }
    Some(frozen)
}

/// Returns a form read at a step after the start if it is, its constant aside, another one some steps later.
fn frozen_at(form: &Form, earlier: &Form, step: u64) -> Form {
    match form.least_delay() {
        Some(early) if form.terms == earlier.later(early).terms => {
            form.moved(&|moment| TimeIndex {
                start: true,
                delay: moment.delay - early + step,
            })
        }
        _ => form.clone(),
    }
}
