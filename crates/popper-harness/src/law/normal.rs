//! The normal form of a law and its fingerprint.
//!
//! Two laws with one fingerprint mean the same. With a `law_id` and a `forbidden` text the normal form is itself a law, in
//! which each observable is named by its canonical expression.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::ast;
use super::canonical::{formula, text, turned};
use super::error::{LawError, Problem};
use super::expr::Expr;
use super::limits::{MAX_NODES, MAX_NORMAL, MAX_TEXT};
use super::model::{
    Capabilities, Extensions, Law, LocalFields, NamedExpr, Precondition, ProposedTest, Quantifiers,
    Template,
};
use super::resolve::Statement;
use super::syntax::{self, Node, Op};
use crate::json::{MAX_DEPTH, hash};

/// A law in normal form. The fingerprint is the sha256 of its JSON.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NormalLaw {
    /// The template of the law.
    pub template: Template,
    /// The horizon T, in steps.
    pub horizon: u64,
    /// The window H of `eventually`, in steps.
    pub window: Option<u64>,
    /// The conditions on the initial state, sorted and without duplicates.
    pub preconditions: Vec<Precondition>,
    /// The observables, sorted and without duplicates.
    pub observables: Vec<NamedExpr>,
    /// The claim of the law.
    pub claim: NormalClaim,
    /// The direction of `monotone`, `<=` or `>=`.
    pub direction: Option<Op>,
    /// The constant of a bound.
    pub bound_value: Option<i64>,
    /// The comparison of a bound.
    pub bound_op: Option<Op>,
    /// The cases that the proposer asks for; they are not part of the JSON and the fingerprint.
    pub tests: Vec<ProposedTest>,
    /// The things that the proposer says are missing, sorted and without duplicates.
    pub capabilities: Capabilities,
}

/// The claim of a law in normal form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum NormalClaim {
    /// A formula over observables at times.
    Formula(Expr),
    /// A transform commutes with the step.
    Commutes(String),
    /// The next symbol of every cell with a given symbol.
    Local(LocalFields),
    /// The texts of a law without a single meaning, with their blanks folded.
    Unclear {
        /// The text of the claim.
        claim: String,
        /// The tree as it was written.
        tree: Option<Value>,
        /// The transform of a symmetry.
        transform: Option<String>,
        /// The fields of the extension.
        local: Option<LocalFields>,
    },
}

impl Law {
    /// Returns the normal form, which has every field that matters.
    pub fn normal(&self) -> &NormalLaw {
        self.normal.get_or_init(|| self.normal_form())
    }

    /// Returns the sha256 of the normal form's JSON, 64 hex digits.
    pub fn fingerprint(&self) -> String {
        self.normal().fingerprint()
    }

    fn normal_form(&self) -> NormalLaw {
        let (claim, observables, mut preconditions) = match self.resolve() {
            Ok(resolved) => {
                let names: BTreeSet<String> = resolved
                    .observables
                    .iter()
                    .map(|(_, node)| text(node))
                    .collect();
                let named = |expr: String| NamedExpr {
                    name: expr.clone(),
                    expr,
                };
                let claim = match &resolved.claim {
                    Statement::Formula(claim) => NormalClaim::Formula(formula(claim)),
                    Statement::Commutes(name) => NormalClaim::Commutes(name.clone()),
                    Statement::Local(fields) => NormalClaim::Local(fields.clone()),
                };
                let conditions = resolved.preconditions.iter();
                let conditions = conditions.map(|(op, left, right)| condition(*op, left, right));
                (
                    claim,
                    names.into_iter().map(named).collect(),
                    conditions.collect(),
                )
            }
            Err(_) => self.texts(),
        };
        // The order of the texts of the operators is the order of their JSON.
        preconditions.sort_by(|one, other| one.key().cmp(&other.key()));
        preconditions.dedup();
        let window = self.quantifiers.h;
        let sorted = |names: &[String]| {
            let names: BTreeSet<&String> = names.iter().collect();
            names.into_iter().cloned().collect()
        };
        NormalLaw {
            template: self.template,
            horizon: self.quantifiers.t,
            window: window.filter(|_| self.template == Template::Eventually),
            preconditions,
            observables,
            claim,
            direction: self.direction,
            bound_value: self.bound_value,
            bound_op: self.bound_op,
            tests: self.proposed_tests.clone(),
            capabilities: Capabilities {
                missing_observables: sorted(&self.capabilities.missing_observables),
                missing_transforms: sorted(&self.capabilities.missing_transforms),
                missing_generators: sorted(&self.capabilities.missing_generators),
            },
        }
    }

