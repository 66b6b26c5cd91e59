//! A law as it is written down.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::normal::NormalLaw;
use super::resolve::{Ambiguity, ResolvedLaw};
use super::syntax::{Node, Op};

/// Which extensions of the claim language are on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extensions {
    /// Whether `local_transition` is a template.
    pub local_transition: bool,
}

/// The shapes a law may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Template {
    /// f(t) = f(0) for t = 0..T.
    Invariant,
    /// f(t+1) <= f(t), or >=, for t = 0..T-1.
    Monotone,
    /// f(t) op k for t = 0..T.
    Bound,
    /// P(t) -> Q(t+1) for t = 0..T-1.
    ImplicationStep,
    /// P(t) -> Q(t) for t = 0..T.
    ImplicationState,
    /// For t0 = 0..T: P(t0) -> Q(t) for some t in t0..t0+H.
    Eventually,
    /// `step^t(F(s)) = F(step^t(s))` for t = 0..T.
    SymmetryCommutation,
    /// An extension: what becomes of the cells with one symbol.
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

    /// The name laws use.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(template, _)| *template == self)
            .map_or("", |(_, name)| name)
    }
}

/// How long a law speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantifiers {
    /// The horizon T, `1..=1e9` steps.
    pub t: u64,
    /// The window H of `eventually`, `0..=1e9` steps.
    pub h: Option<u64>,
}

/// A condition on the initial state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Precondition {
    /// An expression or the name of an observable.
    pub lhs: String,
    /// One of `== != < <= > >=`.
    pub op: Op,
    /// As `lhs`; an integer is written out.
    pub rhs: String,
}

/// A named expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedExpr {
    /// What the claim calls it.
    pub name: String,
    /// What it is.
    pub expr: String,
}

/// Cases that the proposer asks for, beyond the harness's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedTest {
    /// The generator family.
    pub family: String,
    /// Ring sizes, each `1..=4096`.
    pub grid_lengths: Vec<usize>,
    /// How many cases, at most 1e6; what the harness grants is capped by its config.
    pub cases: Option<u64>,
}

/// What the proposer says it would need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
pub struct LocalFields {
    /// The symbol whose fate the law states.
    pub trigger: char,
    /// The three cells around it, if they matter.
    pub pattern: Option<String>,
    /// The parity of the index, if it matters.
    pub parity: Option<u8>,
    /// `==` or `!=`.
    pub result_op: Op,
    /// The symbol it becomes, or does not become.
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
    /// The proposer's name for it.
    pub(crate) id: String,
    /// Its shape.
    pub(crate) template: Template,
    /// Its horizon.
    pub(crate) quantifiers: Quantifiers,
    /// What the initial state must satisfy.
    pub(crate) preconditions: Vec<Precondition>,
    /// What it measures.
    pub(crate) observables: Vec<NamedExpr>,
    /// What it says, as text; blank if other fields say it, a comment if there is a tree.
    pub(crate) claim: String,
    /// What would refute it, as text; never blank.
    pub(crate) forbidden: String,
    /// What it says, as a tree; wins over the text.
    pub(crate) claim_ast: Option<Node>,
    /// The transform of a symmetry.
    pub(crate) transform: Option<String>,
    /// `<=` or `>=`, for `monotone`.
    pub(crate) direction: Option<Op>,
    /// The constant of a bound.
    pub(crate) bound_value: Option<i64>,
    /// The comparison of a bound.
    pub(crate) bound_op: Option<Op>,
    /// The fields of the extension, where the template is `local_transition`.
    pub(crate) local: Option<LocalFields>,
    /// Cases the proposer asks for.
    pub(crate) proposed_tests: Vec<ProposedTest>,
    /// What the proposer says it would need.
    pub(crate) capabilities: Capabilities,
    /// Its JSON, for packages that must be replayed alone.
    pub(crate) source: Value,
    /// The resolved claim, worked out once.
    pub(super) resolved: OnceLock<Result<ResolvedLaw, Ambiguity>>,
    /// The normal form, worked out once.
    pub(super) normal: OnceLock<NormalLaw>,
}

impl Law {
    /// The proposer's name for it.
    pub fn law_id(&self) -> &str {
        &self.id
    }

    /// The shape.
    pub fn template(&self) -> Template {
        self.template
    }

    /// The conditions on the initial state.
    pub fn preconditions(&self) -> &[Precondition] {
        &self.preconditions
    }

    /// The claim as text; blank if other fields say it, a comment if there is a tree.
    pub fn claim(&self) -> &str {
        &self.claim
    }

    /// The text that says what would refute it; never blank.
    pub fn forbidden(&self) -> &str {
        &self.forbidden
    }

    /// The transform of a symmetry.
    pub fn transform(&self) -> Option<&str> {
        self.transform.as_deref()
    }

    /// The JSON of the law, as it was read or built.
    pub fn source(&self) -> &Value {
        &self.source
    }
}
