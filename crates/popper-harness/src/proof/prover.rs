//! The search for proofs.

use std::sync::OnceLock;

use super::bound::invariant_between;
use super::certificate::{
    Certificate, Conserved, Lemma, Method, Proof, Refutation, RefutationReason, Refutations,
    SCHEMA_VERSION, SCOPE, write,
};
use super::graph::{Fuel, never_positive};
use super::linear::{Form, cannot_fail};
use super::obligation::{Conjunction, failures, freeze, operands};
use super::sample::Samples;
use super::subject;
use crate::law::{Claim, Law, Program, Symmetry};
use crate::universe::{Alphabet, Rule, State, Symbol, Tabulated, Transform, Universe};

/// The latest step after the antecedent at which the consequent of an `eventually` is tried. Later steps need wider windows.
const MAX_DELAY: u64 = 3;
/// The most combinations of one conjunction that are tried.
const MAX_COMBINATIONS: usize = 48;
/// The largest multiplier that is tried.
const MAX_MULTIPLIER: i64 = 3;

/// Searches for a proof that a law holds in every admissible run on every ring of 1 or more cells, at every t.
///
/// `program` is `law` compiled for `universe`. `None` means that no proof was found, not that the law is false. A returned
/// proof passes [`verify_proof`](super::verify_proof).
pub fn prove(law: &Law, program: &Program, universe: &Tabulated) -> Option<Proof> {
    let normal = Program::compile(&law.normal().to_law("proved"), universe).ok()?;
    prove_normal(law, program, &normal, universe, &RuleFacts::default())
}

/// Searches for such a proof with the compiled normal form of the law and the facts of the universe's rule.
///
/// A proof is about the normal form, which may write a claim differently, so the search uses the normal form, too.
pub(crate) fn prove_normal(
    law: &Law,
    program: &Program,
    normal: &Program,
    universe: &Tabulated,
    facts: &RuleFacts,
) -> Option<Proof> {
    if !can_be_proved(program) {
        return None;
    }
    let certificate = Prover::new(normal, universe, facts).certificate()?;
    let normal = law.normal();
    let (universe, sim_hash) = subject::universe(universe);
    let mut proof = Proof {
        schema_version: SCHEMA_VERSION.into(),
        method: method(&certificate),
        scope: SCOPE.into(),
        law_fingerprint: normal.fingerprint(),
        law: crate::json::hash::value(normal),
        universe,
        sim_hash,
        certificate,
        digest: String::new(),
    };
    proof.digest = subject::digest(&proof)?;
    Some(proof)
}

/// Returns the method of a certificate.
pub(super) fn method(certificate: &Certificate) -> Method {
    match certificate {
        Certificate::RuleCommutes { .. } => Method::RuleCommutes,
        Certificate::Homogeneity {} => Method::Homogeneity,
        Certificate::RuleTable { .. } => Method::RuleTable,
        Certificate::Refutations(refutations) => {
            let every_state =
                |case: &Refutation| matches!(case.reason, RefutationReason::EveryState(_));
            if refutations.conserved.is_empty() && refutations.cases.iter().all(every_state) {
                Method::WindowGraph
            } else {
                Method::Induction
            }
        }
    }
}

/// Whether a proof may exist; checked before the law is normalised.
fn can_be_proved(program: &Program) -> bool {
    cannot_fail(program) && !program.counts_time()
}

/// Whether a proof is found that a program holds in every run on every ring, which is then not written down.
pub(crate) fn holds_always(program: &Program, universe: &Tabulated, facts: &RuleFacts) -> bool {
    can_be_proved(program)
        && Prover::new(program, universe, facts)
            .certificate()
            .is_some()
}

/// The facts of a rule that searches share, each computed when it is first asked for.
#[derive(Default)]
pub(crate) struct RuleFacts {
    /// The conserved one-cell quantities.
    densities: OnceLock<Vec<Vec<i64>>>,
    /// The short runs of small rings.
    samples: OnceLock<Samples>,
}