    /// Returns the texts of the law as its normal form, since it has no single meaning.
    fn texts(&self) -> (NormalClaim, Vec<NamedExpr>, Vec<Precondition>) {
        let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let claim = NormalClaim::Unclear {
            claim: fold(&self.claim),
            tree: self
                .source
                .get("claim_ast")
                .filter(|tree| !tree.is_null())
                .cloned(),
            transform: self.transform.clone(),
            local: self.local.clone(),
        };
        let observables = self.observables.iter().map(|named| NamedExpr {
            name: named.name.clone(),
            expr: fold(&named.expr),
        });
        let conditions = self.preconditions.iter().map(|given| Precondition {
            lhs: fold(&given.lhs),
            op: given.op,
            rhs: fold(&given.rhs),
        });
        (claim, observables.collect(), conditions.collect())
    }
}

/// Returns a precondition in canonical form.
fn condition(op: Op, left: &Node, right: &Node) -> Precondition {
    let (op, left, right) = turned(op, left, right);
    let (mut left, mut right) = (text(left), text(right));
    if op.is_commutative() && right < left {
        std::mem::swap(&mut left, &mut right);
    }
    Precondition {
        lhs: left,
        op,
        rhs: right,
    }
}

impl Precondition {
    fn key(&self) -> (&str, &str, &str) {
        (&self.lhs, self.op.text(), &self.rhs)
    }
}

impl NormalLaw {
    /// Reads a normal form, or any law without a name; `path` names the value in messages.
    ///
    /// # Errors
    /// [`LawError`] with every problem of the law.
    pub fn from_value(value: Value, path: &str) -> Result<Self, LawError> {
        let extensions = Extensions {
            local_transition: true,
        };
        let law = Law::from_value(named(value, "unnamed"), path, extensions)?;
        Ok(law.normal().clone())
    }

    /// Returns the normal form as a law of this name.
    pub fn to_law(&self, id: &str) -> Law {
        let source = named(hash::value(self), id);
        let (claim, transform, local) = match &self.claim {
            NormalClaim::Formula(_) => (String::new(), None, None),
            NormalClaim::Commutes(name) => (String::new(), Some(name.clone()), None),
            NormalClaim::Local(fields) => (String::new(), None, Some(fields.clone())),
            NormalClaim::Unclear {
                claim,
                transform,
                local,
                ..
            } => (claim.clone(), transform.clone(), local.clone()),
        };
        Law {
            id: id.into(),
            template: self.template,
            quantifiers: Quantifiers {
                t: self.horizon,
                h: self.window,
            },
            preconditions: self.preconditions.clone(),
            observables: self.observables.clone(),
            claim,
            forbidden: FORBIDDEN.into(),
            claim_ast: source
                .get("claim_ast")
                .and_then(|tree| ast::read_alone(tree).ok()),
            transform,
            direction: self.direction,
            bound_value: self.bound_value,
            bound_op: self.bound_op,
            local,
            proposed_tests: self.tests.clone(),
            capabilities: self.capabilities.clone(),
            source,
            resolved: OnceLock::new(),
            normal: OnceLock::new(),
        }
    }

    /// Returns the sha256 of the JSON, 64 hex digits.
    pub fn fingerprint(&self) -> String {
        hash::of(&hash::json(self))
    }

    /// Returns the sha256 of the JSON in which T and H are 0, 64 hex digits.
    ///
    /// A proof speaks of every T. So a proved law proves each law with the same digest whose H is not smaller.
    pub fn claim_fingerprint(&self) -> String {
        let claim = Self {
            horizon: 0,
            window: self.window.map(|_| 0),
            ..self.clone()
        };
        claim.fingerprint()
    }
}

/// The `forbidden` text of a normal form, which carries no meaning.
const FORBIDDEN: &str = "anything else";

/// Adds the fields that a law has and a normal form does not.
fn named(mut value: Value, id: &str) -> Value {
    if let Value::Object(map) = &mut value {
        map.insert("law_id".into(), json!(id));
        map.insert("forbidden".into(), json!(FORBIDDEN));
    }
    value
}

/// Writes the claim, with every observable named by its expression.
impl fmt::Display for NormalLaw {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.claim {
            NormalClaim::Formula(claim) => claim.fmt(out),
            NormalClaim::Commutes(name) => write!(out, "commutes({name})"),
            NormalClaim::Local(fields) => {
                write!(out, "each cell '{}'", fields.trigger)?;
                if let Some(pattern) = &fields.pattern {
                    write!(out, " in the middle of '{pattern}'")?;
                }
                if let Some(parity) = fields.parity {
                    write!(out, " with index % 2 == {parity}")?;
                }
                let (op, result) = (fields.result_op.text(), fields.result);
                write!(out, " is {op} '{result}' one step on")
            }
            NormalClaim::Unclear { claim, .. } => out.write_str(claim),
        }
    }
}

