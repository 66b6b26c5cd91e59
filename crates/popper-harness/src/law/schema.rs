//! Reading laws from JSON: every problem of a law at once, each with its path.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::model::{
    Capabilities, Law, LocalFields, NamedExpr, Precondition, ProposedTest, Quantifiers, Template,
};
use super::syntax::{Kind, MAX_DEPTH, MAX_TEXT, Node, Op, Time};

/// The longest horizon and window, in steps.
pub const MAX_STEPS: u64 = 1_000_000_000;
/// The most observables, preconditions or proposed tests of one law.
pub const MAX_ITEMS: usize = 64;
/// The largest ring a proposer may ask for.
pub const MAX_RING: u64 = 4096;
/// The most cases a proposer may ask for.
pub const MAX_CASES: u64 = 1_000_000;
/// The most nodes of a claim tree.
pub const MAX_NODES: usize = 4096;

/// One thing that is wrong with a law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, as a JSON path such as `$.preconditions[0].op`.
    pub path: String,
    /// What was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path, self.message)
    }
}

/// A text that is not a law, with everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
#[non_exhaustive]
pub struct LawError {
    /// The problems, in the order of the text's keys; never empty.
    pub problems: Vec<Problem>,
}

impl LawError {
    fn one(path: &str, message: impl Into<String>) -> Self {
        Self {
            problems: vec![Problem {
                path: path.into(),
                message: message.into(),
            }],
        }
    }
}

/// Which extensions of the claim language are on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extensions {
    /// Whether `local_transition` is a template.
    pub local_transition: bool,
}

impl Law {
    /// Reads one law.
    ///
    /// # Errors
    /// [`LawError`] with every problem of the law.
    pub fn from_json(text: &str, extensions: Extensions) -> Result<Self, LawError> {
        let value = serde_json::from_str(text)
            .map_err(|error| LawError::one("$", format!("not JSON: {error}")))?;
        Self::from_value(value, "$", extensions)
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
            let value = serde_json::from_str(item.get())
                .map_err(|error| LawError::one(&path, format!("cannot be read: {error}")))?;
            Self::from_value(value, &path, extensions)
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
                &Object {
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
            (Some(law), problems) if problems.is_empty() => Ok(Self {
                source: value,
                ..law
            }),
            (_, problems) => Err(LawError { problems }),
        }
    }
}

type Problems = RefCell<Vec<Problem>>;

fn problem(problems: &Problems, path: &str, message: impl Into<String>) {
    problems.borrow_mut().push(Problem {
        path: path.into(),
        message: message.into(),
    });
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// An object under reading. Each getter notes what is wrong and answers `None`; `null` means absent.
struct Object<'a> {
    path: String,
    map: &'a Map<String, Value>,
    problems: &'a Problems,
}

impl<'a> Object<'a> {
    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    fn wrong<T>(&self, key: &str, message: impl Into<String>) -> Option<T> {
        problem(self.problems, &self.at(key), message);
        None
    }

    fn known(&self, keys: &[&str]) {
        for key in self.map.keys().filter(|key| !keys.contains(&key.as_str())) {
            let _: Option<()> = self.wrong(key, format!("unknown key `{key}`"));
        }
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn require(&self, key: &str, what: &str) -> Option<&'a Value> {
        self.get(key)
            .or_else(|| self.wrong(key, format!("is missing, expected {what}")))
    }

    fn text(&self, key: &str) -> Option<String> {
        let value = self.get(key)?;
        match value.as_str() {
            Some(text) if text.len() <= MAX_TEXT => Some(text.into()),
            Some(text) => self.wrong(
                key,
                format!("is {} bytes long, the limit is {MAX_TEXT}", text.len()),
            ),
            None => self.wrong(key, format!("expected a string, found {}", kind(value))),
        }
    }

    fn required_text(&self, key: &str) -> Option<String> {
        self.require(key, "a string")?;
        self.text(key)
    }

    fn filled_text(&self, key: &str) -> Option<String> {
        let text = self.required_text(key)?;
        if text.trim().is_empty() {
            self.wrong(key, "is blank")
        } else {
            Some(text)
        }
    }