struct Prover<'a> {
    program: &'a Program,
    alphabet: &'a Alphabet,
    rule: &'a Rule,
    /// All symbols of the universe.
    symbols: Vec<Symbol>,
    /// The symbols that may start.
    starting: Vec<Symbol>,
    facts: &'a RuleFacts,
    fuel: Fuel,
}

impl<'a> Prover<'a> {
    fn new(program: &'a Program, universe: &'a Tabulated, facts: &'a RuleFacts) -> Self {
        let symbols: Vec<Symbol> = (0..universe.alphabet().len() as Symbol).collect();
        Self {
            program,
            alphabet: universe.alphabet(),
            rule: universe.rule(),
            starting: symbols
                .iter()
                .copied()
                .filter(|&symbol| universe.may_start(symbol))
                .collect(),
            symbols,
            facts,
            fuel: Fuel::new(),
        }
    }

    fn certificate(&self) -> Option<Certificate> {
        if self.starting.is_empty() {
            return None;
        }
        match &self.program.claim {
            Claim::Commutes(Symmetry::Shift(_)) => Some(Certificate::Homogeneity {}),
            Claim::Commutes(Symmetry::Named(transform)) => self.commutes(transform),
            Claim::Local { .. } => self.local(),
            Claim::Always {
                antecedent,
                consequent,
                ..
            } => {
                let failures = failures(self.program, antecedent.as_ref(), consequent, &[0])?;
                self.refute_all(&failures, vec![0])
            }
            Claim::Eventually {
                antecedent,
                consequent,
                window,
            } => {
                let last = MAX_DELAY.min(*window);
                let alone = (0..=last).map(|delay| vec![delay]);
                let joined = (1..=last).map(|delay| (0..=delay).collect());
                alone.chain(joined).find_map(|delays: Vec<u64>| {
                    let failures = failures(self.program, Some(antecedent), consequent, &delays)?;
                    // Later steps have wide windows, so sampled runs are checked for a violation first.
                    if failures
                        .iter()
                        .any(|failure| self.samples().satisfy(failure))
                    {
                        return None;
                    }
                    self.refute_all(&failures, delays)
                })
            }
        }
    }

    fn commutes(&self, transform: &Transform) -> Option<Certificate> {
        let image = |symbol: Symbol| transform.map[usize::from(symbol)];
        let mut neighbourhoods = 0;
        for (window, next) in self.rule.windows() {
            let moved: State = transform.apply(&window);
            if self.rule.next(&moved) != image(next) {
                return None;
            }
            neighbourhoods += 1;
        }
        Some(Certificate::RuleCommutes { neighbourhoods })
    }

    fn local(&self) -> Option<Certificate> {
        let Claim::Local(claim) = &self.program.claim else {
            return None;
        };
        let radius = self.rule.radius();
        let (mut windows, mut triggered) = (0, 0);
        for (window, next) in self.rule.windows() {
            windows += 1;
            let around = (radius > 0).then(|| &window[radius - 1..=radius + 1]);
            // A rule without neighbours cannot tell patterns apart, so there the cell alone must decide.
            let fits = claim
                .pattern
                .is_none_or(|pattern| around.is_none_or(|around| pattern == around));
            if window[radius] == claim.trigger && fits {
                triggered += 1;
                if !claim.allows(next) {
                    return None;
                }
            }
        }
        Some(Certificate::RuleTable { windows, triggered })
    }

    fn refute_all(&self, failures: &[Conjunction], delays: Vec<u64>) -> Option<Certificate> {
        let mut found = Vec::new();
        for form in failures.iter().flatten() {
            operands(form, &mut found);
        }
        let mut forms = Vec::new();
        let mut conserved = Vec::new();
        for form in found {
            if let Some(proved) = self.conserved(&form) {
                conserved.push(proved);
                forms.push(form);
            }
        }
        let cases = failures
            .iter()
            .map(|conjunction| {
                let frozen: Conjunction = conjunction
                    .iter()
                    .map(|form| freeze(form, &forms))
                    .collect::<Option<_>>()?;
                self.refute(&frozen)
            })
            .collect::<Option<_>>()?;
        Some(Certificate::Refutations(Refutations {
            delays,
            conserved,
            cases,
        }))
    }

