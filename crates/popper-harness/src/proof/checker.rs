//! The check of proofs, which derives everything again from the law and the universe in the proof.

use super::certificate::{
    Certificate, Count, Lemma, MAX_COEFFICIENT, MAX_DELAY, MAX_EDGES, Proof, Refutation,
    RefutationReason, Refutations, Regular, SCOPE, read,
};
use super::fuel::Fuel;
use super::linear::{Form, Var, cannot_fail};
use super::obligation::{failures, freeze, from_starts, starts};
use super::regular::{self, Conjunction, Response};
use super::{prover, subject};
use crate::counterexample::universe_value;
use crate::law::{CellClaim, Claim, NormalLaw, Program, Symmetry};
use crate::universe::{State, Symbol, Tabulated, Universe};

/// A reason why a proof does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The proof has an unknown format version.
    #[error("schema_version: expected {expected:?} with such a certificate, found {found:?}")]
    SchemaVersion {
        /// The version in the proof.
        found: String,
        /// The version that has the certificate.
        expected: &'static str,
    },
    /// The digest is not that of the other fields.
    #[error("digest: the proof was changed after it was sealed")]
    Digest,
    /// The scope is not the scope of proofs.
    #[error("scope: expected {SCOPE:?}")]
    Scope,
    /// The law is invalid, not in normal form, or does not fit the universe.
    #[error("law: {message}")]
    Law {
        /// The problem, in words.
        message: String,
    },
    /// The fingerprint is that of another law.
    #[error("law_fingerprint: not that of the law")]
    Fingerprint,
    /// The universe is invalid or not written in full.
    #[error("universe: {message}")]
    Universe {
        /// The problem, in words.
        message: String,
    },
    /// The hash is that of another universe.
    #[error("sim_hash: not that of the universe")]
    SimHash,
    /// The certificate belongs to another method.
    #[error("method: not the certificate's")]
    Method,
    /// A fact of the certificate is wrong, or it does not imply the law.
    #[error("{place}: {message}")]
    Certificate {
        /// The part of the certificate.
        place: String,
        /// The problem, in words.
        message: &'static str,
    },
}

type Checked<T> = Result<T, ProofError>;

fn refused<T>(place: impl Into<String>, message: &'static str) -> Checked<T> {
    Err(ProofError::Certificate {
        place: place.into(),
        message,
    })
}

/// Checks a proof from its data alone.
///
/// # Errors
/// [`ProofError`] with the first part that does not hold.
pub fn verify_proof(proof: &Proof) -> Result<(), ProofError> {
    if proof.schema_version != proof.certificate.schema_version() {
        let found = proof.schema_version.clone();
        let expected = proof.certificate.schema_version();
        return Err(ProofError::SchemaVersion { found, expected });
    }
    if subject::digest(proof).as_deref() != Some(&proof.digest) {
        return Err(ProofError::Digest);
    }
    if proof.scope != SCOPE {
        return Err(ProofError::Scope);
    }
    let universe = universe(proof)?;
    let program = program(proof, &universe)?;
    if proof.method != prover::method(&proof.certificate) {
        return Err(ProofError::Method);
    }
    CheckContext {
        universe: &universe,
    }
    .certificate(&program, &proof.certificate)
}

fn universe(proof: &Proof) -> Checked<Tabulated> {
    let universe = match Tabulated::from_value(&proof.universe) {
        Ok(universe) => universe,
        Err(error) => {
            return Err(ProofError::Universe {
                message: error.to_string(),
            });
        }
    };
    // Only the canonical spelling is accepted, so that every byte of the universe is checked.
    if universe_value(&universe) != proof.universe {
        return Err(ProofError::Universe {
            message: "not written as a definition is".into(),
        });
    }
    if subject::is_hash_of(&proof.sim_hash, &universe) {
        Ok(universe)
    } else {
        Err(ProofError::SimHash)
    }
}

fn program(proof: &Proof, universe: &Tabulated) -> Checked<Program> {
    let wrong = |message: String| Err(ProofError::Law { message });
    let normal = match NormalLaw::from_value(proof.law.clone(), "$.law") {
        Ok(normal) => normal,
        Err(error) => return wrong(error.to_string()),
    };
    if crate::json::hash::value(&normal) != proof.law {
        return wrong("not in normal form".into());
    }
    if normal.fingerprint() != proof.law_fingerprint {
        return Err(ProofError::Fingerprint);
    }
    let program = match Program::compile(&normal.to_law("proved"), universe) {
        Ok(program) => program,
        Err(error) => return wrong(error.to_string()),
    };
    if !cannot_fail(&program) {
        return wrong("an expression may have no value".into());
    }
    Ok(program)
}

