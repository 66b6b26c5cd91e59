//! The reader of laws from JSON, which reports every problem of a law with its path.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;
use serde_json::value::RawValue;

use super::ast::read_ast;
use super::error::LawError;
use super::limits::{MAX_CASES, MAX_RING, MAX_STEPS};
use super::model::{
    Capabilities, Extensions, Law, LocalFields, NamedExpr, Precondition, ProposedTest, Quantifiers,
    Template,
};
use super::reader::{LawObject, problem};
use super::syntax::Op;
use crate::json::{self, kind};

/// The message for a law of an extension that is off.
pub const EXTENSION_OFF: &str = "`local_transition` is an extension that is off";

impl Law {
    /// Reads one law.
    ///
    /// # Errors
    /// [`LawError`] with every problem of the law.
    pub fn from_json(text: &str, extensions: Extensions) -> Result<Self, LawError> {
        Self::from_value(json::parse(text, "$")?, "$", extensions)
    }

    /// Reads a file that holds one law or an array of laws; a broken law does not spoil the others.
    ///
    /// # Errors
    /// [`LawError`] when the file as a whole is not JSON.
    pub fn read_all(
        text: &str,
        extensions: Extensions,
    ) -> Result<Vec<Result<Self, LawError>>, LawError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if !text.trim_start().starts_with('[') {
            // A raw value is scanned without recursion, so that depth cannot hide a syntax error or overflow the stack.
            serde_json::from_str::<&RawValue>(text)
                .map_err(|error| LawError::one("$", format!("not JSON: {error}")))?;
            return Ok(vec![Self::from_json(text, extensions)]);
        }
        let items: Vec<&RawValue> = serde_json::from_str(text)
            .map_err(|error| LawError::one("$", format!("not JSON: {error}")))?;
        let read = |(index, item): (usize, &&RawValue)| {
            let path = format!("$[{index}]");
            Self::from_value(json::parse(item.get(), &path)?, &path, extensions)
        };
        Ok(items.iter().enumerate().map(read).collect())
    }

    /// Reads a law from a JSON value; `path` names the value in messages.
    ///
    /// # Errors
    /// [`LawError`] with every problem of the law.
    pub fn from_value(value: Value, path: &str, extensions: Extensions) -> Result<Self, LawError> {
        let problems = RefCell::new(Vec::new());
        let law = match &value {
            Value::Object(map) => read_law(
                &LawObject {
                    path: path.into(),
                    map,
                    problems: &problems,
                },
                extensions,
            ),
            other => {
                problem(
                    &problems,
                    path,
                    format!("expected a law (an object), found {}", kind(other)),
                );
                None
            }
        };
        match (law, problems.into_inner()) {
            (Some(law), problems) if problems.is_empty() => {
                let law = Self {
                    source: value,
                    ..law
                };
                match law.beyond_limits(path) {
                    Some(problem) => Err(LawError {
                        problems: vec![problem],
                    }),
                    None => Ok(law),
                }
            }
            (_, problems) => Err(LawError { problems }),
        }
    }
}

const COMPARISONS: [(Op, &str); 6] = [
    (Op::Eq, "=="),
    (Op::Ne, "!="),
    (Op::Lt, "<"),
    (Op::Le, "<="),
    (Op::Gt, ">"),
    (Op::Ge, ">="),
];

const KEYS: [&str; 23] = [
    "schema_version",
    "law_id",
    "template",
    "quantifiers",
    "preconditions",
    "observables",
    "claim",
    "forbidden",
    "claim_ast",
    "transform",
    "direction",
    "bound_value",
    "bound_op",
    "proposed_tests",
    "capability_requirements",
    "distinguishes_from",
    "novelty_claim",
    "ranking_features",
    "trigger_symbol",
    "neighbor_pattern",
    "required_parity",
    "result_op",
    "result_symbol",
];

fn read_law(law: &LawObject<'_>, extensions: Extensions) -> Option<Law> {
    law.known(&KEYS);
    if let Some(version) = law.text("schema_version")
        && version.split('.').next() != Some("1")
    {
        let _: Option<()> = law.wrong(
            "schema_version",
            format!("is `{version}`, this program reads 1.x"),
        );
    }
    let law_id = law.filled_text("law_id");
    let template = law
        .require("template", "one of the templates")
        .and_then(|_| law.one_of("template", &Template::ALL));
    if template == Some(Template::LocalTransition) && !extensions.local_transition {
        let _: Option<()> = law.wrong("template", EXTENSION_OFF);
    }
    let quantifiers = law
        .require("quantifiers", "an object with T")
        .and_then(|_| law.object("quantifiers"))
        .and_then(|object| read_quantifiers(&object, template));
    let claim = if states_claim(law, template) {
        Some(law.text("claim").unwrap_or_default())
    } else {
        law.required_text("claim")
    };
    let forbidden = law.filled_text("forbidden");
    let claim_ast = law.get("claim_ast").and_then(|value| read_ast(law, value));
    let result = Law {
        preconditions: law
            .objects("preconditions")
            .filter_map(|object| read_precondition(&object))
            .collect(),
        observables: read_observables(law),
        transform: law.name("transform"),
        direction: law.one_of("direction", &[(Op::Le, "<="), (Op::Ge, ">=")]),
        bound_value: law.integer("bound_value", i64::MIN..=i64::MAX),
        bound_op: law.one_of("bound_op", &COMPARISONS),
        local: read_local(law, template),
        proposed_tests: law
            .objects("proposed_tests")
            .filter_map(|object| read_proposed(&object))
            .collect(),
        capabilities: law.object("capability_requirements").map_or_else(
            Capabilities::default,
            |object| {
                object.known(&[
                    "missing_observables",
                    "missing_transforms",
                    "missing_generators",
                ]);
                Capabilities {
                    missing_observables: object.names("missing_observables"),
                    missing_transforms: object.names("missing_transforms"),
                    missing_generators: object.names("missing_generators"),
                }
            },
        ),
        claim_ast,
        id: law_id?,
        template: template?,
        quantifiers: quantifiers?,
        claim: claim?,
        forbidden: forbidden?,
        source: Value::Null,
        resolved: OnceLock::new(),
        normal: OnceLock::new(),
    };
    Some(result)
}