    fn integer(&self, key: &str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let value = self.get(key)?;
        match value.as_i64() {
            Some(number) if range.contains(&number) => Some(number),
            Some(number) => self.wrong(
                key,
                format!("is {number}, expected {} to {}", range.start(), range.end()),
            ),
            None => self.wrong(key, format!("expected an integer, found {value}")),
        }
    }

    fn one_of<T: Copy>(&self, key: &str, choices: &[(T, &str)]) -> Option<T> {
        let text = self.text(key)?;
        choices
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(choice, _)| *choice)
            .or_else(|| {
                let names: Vec<_> = choices
                    .iter()
                    .map(|(_, name)| format!("`{name}`"))
                    .collect();
                self.wrong(key, format!("`{text}` is not one of {}", names.join(" ")))
            })
    }

    fn symbol(&self, key: &str) -> Option<char> {
        let text = self.text(key)?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(symbol), None) => Some(symbol),
            _ => self.wrong(key, "expected one symbol"),
        }
    }

    fn object(&self, key: &str) -> Option<Object<'a>> {
        match self.get(key)? {
            Value::Object(map) => Some(Object {
                path: self.at(key),
                map,
                problems: self.problems,
            }),
            other => self.wrong(key, format!("expected an object, found {}", kind(other))),
        }
    }

    fn array(&self, key: &str) -> &'a [Value] {
        match self.get(key) {
            None => &[],
            Some(Value::Array(items)) if items.len() <= MAX_ITEMS => items,
            Some(Value::Array(items)) => {
                let _: Option<()> = self.wrong(
                    key,
                    format!("has {} entries, the limit is {MAX_ITEMS}", items.len()),
                );
                &[]
            }
            Some(other) => {
                let _: Option<()> =
                    self.wrong(key, format!("expected an array, found {}", kind(other)));
                &[]
            }
        }
    }

    fn objects(&self, key: &str) -> impl Iterator<Item = Object<'a>> {
        self.array(key)
            .iter()
            .enumerate()
            .filter_map(move |(index, value)| match value {
                Value::Object(map) => Some(Object {
                    path: format!("{}[{index}]", self.at(key)),
                    map,
                    problems: self.problems,
                }),
                other => self.wrong(
                    &format!("{key}[{index}]"),
                    format!("expected an object, found {}", kind(other)),
                ),
            })
    }

    fn texts(&self, key: &str) -> Vec<String> {
        let read = |(index, value): (usize, &Value)| {
            value
                .as_str()
                .map(str::to_owned)
                .or_else(|| self.wrong(&format!("{key}[{index}]"), "expected a string"))
        };
        self.array(key)
            .iter()
            .enumerate()
            .filter_map(read)
            .collect()
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

fn read_law(law: &Object<'_>, extensions: Extensions) -> Option<Law> {
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
        let message =
            "`local_transition` is an extension that is off (`--extension local_transition`)";
        let _: Option<()> = law.wrong("template", message);
    }
    let quantifiers = law
        .require("quantifiers", "an object with T")
        .and_then(|_| law.object("quantifiers"))
        .and_then(|object| read_quantifiers(&object, template));
    let claim = law.required_text("claim");
    let forbidden = law.filled_text("forbidden");
    let claim_ast = law.get("claim_ast").and_then(|value| read_ast(law, value));
    let result = Law {
        preconditions: law
            .objects("preconditions")
            .filter_map(|object| read_precondition(&object))
            .collect(),
        observables: read_observables(law),
        transform: law.text("transform"),
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
                    missing_observables: object.texts("missing_observables"),
                    missing_transforms: object.texts("missing_transforms"),
                    missing_generators: object.texts("missing_generators"),
                }
            },
        ),
        claim_ast,
        law_id: law_id?,
        template: template?,
        quantifiers: quantifiers?,
        claim: claim?,
        forbidden: forbidden?,
        source: Value::Null,
    };
    Some(result)
}

