//! The search for the cases of a certificate.

use super::super::bound::invariant_between;
use super::super::certificate::{RegularCase, RegularReason, write};
use super::super::linear::{Form, Var};
use super::super::obligation::{Inequalities, combinations};
use super::conjunction::{Conjunction, Remainder, UniverseFacts};
use crate::universe::Symbol;

/// The lengths of words and the bases that are tried, in this order.
const TRIED: [(usize, u64); 12] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (1, 1),
    (2, 1),
    (3, 1),
    (4, 0),
    (1, 2),
    (2, 2),
    (3, 2),
    (4, 1),
    (4, 2),
];

/// Searches for a case of each conjunction; `densities` are the conserved one-cell quantities of the rule.
pub(in super::super) fn always<'d>(
    universe: &UniverseFacts<'_>,
    conjunctions: &[Inequalities],
    densities: &impl Fn() -> &'d [Vec<i64>],
) -> Option<Vec<RegularCase>> {
    conjunctions
        .iter()
        .map(|all| {
            let search = Search {
                universe,
                conjunction: Conjunction::new(universe, all),
                all,
                densities,
            };
            search.case()
        })
        .collect()
}

struct Search<'a, F> {
    universe: &'a UniverseFacts<'a>,
    conjunction: Conjunction<'a>,
    all: &'a Inequalities,
    densities: &'a F,
}

impl<'d, F: Fn() -> &'d [Vec<i64>]> Search<'_, F> {
    fn case(&self) -> Option<RegularCase> {
        let mut all_states = false;
        TRIED.into_iter().find_map(|(length, base)| {
            let region = self.conjunction.region(length, base)?;
            // A region of all words is the same for every length.
            if region.words.is_full() && std::mem::replace(&mut all_states, true) {
                return None;
            }
            let alphabet = self.universe.alphabet;
            Some(RegularCase {
                refutation: self.reason(&self.conjunction.after(&region)?)?,
                m: length,
                s: base,
                start_words: region.start.write(alphabet),
                words: region.words.write(alphabet),
            })
        })
    }

    fn reason(&self, left: &Remainder<'_>) -> Option<RegularReason> {
        if left.is_empty() == Some(true) {
            return Some(RegularReason::Empty {});
        }
        self.modulo(left).or_else(|| {
            combinations(self.all.len())
                .into_iter()
                .find_map(|multipliers| self.combined(left, multipliers))
        })
    }

    fn modulo(&self, left: &Remainder<'_>) -> Option<RegularReason> {
        let terms = self.all.iter().flat_map(|form| form.terms.keys());
        terms.filter_map(remainder).find_map(|(form, k)| {
            (left.is_periodic(k, &form) == Some(true))
                .then(|| {
                    Some(RegularReason::Modulo {
                        k,
                        form: write(&form, self.universe.alphabet)?,
                    })
                })
                .flatten()
        })
    }

    fn combined(&self, left: &Remainder<'_>, multipliers: Vec<i64>) -> Option<RegularReason> {
        let sum = self.conjunction.combination(1, &multipliers)?;
        if !sum.reads(true) {
            let light = left.is_light(&sum) == Some(true);
            return light.then_some(RegularReason::Heaviest {
                unit: 1,
                multipliers,
            });
        }
        let (now, start) = sum.by_time();
        let opposite = Form::default().add(-1, &start.anchored(false))?;
        for invariant in [now.clone(), opposite] {
            if left.is_bounded(&sum, &invariant) == Some(true) {
                let invariant = write(&invariant, self.universe.alphabet)?;
                return Some(RegularReason::Bounded {
                    unit: 1,
                    multipliers,
                    invariant,
                });
            }
        }
        let symbols = self.universe.rule.symbols();
        let may_start: Vec<bool> = (0..symbols)
            .map(|symbol| self.universe.starting.contains(&(symbol as Symbol)))
            .collect();
        let (unit, invariant) =
            invariant_between(&now, &start, sum.constant, self.densities, &may_start)?;
        let multipliers: Vec<i64> = multipliers
            .iter()
            .map(|multiplier| multiplier.checked_mul(unit))
            .collect::<Option<_>>()?;
        let sum = self.conjunction.combination(unit, &multipliers)?;
        (left.is_bounded(&sum, &invariant) == Some(true))
            .then(|| {
                let invariant = write(&invariant, self.universe.alphabet)?;
                Some(RegularReason::Bounded {
                    unit,
                    multipliers,
                    invariant,
                })
            })
            .flatten()
    }
}

/// Returns the local form inside a remainder, at the running step and without its constant, and the divisor.
fn remainder(var: &Var) -> Option<(Form, i64)> {
    let Var::Modulo(inner, divisor) = var else {
        return None;
    };
    if inner.reads(true) || !inner.is_local() {
        return None;
    }
    let (mut form, _) = inner.split();
    form.constant = 0;
    Some((form, divisor.checked_abs()?))
}