/// Whether the other fields are the claim, so that its text may be absent.
fn states_claim(law: &LawObject<'_>, template: Option<Template>) -> bool {
    let has = |key: &str| law.get(key).is_some();
    let measures_one =
        || matches!(law.get("observables"), Some(Value::Array(items)) if items.len() == 1);
    has("claim_ast")
        || template.is_some_and(|template| match template {
            Template::Invariant => measures_one(),
            Template::Monotone => measures_one() && has("direction"),
            Template::Bound => measures_one() && has("bound_value") && has("bound_op"),
            Template::SymmetryCommutation => has("transform"),
            Template::LocalTransition => true,
            Template::ImplicationStep | Template::ImplicationState | Template::Eventually => false,
        })
}

fn read_quantifiers(object: &LawObject<'_>, template: Option<Template>) -> Option<Quantifiers> {
    object.known(&["T", "H"]);
    object.require("T", "the horizon in steps")?;
    let t = object.integer("T", 1..=MAX_STEPS as i64)?;
    if template == Some(Template::Eventually) {
        object.require("H", "the window in steps, which `eventually` needs")?;
    }
    let h = object.integer("H", 0..=MAX_STEPS as i64);
    Some(Quantifiers {
        t: t as u64,
        h: h.map(|h| h as u64),
    })
}

fn read_precondition(object: &LawObject<'_>) -> Option<Precondition> {
    object.known(&["lhs", "op", "rhs"]);
    let side = |key| match object.require(key, "a name, an expression or an integer")? {
        Value::Number(number) if number.is_i64() => Some(number.to_string()),
        _ => object.filled_text(key),
    };
    let op = object
        .require("op", "a comparison")
        .and_then(|_| object.one_of("op", &COMPARISONS));
    let (lhs, rhs) = (side("lhs"), side("rhs"));
    Some(Precondition {
        lhs: lhs?,
        op: op?,
        rhs: rhs?,
    })
}

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
        && !matches!(text, "t" | "and" | "or" | "not")
}

fn read_observables(law: &LawObject<'_>) -> Vec<NamedExpr> {
    let mut names = BTreeSet::new();
    law.objects("observables")
        .filter_map(|object| {
            object.known(&["name", "expr"]);
            let name = object.filled_text("name").and_then(|_| object.name("name"));
            let expr = object.filled_text("expr");
            let (name, expr) = (name?, expr?);
            // A normalised law calls an observable by its expression.
            if !is_identifier(&name) && name != expr {
                let message = "expected a name (letters, digits, `_`; not `t`, `and`, `or`, `not`)";
                return object.wrong("name", message);
            }
            if super::resolve::BUILT_IN.contains(&name.as_str()) && name != expr {
                return object.wrong(
                    "name",
                    format!("`{name}` is built in and cannot be given another meaning"),
                );
            }
            if !names.insert(name.clone()) {
                return object.wrong("name", format!("`{name}` is declared twice"));
            }
            Some(NamedExpr { name, expr })
        })
        .collect()
}

fn read_local(law: &LawObject<'_>, template: Option<Template>) -> Option<LocalFields> {
    let trigger = law.symbol("trigger_symbol");
    let result = law.symbol("result_symbol");
    let pattern = law.text("neighbor_pattern");
    if pattern
        .as_ref()
        .is_some_and(|pattern| pattern.chars().count() != 3)
    {
        let _: Option<()> = law.wrong("neighbor_pattern", "expected three symbols");
    }
    let parity = law
        .integer("required_parity", 0..=1)
        .map(|parity| parity as u8);
    let result_op = law.one_of("result_op", &COMPARISONS[..2]);
    if template != Some(Template::LocalTransition) {
        return None;
    }
    for key in ["trigger_symbol", "result_symbol"] {
        law.require(key, "one symbol, which `local_transition` needs");
    }
    Some(LocalFields {
        trigger: trigger?,
        pattern,
        parity,
        result_op: result_op.unwrap_or(Op::Eq),
        result: result?,
    })
}

fn read_proposed(object: &LawObject<'_>) -> Option<ProposedTest> {
    object.known(&["family", "params"]);
    let family = object.filled_text("family");
    // Parameters beyond these two belong to the proposer's own idea of a family and change nothing here.
    let params = object.object("params");
    let grid_lengths = params.as_ref().map_or_else(Vec::new, |params| {
        let items = params.array("grid_lengths").iter().enumerate();
        items
            .filter_map(|(index, value)| match value.as_u64() {
                Some(n) if (1..=MAX_RING).contains(&n) => Some(n as usize),
                _ => params.wrong(
                    &format!("grid_lengths[{index}]"),
                    format!("expected 1 to {MAX_RING}, found {value}"),
                ),
            })
            .collect()
    });
    let cases = params
        .and_then(|params| params.integer("cases", 0..=MAX_CASES as i64))
        .map(|cases| cases as u64);
    Some(ProposedTest {
        family: family?,
        grid_lengths,
        cases,
    })
}