fn read_quantifiers(object: &Object<'_>, template: Option<Template>) -> Option<Quantifiers> {
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

fn read_precondition(object: &Object<'_>) -> Option<Precondition> {
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

fn read_observables(law: &Object<'_>) -> Vec<NamedExpr> {
    let mut names = BTreeSet::new();
    law.objects("observables")
        .filter_map(|object| {
            object.known(&["name", "expr"]);
            let (name, expr) = (object.filled_text("name"), object.filled_text("expr"));
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

fn read_local(law: &Object<'_>, template: Option<Template>) -> Option<LocalFields> {
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

fn read_proposed(object: &Object<'_>) -> Option<ProposedTest> {
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

/// Reads a claim tree. The depth is bounded, so the recursion is.
fn read_ast(law: &Object<'_>, value: &Value) -> Option<Node> {
    let mut nodes = 0;
    read_node(law, value, "claim_ast", 1, &mut nodes)
}

fn read_node(
    law: &Object<'_>,
    value: &Value,
    path: &str,
    depth: usize,
    nodes: &mut usize,
) -> Option<Node> {
    *nodes += 1;
    if depth > MAX_DEPTH {
        return law.wrong("claim_ast", format!("nests deeper than {MAX_DEPTH}"));
    }
    if *nodes > MAX_NODES {
        return law.wrong("claim_ast", format!("has more than {MAX_NODES} nodes"));
    }
    let Value::Object(map) = value else {
        return law.wrong(
            path,
            format!("expected a node (an object), found {}", kind(value)),
        );
    };
    let keys: Vec<&str> = map.keys().map(String::as_str).collect();
    let mut child =
        |key: &str| read_node(law, &map[key], &format!("{path}.{key}"), depth + 1, nodes);
    match keys.as_slice() {
        ["const"] => match map["const"].as_i64() {
            Some(number) => Some(Node::made(Kind::Int(number))),
            None => law.wrong(
                &format!("{path}.const"),
                format!("expected an integer, found {}", map["const"]),
            ),
        },
        ["var"] if map["var"] == "t" => Some(Node::made(Kind::Step)),
        ["t_plus_1"] if map["t_plus_1"] == true => Some(Node::binary(
            Op::Add,
            Node::made(Kind::Step),
            Node::made(Kind::Int(1)),
        )),
        ["obs", "t"] => {
            let time = read_time(law, &map["t"], &format!("{path}.t"))?;
            match map["obs"].as_str() {
                Some(name) if name.len() <= MAX_TEXT => Some(Node::made(Kind::At(
                    Box::new(Node::made(Kind::Name(name.into()))),
                    time,
                ))),
                _ => law.wrong(&format!("{path}.obs"), "expected the name of an observable"),
            }
        }
        ["arg", "op"] => match map["op"].as_str() {
            Some("not") => Some(Node::made(Kind::Not(Box::new(child("arg")?)))),
            Some("-") => Some(Node::made(Kind::Neg(Box::new(child("arg")?)))),
            _ => law.wrong(&format!("{path}.op"), "expected `not`: only it takes `arg`"),
        },
        ["lhs", "op", "rhs"] => {
            let Some(op) = map["op"].as_str().and_then(Op::from_text) else {
                let message = format!(
                    "{} is not one of + - * / % == != < <= > >= => and or",
                    map["op"]
                );
                return law.wrong(&format!("{path}.op"), message);
            };
            let (left, right) = (child("lhs"), child("rhs"));
            Some(Node::binary(op, left?, right?))
        }
        _ => {
            let message = "expected one of {const} {var: \"t\"} {t_plus_1: true} {obs, t} {op, lhs, rhs} {op: \"not\", arg}";
            law.wrong(path, message)
        }
    }
}

fn read_time(law: &Object<'_>, value: &Value, path: &str) -> Option<Time> {
    if value.get("var").is_some_and(|var| var == "t") {
        Some(Time::Now)
    } else if value.get("t_plus_1").is_some_and(|next| next == true) {
        Some(Time::Next)
    } else if let Some(step) = value
        .get("const")
        .and_then(Value::as_u64)
        .filter(|step| *step <= MAX_STEPS)
    {
        Some(Time::At(step))
    } else {
        law.wrong(
            path,
            "expected {var: \"t\"}, {t_plus_1: true} or {const: k} with k >= 0",
        )
    }
}
