//! The parts of a proof.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::linear::{Form, TimeIndex, Var};
use crate::universe::Alphabet;

/// The version of the proof format.
pub(crate) const SCHEMA_VERSION: &str = "1.1.0";
/// The version in a proof whose certificate the format had from the first on.
const FIRST_VERSION: &str = "1.0.0";
/// The scope of every proof.
pub(super) const SCOPE: &str = "every ring size N >= 1, every t";
/// The latest step after the current one that a form of a certificate may read; the search uses earlier ones.
pub(super) const MAX_DELAY: u64 = 16;
/// The largest multiplier or coefficient of a certificate, so that sums stay far within 64 bits.
pub(super) const MAX_COEFFICIENT: i64 = 1 << 32;
/// The largest window graph, in edges, that is searched or checked.
pub(super) const MAX_EDGES: usize = 70_000;

/// A proof that a law holds in every admissible run on every ring, whatever T, H and the preconditions.
///
/// It is plain data: [`verify_proof`](super::verify_proof) needs nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Proof {
    /// The version of this format: `"1.1.0"` with the method `regular`, else `"1.0.0"`.
    pub schema_version: String,
    /// The method of the proof.
    pub method: Method,
    /// The scope, `"every ring size N >= 1, every t"`.
    pub scope: String,
    /// The law's normal form.
    pub law: Value,
    /// The sha256 of `law`, 64 hex digits.
    pub law_fingerprint: String,
    /// The name of the built-in universe, or the definition of another one.
    pub universe: Value,
    /// The universe's `definition_hash`.
    pub sim_hash: String,
    /// The finite facts that imply the law.
    pub certificate: Certificate,
    /// The sha256 of the JSON of everything else with sorted keys, 64 hex digits.
    pub digest: String,
}

/// A method of proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a checker knows every method")]
pub enum Method {
    /// A transform commutes with the local rule on every neighbourhood.
    RuleCommutes,
    /// The rule is the same at every cell, so shifts commute with it.
    Homogeneity,
    /// The rule satisfies the law on every neighbourhood.
    RuleTable,
    /// No cycle of a window graph has the wrong sign.
    WindowGraph,
    /// A window graph, together with a quantity that never grows and its value at the start.
    Induction,
    /// A set of words that holds all that occurs in the states of a run, and automata that read rings of such words.
    Regular,
}

/// The finite facts of a proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(clippy::exhaustive_enums, reason = "a checker knows every certificate")]
pub enum Certificate {
    /// The transform commutes with the local rule on every neighbourhood.
    RuleCommutes {
        /// The number of neighbourhoods.
        neighbourhoods: usize,
    },
    /// The rule is the same at every cell, so there are no facts to check.
    Homogeneity {},
    /// The local rule satisfies the law on every window.
    RuleTable {
        /// The number of windows.
        windows: usize,
        /// The number of windows with the trigger.
        triggered: usize,
    },
    /// Every way in which the claim could fail is refuted.
    Refutations(Refutations),
    /// Every way in which the claim could fail is refuted on the rings that can occur.
    Regular(Regular),
}

impl Certificate {
    /// Returns the version of the format that has this certificate.
    pub(super) fn schema_version(&self) -> &'static str {
        match self {
            Self::Regular(_) => SCHEMA_VERSION,
            _ => FIRST_VERSION,
        }
    }
}

/// The ways in which a claim could fail, each refuted by a regular set of rings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Regular {
    /// One case per conjunction, in order; one in all for an `eventually`.
    pub cases: Vec<RegularCase>,
}

/// A region, which holds all words of the states from some step on, and a reason why no ring of such words is in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RegularCase {
    /// The length of the words, 1 to 4.
    pub m: usize,
    /// The number of steps after which the region begins, 0 to 2.
    pub s: u64,
    /// The words of `m + 2 * radius * s` cells of the states at the start, in symbol order.
    pub start_words: Vec<String>,
    /// The words of `m` cells of the states from step `s` on, in symbol order.
    pub words: Vec<String>,
    /// The reason.
    pub refutation: RegularReason,
}

/// A reason why no ring whose words are in a region meets a conjunction of inequalities `h[i] <= 0`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum RegularReason {
    /// No closed walk is accepted.
    Empty {},
    /// The heaviest accepted walk shows `unit - sum(multipliers[i] * h[i]) <= 0`.
    Heaviest {
        /// The constant, at least 1.
        unit: i64,
        /// The multipliers, one per inequality, each at least 0.
        multipliers: Vec<i64>,
    },
    /// A quantity I that never grows on the region bounds `unit - sum(multipliers[i] * h[i]) = A(t) + B(0) + c`.
    ///
    /// `A <= I` on the accepted walks, and `I(s) + B(0) + c <= 0` from the start.
    Bounded {
        /// The constant, at least 1.
        unit: i64,
        /// The multipliers, one per inequality, each at least 0.
        multipliers: Vec<i64>,
        /// The quantity I.
        invariant: Vec<Count>,
    },
    /// A sum has the same remainder at all steps from `s` on, and with its remainder there no start is left.
    Modulo {
        /// The divisor, at least 1.
        k: i64,
        /// The sum.
        form: Vec<Count>,
    },
    /// The words of the states without Q become fewer with each step after P, until there are none.
    Rank {
        /// For each number of steps the words, in symbol order; the last set is empty.
        sets: Vec<Vec<String>>,
    },
}