    fn conserved(&self, form: &Form) -> Option<Conserved> {
        Some(Conserved {
            not_up: self.step(form)?,
            not_down: self.step(&Form::default().add(-1, form)?)?,
            form: write(form, self.alphabet)?,
        })
    }

    /// Searches for a lemma that a form never grows.
    fn step(&self, form: &Form) -> Option<Lemma> {
        self.everywhere(&form.later(1).add(-1, form)?)
    }

    fn everywhere(&self, form: &Form) -> Option<Lemma> {
        never_positive(form, self.rule, &self.symbols, &self.fuel)
    }

    fn refute(&self, conjunction: &[Form]) -> Option<Refutation> {
        let mut looked = false;
        combinations(conjunction.len())
            .into_iter()
            .find_map(|multipliers| {
                // After the first failed combination, sampled runs show whether a proof can exist.
                if std::mem::replace(&mut looked, true) && self.samples().satisfy(conjunction) {
                    return None;
                }
                let mut combination = Form::constant(1);
                for (form, &multiplier) in conjunction.iter().zip(&multipliers) {
                    combination = combination.add(multiplier.checked_neg()?, form)?;
                }
                let (unit, reason) = self.reason(&combination.relaxed()?)?;
                let multipliers = multipliers
                    .iter()
                    .map(|multiplier| multiplier.checked_mul(unit))
                    .collect::<Option<_>>()?;
                Some(Refutation {
                    unit,
                    multipliers,
                    reason,
                })
            })
    }

    /// Searches for a reason why `unit * combination` is never positive, for some unit.
    fn reason(&self, combination: &Form) -> Option<(i64, RefutationReason)> {
        let (now, start) = combination.split();
        let narrow = now.width(self.rule.radius())? <= 2 * self.rule.radius() + 1;
        if !narrow && self.samples().contradict(combination) {
            return None;
        }
        let constant = Form::constant(combination.constant);
        if start.is_constant()
            && let Some(lemma) = self.everywhere(&now.clone().add(1, &constant)?)
        {
            return Some((1, RefutationReason::EveryState(lemma)));
        }
        for invariant in [&now, &Form::default()] {
            if let Some(reason) = self.bounded(&now, invariant, &start.clone().add(1, &constant)?) {
                return Some((1, reason));
            }
        }
        if narrow && self.samples().contradict(combination) {
            return None;
        }
        let may_start: Vec<bool> = self
            .symbols
            .iter()
            .map(|symbol| self.starting.contains(symbol))
            .collect();
        let densities = || {
            self.facts
                .densities
                .get_or_init(|| crate::conserved::densities(self.rule))
                .as_slice()
        };
        let (unit, invariant) =
            invariant_between(&now, &start, constant.constant, densities, &may_start)?;
        let scaled = |form: &Form| Form::default().add(unit, form);
        let reason = self.bounded(
            &scaled(&now)?,
            &invariant,
            &scaled(&start.add(1, &constant)?)?,
        )?;
        Some((unit, reason))
    }

    fn samples(&self) -> &Samples {
        self.facts
            .samples
            .get_or_init(|| Samples::new(self.rule, &self.starting))
    }

    /// Searches for a reason why `now(t) + start(0)` is never positive, with a quantity that never grows.
    fn bounded(&self, now: &Form, invariant: &Form, start: &Form) -> Option<RefutationReason> {
        // The start first, because its search is the cheapest.
        let first = invariant.clone().add(1, &start.anchored(false))?;
        Some(RefutationReason::Bounded {
            start: never_positive(&first, self.rule, &self.starting, &self.fuel)?,
            step: self.step(invariant)?,
            above: self.everywhere(&now.clone().add(-1, invariant)?)?,
            invariant: write(invariant, self.alphabet)?,
        })
    }
}

/// Returns multipliers for `length` inequalities, small sums first.
///
/// The last inequalities, which are the consequent's, come before the first ones.
fn combinations(length: usize) -> Vec<Vec<i64>> {
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
