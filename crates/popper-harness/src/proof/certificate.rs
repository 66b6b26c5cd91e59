//! What a proof consists of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::linear::{Form, TimeIndex, Var};
use crate::universe::Alphabet;

/// The version of the proof format.
pub(super) const SCHEMA_VERSION: &str = "1.0.0";
/// What every proof covers.
pub(super) const SCOPE: &str = "every ring size N >= 1, every t";
/// The largest window graph, in edges, that is searched or checked.
pub(super) const MAX_EDGES: usize = 70_000;

/// A proof that a law holds in every admissible run on every ring, whatever T, H and the preconditions.
///
/// It is plain data: [`verify_proof`](super::verify_proof) needs nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The version of this format, `"1.0.0"`.
    pub schema_version: String,
    /// How it is proved.
    pub method: Method,
    /// What it covers: `"every ring size N >= 1, every t"`.
    pub scope: String,
    /// The law's normal form.
    pub law: Value,
    /// sha256 of `law`, 64 hex digits.
    pub law_fingerprint: String,
    /// The name of the built-in universe, or the definition of another one.
    pub universe: Value,
    /// The universe's `definition_hash`.
    pub sim_hash: String,
    /// The finite facts.
    pub certificate: Certificate,
    /// sha256 over the JSON of everything else, keys sorted, 64 hex digits.
    pub digest: String,
}

/// How a law is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A transform commutes with the local rule on every neighbourhood.
    RuleCommutes,
    /// The rule is the same at every cell, so shifts commute with it.
    Homogeneity,
    /// The rule does what the law says on every neighbourhood.
    RuleTable,
    /// No cycle of a window graph has the wrong sign.
    WindowGraph,
    /// The same, with something that never grows from step to step and its value at the start.
    Induction,
}

/// The finite facts of a proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Certificate {
    /// The transform commutes with the local rule on every neighbourhood.
    RuleCommutes {
        /// How many neighbourhoods there are.
        neighbourhoods: usize,
    },
    /// Nothing to check: the rule is the same at every cell.
    Homogeneity {},
    /// The local rule does what the law says on every window.
    RuleTable {
        /// How many windows there are.
        windows: usize,
        /// How many of them hold the trigger.
        triggered: usize,
    },
    /// Every way in which the claim could fail is refuted.
    Refutations(Refutations),
}

/// The claim's negation, as conjunctions of linear inequalities `h <= 0`, each refuted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refutations {
    /// How many steps after the antecedent the consequent is shown to hold, at one of these: `[0]` but for `eventually`.
    pub delays: Vec<u64>,
    /// Forms that stand inside products and remainders and are conserved.
    pub conserved: Vec<Conserved>,
    /// One refutation per conjunction, in order.
    pub cases: Vec<Refutation>,
}

/// A form that has one value at all steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conserved {
    /// The form.
    pub form: Vec<Count>,
    /// It does not grow.
    pub not_up: Lemma,
    /// It does not fall.
    pub not_down: Lemma,
}

/// A conjunction of inequalities `h[i] <= 0` that cannot hold: `unit - sum(multipliers[i] * h[i]) <= 0` is shown, and `unit > 0`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refutation {
    /// At least 1.
    pub unit: i64,
    /// None negative, one per inequality.
    pub multipliers: Vec<i64>,
    /// Why the combination is not positive.
    pub reason: RefutationReason,
}

/// Why a combination `A(t) + B(0) + c` is never positive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RefutationReason {
    /// There is no B, and `A + c <= 0` in every state of every ring.
    EveryState(Lemma),
    /// `A <= I` in every state, I never grows, and `I + B + c <= 0` at the start.
    Bounded {
        /// I
        invariant: Vec<Count>,
        /// `A - I <= 0` in every state.
        above: Lemma,
        /// `I(t + 1) - I(t) <= 0` in every state.
        step: Lemma,
        /// `I + B + c <= 0` in every state that may start.
        start: Lemma,
    },
}

/// Why a sum of weights over the windows of a ring, plus a constant c, is never positive.
///
/// A ring is a closed walk in the graph whose edges are the windows. The potentials show that no cycle is positive under the weights
/// `scale * weight + slack`; hence `scale * sum + slack * N <= 0`, and with N >= 1 the sum is at most `-ceil(slack / scale)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lemma {
    /// At least 1.
    pub scale: i64,
    /// At least 0; 0 where c <= 0.
    pub slack: i64,
    /// One per string of a window's width less one, in symbol order: the greatest weight of a walk from the first string.
    pub potentials: Vec<i64>,
}

/// One term of a form: at how many cells a pattern stands, times a coefficient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The pattern, `?` for any symbol; empty for the number of cells.
    pub pattern: String,
    /// How many steps later it is looked for.
    pub delay: u64,
    /// The coefficient, not 0.
    pub coefficient: i64,
}

/// A local form, read at the running step and later, as data.
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

/// The form that data stands for; `None` where the data are not what [`write`] makes.
pub(super) fn read(counts: &[Count], alphabet: &Alphabet) -> Option<Form> {
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
