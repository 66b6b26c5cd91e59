//! The search for proofs.

use std::sync::OnceLock;

use super::bound::invariant_between;
use super::certificate::{
    Certificate, Conserved, Lemma, Method, Proof, Refutation, RefutationReason, Refutations,
    Regular, SCOPE, write,
};
use super::fuel::Fuel;
use super::graph::never_positive;
use super::linear::{Form, cannot_fail};
use super::obligation::{
    Inequalities, combinations, failures, freeze, from_starts, operands, starts,
};
use super::regular::{self, Response};
use super::sample::Samples;
use super::subject;
use crate::law::{Claim, Law, Program, Symmetry};
use crate::universe::{Alphabet, Rule, State, Symbol, Tabulated, Transform, Universe};

/// The latest step after the antecedent at which the consequent of an `eventually` is tried. Later steps need wider windows.
const MAX_DELAY: u64 = 3;
/// The most windows weighed and edges relaxed in the search for lemmas, which takes about a tenth of a second.
const MAX_LEMMA_WORK: u64 = 8_000_000;

/// Searches for a proof that a law holds in every admissible run on every ring of 1 or more cells, at every t.
///
/// `program` is `law` compiled for `universe`. `None` means that no proof was found, not that the law is false. A returned
/// proof passes [`verify_proof`](super::verify_proof).
pub fn prove(law: &Law, program: &Program, universe: &Tabulated) -> Option<Proof> {
    let normal = Program::compile(&law.normal().to_law("proved"), universe).ok()?;
    let facts = RuleFacts::default();
    prove_normal(law, program, &normal, universe, &facts, &|| false, || true)
}

/// Searches for such a proof with the compiled normal form of the law and the facts of the universe's rule.
///
/// `may_hold` says whether small rings leave the law open; if not, only the quick methods are tried. `stop` ends the search for regular
/// sets, which may take long. A proof is about the normal form, which may write a claim differently, so the search uses the normal
/// form, too.
pub(crate) fn prove_normal(
    law: &Law,
    program: &Program,
    normal: &Program,
    universe: &Tabulated,
    facts: &RuleFacts,
    stop: &dyn Fn() -> bool,
    may_hold: impl FnOnce() -> bool,
) -> Option<Proof> {
    if !can_be_proved(program) {
        return None;
    }
    let prover = Prover::new(normal, universe, facts);
    let certificate = match prover.certificate() {
        Some(certificate) => certificate,
        None if may_hold() => Certificate::Regular(prover.regular(stop)?),
        None => return None,
    };
    let normal = law.normal();
    let (universe, sim_hash) = subject::universe(universe);
    let mut proof = Proof {
        schema_version: certificate.schema_version().into(),
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
        Certificate::Regular(_) => Method::Regular,
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
    fuel: Fuel<'static>,
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
            fuel: Fuel::new(MAX_LEMMA_WORK),
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

    /// Searches for a proof by regular sets of rings. A stop ends it without one.
    fn regular(&self, stop: &dyn Fn() -> bool) -> Option<Regular> {
        let fuel = Fuel::with_stop(regular::MAX_LAW, stop);
        let universe = regular::UniverseFacts {
            rule: self.rule,
            alphabet: self.alphabet,
            starting: &self.starting,
            fuel: &fuel,
        };
        let starts = starts(self.program);
        let cases = match &self.program.claim {
            Claim::Always {
                antecedent,
                consequent,
                ..
            } => {
                let failures = failures(self.program, antecedent.as_ref(), consequent, &[0])?;
                let failures = from_starts(&starts, &failures);
                if failures
                    .iter()
                    .any(|failure| self.samples().satisfy(failure))
                {
                    return None;
                }
                regular::always(&universe, &failures, &|| self.densities())?
            }
            Claim::Eventually {
                antecedent,
                consequent,
                window,
            } => {
                let response = Response {
                    universe: &universe,
                    starts: &starts,
                    open: &failures(self.program, Some(antecedent), consequent, &[0])?,
                    unmet: &failures(self.program, None, consequent, &[0])?,
                    window: *window,
                };
                vec![response.search()?]
            }
            Claim::Commutes(_) | Claim::Local(_) => return None,
        };
        Some(Regular { cases })
    }

    fn densities(&self) -> &[Vec<i64>] {
        self.facts
            .densities
            .get_or_init(|| crate::conserved::densities(self.rule))
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

    fn refute_all(&self, failures: &[Inequalities], delays: Vec<u64>) -> Option<Certificate> {
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
                let frozen: Inequalities = conjunction
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
        let densities = || self.densities();
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
