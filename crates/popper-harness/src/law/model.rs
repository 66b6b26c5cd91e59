//! A law as it was written.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::normal::NormalLaw;
use super::resolve::{Ambiguity, ResolvedLaw};
use super::syntax::{Node, Op};

/// The extensions of the claim language that are on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extensions {
    /// Whether `local_transition` is a template.
    pub local_transition: bool,
}

impl Extensions {
    /// Every extension is on.
    pub const ALL: Self = Self {
        local_transition: true,
    };
}

/// The templates of laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Template {
    /// The claim f(t) = f(0) for t = 0..T.
    Invariant,
    /// The claim f(t+1) <= f(t), or >=, for t = 0..T-1.
    Monotone,
    /// The claim f(t) op k for t = 0..T.
    Bound,
    /// The claim P(t) -> Q(t+1) for t = 0..T-1.
    ImplicationStep,
    /// The claim P(t) -> Q(t) for t = 0..T.
    ImplicationState,
    /// The claim P(t0) -> Q(t) for some t in t0..t0+H, for t0 = 0..T.
    Eventually,
    /// The claim `step^t(F(s)) = F(step^t(s))` for t = 0..T.
    SymmetryCommutation,
    /// The claim of an extension: the next symbol of every cell with a given symbol.
    LocalTransition,
}

impl Template {
    /// All templates with the names laws use.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Invariant, "invariant"),
        (Self::Monotone, "monotone"),
        (Self::Bound, "bound"),
        (Self::ImplicationStep, "implication_step"),
        (Self::ImplicationState, "implication_state"),
        (Self::Eventually, "eventually"),
        (Self::SymmetryCommutation, "symmetry_commutation"),
        (Self::LocalTransition, "local_transition"),
    ];

    /// Returns the name in laws.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(template, _)| *template == self)
            .map_or("", |(_, name)| name)
    }
}

/// The horizon and the window of a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quantifiers {
    /// The horizon T, `1..=1e9` steps.
    pub t: u64,
    /// The window H of `eventually`, `0..=1e9` steps.
    pub h: Option<u64>,
}

/// A condition on the initial state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Precondition {
    /// An expression or the name of an observable.
    pub lhs: String,
    /// One of `== != < <= > >=`.
    pub op: Op,
    /// The other side, in the same form; an integer is written in digits.
    pub rhs: String,
}

/// A named expression.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedExpr {
    /// The name in the claim.
    pub name: String,
    /// The expression, in the observable grammar.
    pub expr: String,
}

/// Cases that the proposer asks for, beyond the harness's own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProposedTest {
    /// The generator family.
    pub family: String,
    /// Ring sizes, each `1..=4096`.
    pub grid_lengths: Vec<usize>,
    /// The number of cases, at most 1e6; `Config::proposed_cases` limits the cases of a law in all.
    pub cases: Option<u64>,
}

/// The observables, transforms and generators that the proposer declares missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Observables that the harness may lack.
    pub missing_observables: Vec<String>,
    /// Transforms that the harness may lack.
    pub missing_transforms: Vec<String>,
    /// Generator families that the harness may lack.
    pub missing_generators: Vec<String>,
}

/// The fields of the `local_transition` extension.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocalFields {
    /// The symbol of the cells that the law is about.
    pub trigger: char,
    /// The three cells around it, if they matter.
    pub pattern: Option<String>,
    /// The parity of the cell's index, if it matters.
    pub parity: Option<u8>,
    /// The comparison, `==` or `!=`.
    pub result_op: Op,
    /// The symbol that the cell becomes, or does not become.
    pub result: char,
}

/// A law, read or built, and checked for form but not yet resolved against a universe.
///
/// Its fields are private, so that its source is always its JSON:
///
/// ```compile_fail,E0616
/// # use popper_harness::law::Law;
/// let mut law = Law::invariant("count('X')").build().unwrap();
/// law.source = Default::default();
/// ```
#[derive(Debug, Clone)]
pub struct Law {
    /// The proposer's name for the law.
    pub(crate) id: String,
    /// The template of the law.
    pub(crate) template: Template,
    /// The horizon and the window.
    pub(crate) quantifiers: Quantifiers,
    /// The conditions on the initial state.
    pub(crate) preconditions: Vec<Precondition>,
    /// The declared observables.
    pub(crate) observables: Vec<NamedExpr>,
    /// The claim as text; blank if other fields state it, a comment if there is a tree.
    pub(crate) claim: String,
    /// The text that says what would refute the law; never blank.
    pub(crate) forbidden: String,
    /// The claim as a tree, which takes precedence over the text.
    pub(crate) claim_ast: Option<Node>,
    /// The transform of a symmetry.
    pub(crate) transform: Option<String>,
    /// The direction of `monotone`, `<=` or `>=`.
    pub(crate) direction: Option<Op>,
    /// The constant of a bound.
    pub(crate) bound_value: Option<i64>,
    /// The comparison of a bound.
    pub(crate) bound_op: Option<Op>,
    /// The fields of the extension, where the template is `local_transition`.
    pub(crate) local: Option<LocalFields>,
    /// The cases that the proposer asks for.
    pub(crate) proposed_tests: Vec<ProposedTest>,
    /// The capabilities that the proposer declares missing.
    pub(crate) capabilities: Capabilities,
    /// The JSON of the law, for counterexamples.
    pub(crate) source: Value,
    /// The resolved law, computed once.
    pub(super) resolved: OnceLock<Result<ResolvedLaw, Ambiguity>>,
    /// The normal form, computed once.
    pub(super) normal: OnceLock<NormalLaw>,
}

impl Law {
    /// Returns the proposer's name for the law.
    pub fn law_id(&self) -> &str {
        &self.id
    }

    /// Returns the template.
    pub fn template(&self) -> Template {
        self.template
    }

    /// Returns the conditions on the initial state.
    pub fn preconditions(&self) -> &[Precondition] {
        &self.preconditions
    }

    /// Returns the claim as text; blank if other fields state it, a comment if there is a tree.
    pub fn claim(&self) -> &str {
        &self.claim
    }

    /// Returns the text that says what would refute the law; never blank.
    pub fn forbidden(&self) -> &str {
        &self.forbidden
    }

    /// Returns the transform of a symmetry.
    pub fn transform(&self) -> Option<&str> {
        self.transform.as_deref()
    }

    /// Returns the JSON of the law, as it was read or built.
    pub fn source(&self) -> &Value {
        &self.source
    }
}