/// The claim's negation, as conjunctions of linear inequalities `h <= 0`, each refuted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Refutations {
    /// The numbers of steps after the antecedent, at one of which the consequent holds; `[0]` except for `eventually`.
    pub delays: Vec<u64>,
    /// The conserved forms that occur inside products and remainders.
    pub conserved: Vec<Conserved>,
    /// The refutations, one per conjunction, in order.
    pub cases: Vec<Refutation>,
}

/// A form that has the same value at all steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Conserved {
    /// The form.
    pub form: Vec<Count>,
    /// The lemma that the form does not grow.
    pub not_up: Lemma,
    /// The lemma that the form does not fall.
    pub not_down: Lemma,
}

/// A refutation of a conjunction of inequalities `h[i] <= 0`.
///
/// It shows `unit - sum(multipliers[i] * h[i]) <= 0`, where `unit > 0`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Refutation {
    /// The constant in `unit - sum(...) <= 0`, at least 1.
    pub unit: i64,
    /// The multipliers, one per inequality, each at least 0.
    pub multipliers: Vec<i64>,
    /// The reason why the combination is not positive.
    pub reason: RefutationReason,
}

/// A reason why a combination `A(t) + B(0) + c` is never positive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum RefutationReason {
    /// The combination has no B, and `A + c <= 0` in every state of every ring.
    EveryState(Lemma),
    /// A quantity I bounds the combination: `A <= I` in every state, I never grows, and `I + B + c <= 0` at the start.
    Bounded {
        /// The quantity I.
        invariant: Vec<Count>,
        /// The lemma `A - I <= 0` for every state.
        above: Lemma,
        /// The lemma `I(t + 1) - I(t) <= 0` for every state.
        step: Lemma,
        /// The lemma `I + B + c <= 0` for every state that may start.
        start: Lemma,
    },
}

/// A lemma: a sum of weights over the windows of a ring, plus a constant c, is never positive.
///
/// A ring is a closed walk in the graph whose edges are the windows. The potentials show that no cycle is positive under
/// the weights `scale * weight + slack`. Hence `scale * sum + slack * N <= 0`, and with N >= 1 the sum is at most
/// `-ceil(slack / scale)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Lemma {
    /// The factor of the weights, at least 1.
    pub scale: i64,
    /// The slack of each window, at least 0; 0 if c <= 0.
    pub slack: i64,
    /// The greatest weight of a walk from the first string to each string, in symbol order.
    ///
    /// The strings are one cell shorter than the windows.
    pub potentials: Vec<i64>,
}

/// A term of a form: the number of cells at which a pattern occurs, times a coefficient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Count {
    /// The pattern, `?` for any symbol; empty for the number of cells.
    pub pattern: String,
    /// The number of steps after which it is counted.
    pub delay: u64,
    /// The coefficient, not 0.
    pub coefficient: i64,
}

/// Writes a local form, read at the running step and later, as data.
pub(super) fn write(form: &Form, alphabet: &Alphabet) -> Option<Vec<Count>> {
    form.terms
        .iter()
        .map(|(var, &coefficient)| {
            let (pattern, delay) = match var {
                Var::Length => (String::new(), 0),
                Var::Cells { moment, at } if !moment.start => {
                    let width = at.last().map_or(0, |(offset, _)| offset + 1);
                    let mut pattern = vec!['?'; width];
                    for (offset, symbol) in at {
                        pattern[*offset] = alphabet.char(*symbol);
                    }
                    (pattern.into_iter().collect(), moment.delay)
                }
                _ => return None,
            };
            Some(Count {
                pattern,
                delay,
                coefficient,
            })
        })
        .collect()
}

/// Reads a form from data; `None` if the data are not the output of [`write`] or beyond the limits.
pub(super) fn read(counts: &[Count], alphabet: &Alphabet) -> Option<Form> {
    let small = counts.iter().all(|count| {
        count.delay <= MAX_DELAY
            && (-MAX_COEFFICIENT..=MAX_COEFFICIENT).contains(&count.coefficient)
    });
    if !small {
        return None;
    }
    let mut form = Form::default();
    for count in counts {
        let var = if count.pattern.is_empty() {
            Var::Length
        } else {
            let mut at = Vec::new();
            for (offset, char) in count.pattern.chars().enumerate() {
                match alphabet.symbol(char) {
                    Some(symbol) => at.push((offset, symbol)),
                    None if char == '?' => {}
                    None => return None,
                }
            }
            let moment = TimeIndex {
                start: false,
                delay: count.delay,
            };
            Var::Cells { moment, at }
        };
        form = form.add(count.coefficient, &Form::var(var))?;
    }
    // Only one way of writing a form is accepted, so that no byte of a proof is free.
    (write(&form, alphabet)? == counts).then_some(form)
}