/// The JSON of a normal form: the keys in alphabetical order, absent ones left out.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_op: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_value: Option<i64>,
    capability_requirements: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_ast: Option<WrittenTree<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbor_pattern: Option<&'a str>,
    observables: Value,
    preconditions: Value,
    quantifiers: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    required_parity: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_op: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_symbol: Option<char>,
    schema_version: &'static str,
    template: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transform: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trigger_symbol: Option<char>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WrittenTree<'a> {
    Read(&'a Expr),
    Unread(&'a Value),
}

impl Serialize for NormalLaw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (claim, claim_ast, transform, local) = match &self.claim {
            NormalClaim::Formula(claim) => (None, Some(WrittenTree::Read(claim)), None, None),
            NormalClaim::Commutes(name) => (None, None, Some(name.as_str()), None),
            NormalClaim::Local(fields) => (None, None, None, Some(fields)),
            NormalClaim::Unclear {
                claim,
                tree,
                transform,
                local,
            } => {
                let tree = tree.as_ref().map(WrittenTree::Unread);
                (
                    Some(claim.as_str()),
                    tree,
                    transform.as_deref(),
                    local.as_ref(),
                )
            }
        };
        let quantifiers = match self.window {
            Some(h) => json!({"T": self.horizon, "H": h}),
            None => json!({"T": self.horizon}),
        };
        let observables = self.observables.iter();
        let observables = observables.map(|named| json!({"name": named.name, "expr": named.expr}));
        let conditions = self.preconditions.iter().map(Precondition::key);
        let conditions = conditions.map(|(lhs, op, rhs)| json!({"lhs": lhs, "op": op, "rhs": rhs}));
        let written = Written {
            bound_op: self.bound_op.map(Op::text),
            bound_value: self.bound_value,
            capability_requirements: json!({
                "missing_observables": self.capabilities.missing_observables,
                "missing_transforms": self.capabilities.missing_transforms,
                "missing_generators": self.capabilities.missing_generators,
            }),
            claim,
            claim_ast,
            direction: self.direction.map(Op::text),
            neighbor_pattern: local.and_then(|fields| fields.pattern.as_deref()),
            observables: observables.collect(),
            preconditions: conditions.collect(),
            quantifiers,
            required_parity: local.and_then(|fields| fields.parity),
            result_op: local.map(|fields| fields.result_op.text()),
            result_symbol: local.map(|fields| fields.result),
            schema_version: "1.0.0",
            template: self.template.name(),
            transform,
            trigger_symbol: local.map(|fields| fields.trigger),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for NormalLaw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_value(value, "$").map_err(D::Error::custom)
    }
}

impl Law {
    /// Returns the first limit that the normal form of this law exceeds; `root` names the law in the path.
    pub(super) fn beyond_limits(&self, root: &str) -> Option<Problem> {
        let normal = self.normal();
        let at = |field: &str, message: String| {
            Some(Problem {
                path: format!("{root}{field}"),
                message,
            })
        };
        if let Ok(resolved) = self.resolve() {
            for (index, (_, node)) in resolved.observables.iter().enumerate() {
                if let Some(message) = expression(&text(node)) {
                    return at(&format!(".observables[{index}].expr"), message);
                }
            }
            for (index, (_, left, right)) in resolved.preconditions.iter().enumerate() {
                if let Some(message) = expression(&text(left)).or_else(|| expression(&text(right)))
                {
                    return at(&format!(".preconditions[{index}]"), message);
                }
            }
            if let NormalClaim::Formula(claim) = &normal.claim
                && let Some(message) = tree(claim, 1, &mut 0)
            {
                let field = if self.claim_ast.is_some() {
                    ".claim_ast"
                } else {
                    ".claim"
                };
                return at(field, message);
            }
        }
        let length = hash::json(normal).len();
        let long = format!("has {length} bytes in normal form, the limit is {MAX_NORMAL}");
        (length > MAX_NORMAL).then(|| at("", long)).flatten()
    }
}

/// Returns the limit that an observable's canonical text exceeds.
fn expression(text: &str) -> Option<String> {
    if text.len() > MAX_TEXT {
        let length = text.len();
        return Some(format!(
            "has {length} bytes in normal form, the limit is {MAX_TEXT}"
        ));
    }
    let (mut depth, mut deepest, mut quote) = (0_usize, 0, None);
    for char in text.chars() {
        match (quote, char) {
            (Some(open), _) if open == char => quote = None,
            (None, '\'' | '"') => quote = Some(char),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > MAX_DEPTH {
        return Some(format!("nests deeper than {MAX_DEPTH}"));
    }
    let error = syntax::parse(text).err()?;
    Some(format!("cannot be written in normal form: {error}"))
}

/// Returns the limit that a canonical tree exceeds.
fn tree(node: &Expr, depth: usize, nodes: &mut usize) -> Option<String> {
    *nodes += 1;
    if depth > MAX_DEPTH {
        return Some(format!("nests deeper than {MAX_DEPTH}"));
    }
    if *nodes > MAX_NODES {
        return Some(format!("has more than {MAX_NODES} nodes"));
    }
    match node {
        Expr::Int(_) | Expr::Step => None,
        Expr::Obs(text, _) => expression(text),
        Expr::Neg(inner) | Expr::Not(inner) => tree(inner, depth + 1, nodes),
        Expr::Bin(_, left, right) => {
            tree(left, depth + 1, nodes).or_else(|| tree(right, depth + 1, nodes))
        }
    }
}