struct CheckContext<'a> {
    universe: &'a Tabulated,
}

impl CheckContext<'_> {
    fn symbols(&self) -> usize {
        self.universe.alphabet().len()
    }

    fn certificate(&self, program: &Program, certificate: &Certificate) -> Checked<()> {
        match (&program.claim, certificate) {
            (Claim::Commutes(Symmetry::Shift(_)), Certificate::Homogeneity {}) => Ok(()),
            (
                Claim::Commutes(Symmetry::Named(transform)),
                Certificate::RuleCommutes { neighbourhoods },
            ) => {
                let mut count = 0;
                for window in strings(self.symbols(), 2 * self.universe.radius() + 1) {
                    let next = self.universe.next_cell(&window);
                    let moved: State = transform.apply(&window);
                    if self.universe.next_cell(&moved) != transform.map[usize::from(next)] {
                        let text = self.universe.alphabet().text(&window);
                        return refused(text, "the transform does not commute with the rule here");
                    }
                    count += 1;
                }
                if count != *neighbourhoods {
                    return refused("neighbourhoods", "differs from the number in the rule");
                }
                Ok(())
            }
            (Claim::Local(claim), Certificate::RuleTable { windows, triggered }) => {
                if self.local(claim)? != (*windows, *triggered) {
                    return refused("windows", "differs from the number in the rule");
                }
                Ok(())
            }
            (
                Claim::Always {
                    antecedent,
                    consequent,
                    ..
                },
                Certificate::Refutations(refutations),
            ) => {
                if refutations.delays != [0] {
                    return refused("delays", "expected [0]");
                }
                let failures = failures(program, antecedent.as_ref(), consequent, &[0]);
                self.refutations(failures, refutations)
            }
            (
                Claim::Eventually {
                    antecedent,
                    consequent,
                    window,
                },
                Certificate::Refutations(refutations),
            ) => {
                let delays = &refutations.delays;
                let in_window = delays.iter().all(|delay| delay <= window);
                let ascending = delays.windows(2).all(|pair| pair[0] < pair[1]);
                if delays.is_empty()
                    || !in_window
                    || !ascending
                    || delays.iter().any(|&delay| delay > MAX_DELAY)
                {
                    return refused("delays", "expected ascending steps within the window");
                }
                let failures = failures(program, Some(antecedent), consequent, delays);
                self.refutations(failures, refutations)
            }
            (Claim::Always { .. } | Claim::Eventually { .. }, Certificate::Regular(regular)) => {
                self.regular(program, regular)
            }
            _ => refused("certificate", "not of the kind that proves such a law"),
        }
    }

    fn regular(&self, program: &Program, regular: &Regular) -> Checked<()> {
        let starting = self.universe.start_symbols();
        let universe = regular::UniverseFacts {
            rule: self.universe.rule(),
            alphabet: self.universe.alphabet(),
            starting: &starting,
            fuel: &Fuel::new(regular::MAX_LAW),
        };
        let starts = starts(program);
        let shown: Option<Vec<bool>> = match &program.claim {
            Claim::Always {
                antecedent,
                consequent,
                ..
            } => failures(program, antecedent.as_ref(), consequent, &[0]).and_then(|failures| {
                let failures = from_starts(&starts, &failures);
                let is_refuted =
                    |(failure, case)| Conjunction::new(&universe, failure).is_refuted_by(case);
                (failures.len() == regular.cases.len())
                    .then(|| {
                        failures
                            .iter()
                            .zip(&regular.cases)
                            .map(is_refuted)
                            .collect()
                    })
                    .flatten()
            }),
            Claim::Eventually {
                antecedent,
                consequent,
                window,
            } => failures(program, Some(antecedent), consequent, &[0])
                .zip(failures(program, None, consequent, &[0]))
                .and_then(|(open, unmet)| {
                    let response = Response {
                        universe: &universe,
                        starts: &starts,
                        open: &open,
                        unmet: &unmet,
                        window: *window,
                    };
                    let [case] = regular.cases.as_slice() else {
                        return None;
                    };
                    Some(vec![response.is_shown_by(case)?])
                }),
            Claim::Commutes(_) | Claim::Local(_) => None,
        };
        match shown {
            None => refused(
                "cases",
                "not of the kind that proves such a law, or too large",
            ),
            Some(shown) => match shown.iter().position(|shown| !shown) {
                Some(index) => {
                    refused(format!("cases[{index}]"), "does not refute its conjunction")
                }
                None => Ok(()),
            },
        }
    }

    fn local(&self, claim: &CellClaim) -> Checked<(usize, usize)> {
        let radius = self.universe.radius();
        let (mut windows, mut triggered) = (0, 0);
        for window in strings(self.symbols(), 2 * radius + 1) {
            windows += 1;
            // With radius 0 a window has no neighbours, so the cell alone must decide. The parity is ignored: every cell must fit.
            let fits = radius == 0
                || claim
                    .pattern
                    .is_none_or(|pattern| window[radius - 1..=radius + 1] == pattern);
            if window[radius] == claim.trigger && fits {
                triggered += 1;
                if !claim.allows(self.universe.next_cell(&window)) {
                    let text = self.universe.alphabet().text(&window);
                    return refused(text, "the rule does something else here");
                }
            }
        }
        Ok((windows, triggered))
    }

    fn refutations(
        &self,
        failures: Option<Vec<Vec<Form>>>,
        refutations: &Refutations,
    ) -> Checked<()> {
        let Some(failures) = failures else {
            return refused("certificate", "the claim is not one that can be proved so");
        };
        let mut conserved = Vec::new();
        for (index, fact) in refutations.conserved.iter().enumerate() {
            let place = format!("conserved[{index}]");
            let form = self.form(&place, &fact.form)?;
            let change = later(&place, &form)?;
            self.lemma(&format!("{place}.not_up"), &change, &fact.not_up, false)?;
            let fall = combine(&place, Form::default(), -1, &change)?;
            self.lemma(&format!("{place}.not_down"), &fall, &fact.not_down, false)?;
            if form.least_delay() != Some(0) {
                return refused(place, "does not begin at the running step");
            }
            conserved.push(form);
        }
        if failures.len() != refutations.cases.len() {
            return refused("cases", "not one per way to fail");
        }
        for (index, (conjunction, case)) in failures.iter().zip(&refutations.cases).enumerate() {
            self.refutation(&format!("cases[{index}]"), conjunction, &conserved, case)?;
        }
        Ok(())
    }

    fn refutation(
        &self,
        place: &str,
        conjunction: &[Form],
        conserved: &[Form],
        case: &Refutation,
    ) -> Checked<()> {
        if conjunction.len() != case.multipliers.len() {
            return refused(place, "not one multiplier per inequality");
        }
        let allowed = 0..=MAX_COEFFICIENT;
        if case.unit < 1
            || !case
                .multipliers
                .iter()
                .chain([&case.unit])
                .all(|m| allowed.contains(m))
        {
            return refused(place, "a multiplier is negative or too large");
        }
        let mut combination = Form::constant(case.unit);
        for (form, &multiplier) in conjunction.iter().zip(&case.multipliers) {
            let Some(form) = freeze(form, conserved) else {
                return refused(place, "does not fit into 64 bits");
            };
            combination = combine(place, combination, -multiplier, &form)?;
        }
        let Some(combination) = combination.relaxed() else {
            return refused(place, "the combination is not bounded by a sum over cells");
        };
        let (now, start) = combination.split();
        let constant = Form::constant(combination.constant);
        match &case.reason {
            RefutationReason::EveryState(lemma) => {
                if !start.is_constant() {
                    return refused(place, "the combination reads the start");
                }
                self.lemma(place, &combine(place, now, 1, &constant)?, lemma, false)
            }
            RefutationReason::Bounded {
                invariant,
                above,
                step,
                start: first,
            } => {
                let invariant = self.form(&format!("{place}.invariant"), invariant)?;
                let gap = combine(place, now, -1, &invariant)?;
                self.lemma(&format!("{place}.above"), &gap, above, false)?;
                let change = later(place, &invariant)?;
                self.lemma(&format!("{place}.step"), &change, step, false)?;
                let sum = combine(place, invariant, 1, &start.anchored(false))?;
                let sum = combine(place, sum, 1, &constant)?;
                self.lemma(&format!("{place}.start"), &sum, first, true)
            }
        }
    }

    /// Reads a form of a certificate.
    fn form(&self, place: &str, counts: &[Count]) -> Checked<Form> {
        match read(counts, self.universe.alphabet()) {
            Some(form) => Ok(form),
            None => refused(
                place,
                "not a sum of pattern counts in its one way of writing",
            ),
        }
    }

    /// Checks that the potentials show that a form is never positive.
    ///
    /// The states are those of all symbols, or of the symbols that may start if `starting`.
    fn lemma(&self, place: &str, form: &Form, lemma: &Lemma, starting: bool) -> Checked<()> {
        let symbols: Vec<Symbol> = (0..self.symbols() as Symbol)
            .filter(|&symbol| !starting || self.universe.may_start(symbol))
            .collect();
        let (scale, slack) = (i128::from(lemma.scale), i128::from(lemma.slack));
        let constant = i128::from(form.constant);
        // scale * sum + slack * N <= 0 and N >= 1 give sum <= -ceil(slack / scale), which must make up for the constant.
        let pays = if constant <= 0 {
            scale == 1 && slack == 0
        } else {
            scale >= 1 && slack >= 1 && scale * (constant - 1) < slack
        };
        if !pays {
            return refused(place, "scale and slack do not make up for the constant");
        }
        let width = form.width(self.universe.radius());
        let edges = width.and_then(|width| symbols.len().checked_pow(u32::try_from(width).ok()?));
        let (Some(width), Some(edges)) = (width, edges.filter(|&edges| edges <= MAX_EDGES)) else {
            return refused(place, "the windows are too many");
        };
        let nodes = edges / symbols.len();
        if lemma.potentials.len() != nodes || lemma.potentials[0] != 0 {
            return refused(place, "not one potential per node, or not 0 at the first");
        }
        let mut tight = vec![Vec::new(); nodes];
        for (edge, digits) in strings(symbols.len(), width).enumerate() {
            let window: Vec<Symbol> = digits
                .iter()
                .map(|&digit| symbols[usize::from(digit)])
                .collect();
            let Some(weight) = self.weight(form, window) else {
                return refused(place, "the form is not a sum over cells");
            };
            let (from, to) = (edge / symbols.len(), edge % nodes);
            let reached = i128::from(lemma.potentials[from]) + scale * weight + slack;
            let known = i128::from(lemma.potentials[to]);
            if reached > known {
                return refused(place, "a potential does not hold at a window");
            }
            if reached == known {
                tight[from].push(to);
            }
        }
        // If tight walks from the first node reach every node, the potentials are the least that hold, and the proof is unique.
        let (mut seen, mut open) = (vec![false; nodes], vec![0]);
        seen[0] = true;
        while let Some(node) = open.pop() {
            for &next in &tight[node] {
                if !seen[next] {
                    seen[next] = true;
                    open.push(next);
                }
            }
        }
        if seen.contains(&false) {
            return refused(place, "a potential is larger than the least one");
        }
        Ok(())
    }

    /// Returns the contribution of the leftmost cell of a window to a form.
    fn weight(&self, form: &Form, window: Vec<Symbol>) -> Option<i128> {
        let mut states = vec![window];
        let mut weight = 0;
        for (var, &coefficient) in &form.terms {
            let occurs = match var {
                Var::Length => true,
                Var::Cells { moment, at } if !moment.start => {
                    let step = moment.delay as usize;
                    while states.len() <= step {
                        let next = states[states.len() - 1]
                            .windows(2 * self.universe.radius() + 1)
                            .map(|seen| self.universe.next_cell(seen))
                            .collect();
                        states.push(next);
                    }
                    at.iter()
                        .all(|(offset, symbol)| states[step][*offset] == *symbol)
                }
                _ => return None,
            };
            if occurs {
                weight += i128::from(coefficient);
            }
        }
        Some(weight)
    }
}

fn combine(place: &str, form: Form, factor: i64, other: &Form) -> Checked<Form> {
    match form.add(factor, other) {
        Some(form) => Ok(form),
        None => refused(place, "does not fit into 64 bits"),
    }
}

/// Returns the change of a form from one step to the next.
fn later(place: &str, form: &Form) -> Checked<Form> {
    combine(place, form.later(1), -1, form)
}

/// Returns every string of a width, in symbol order.
fn strings(symbols: usize, width: usize) -> impl Iterator<Item = Vec<Symbol>> {
    let places = (0..width).rev().map(move |place| symbols.pow(place as u32));
    let places: Vec<usize> = places.collect();
    (0..symbols.pow(width as u32)).map(move |code| {
        places
            .iter()
            .map(|place| (code / place % symbols) as Symbol)
            .collect()
    })
}
