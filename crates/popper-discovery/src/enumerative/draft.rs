//! Drafts of laws, and the names and texts that they get for people.

use popper_harness::law::syntax::{Op, Time};
use popper_harness::law::{
    Expr, Extensions, Law, NormalClaim, NormalLaw, Notation, Template, unwrapped,
};
use serde_json::{Map, Value, json};

/// An observable now.
pub(super) fn now(expr: &str) -> Expr {
    Expr::Obs(expr.to_owned(), Time::Now)
}

/// An observable one step on.
pub(super) fn next(expr: &str) -> Expr {
    Expr::Obs(expr.to_owned(), Time::Next)
}

/// An observable at the start.
pub(super) fn start(expr: &str) -> Expr {
    Expr::Obs(expr.to_owned(), Time::At(0))
}

/// The longest law id.
const ID_LIMIT: usize = 72;

/// Reads a law of the language without extensions.
pub(super) fn read(law: Value) -> Option<Law> {
    Law::from_value(law, "$", Extensions::default()).ok()
}

/// The claim of a law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LawBody {
    /// A formula.
    Claim(Expr),
    /// A transform commutes with the step.
    Commutes(String),
}

/// A law that is being composed, before it is written as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LawDraft {
    pub template: Template,
    /// T, in steps.
    pub t: u64,
    /// H, in steps, for `eventually`.
    pub h: Option<u64>,
    /// Conditions on the start: left side, comparison, right side.
    pub preconditions: Vec<[String; 3]>,
    pub said: LawBody,
}

impl LawDraft {
    /// A law without preconditions.
    pub(super) fn new(template: Template, t: u64, claim: Expr) -> Self {
        Self {
            template,
            t,
            h: None,
            preconditions: Vec::new(),
            said: LawBody::Claim(claim),
        }
    }

    /// The law that an expression never changes.
    pub(super) fn invariant(expr: &str, t: u64) -> Self {
        let claim = now(expr).op(Op::Eq, start(expr));
        Self::new(Template::Invariant, t, claim)
    }

    /// The law that a transform commutes with the step.
    pub(super) fn symmetry(transform: &str, t: u64) -> Self {
        Self {
            template: Template::SymmetryCommutation,
            t,
            h: None,
            preconditions: Vec::new(),
            said: LawBody::Commutes(transform.to_owned()),
        }
    }

    /// Reads a normal form. `None` for a claim that the mutations do not cover.
    pub(super) fn from_normal_form(law: &Value) -> Option<Self> {
        let law = NormalLaw::from_value(law.clone(), "$").ok()?;
        let said = match &law.claim {
            NormalClaim::Formula(claim) => LawBody::Claim(claim.as_people_write()),
            NormalClaim::Commutes(transform) => LawBody::Commutes(transform.clone()),
            _ => return None,
        };
        let conditions = law.preconditions.iter().map(|given| {
            let (lhs, rhs) = (unwrapped(&given.lhs).into(), unwrapped(&given.rhs).into());
            // The number follows what it is compared with, as people write it.
            if given.lhs.parse::<i64>().is_ok() {
                [rhs, given.op.mirrored().text().into(), lhs]
            } else {
                [lhs, given.op.text().into(), rhs]
            }
        });
        Some(Self {
            template: law.template,
            t: law.horizon,
            h: law.window,
            preconditions: conditions.collect(),
            said,
        })
    }

    /// The claim, where it is a formula.
    pub(super) fn claim(&self) -> Option<&Expr> {
        match &self.said {
            LawBody::Claim(claim) => Some(claim),
            LawBody::Commutes(_) => None,
        }
    }

    /// The law as JSON, with an id, names and texts that a person can read.
    pub(super) fn law(&self, symbols: &[char]) -> Value {
        let mut law = Map::new();
        let mut quantifiers = Map::new();
        quantifiers.insert("T".into(), json!(self.t));
        if let Some(h) = self.h {
            quantifiers.insert("H".into(), json!(h));
        }
        law.insert("schema_version".into(), json!("1.0.0"));
        law.insert("template".into(), json!(self.template.name()));
        law.insert("quantifiers".into(), quantifiers.into());
        law.insert("law_id".into(), json!(self.id(symbols)));
        law.insert("forbidden".into(), json!(self.forbidden(symbols)));
        let conditions = self.preconditions.iter();
        let conditions: Vec<Value> = conditions
            .map(|[lhs, op, rhs]| json!({"lhs": lhs, "op": op, "rhs": rhs}))
            .collect();
        law.insert("preconditions".into(), conditions.into());
        match &self.said {
            LawBody::Commutes(transform) => {
                law.insert("transform".into(), json!(transform));
                law.insert("claim".into(), json!(format!("commutes({transform})")));
            }
            LawBody::Claim(claim) => {
                let names = NameTable::of(claim, symbols);
                law.insert(
                    "claim".into(),
                    json!(claim.text(Notation::Grammar, &|expr| names.name(expr))),
                );
                let observables = names.0.iter();
                let observables: Vec<Value> = observables
                    .map(|(expr, name)| json!({"name": name, "expr": expr}))
                    .collect();
                law.insert("observables".into(), observables.into());
            }
        }
        Value::Object(law)
    }

    fn id(&self, symbols: &[char]) -> String {
        let kind = match self.template {
            Template::Invariant => "conserved",
            Template::Monotone => "monotone",
            Template::Bound => "bound",
            Template::ImplicationStep => "step",
            Template::ImplicationState => "state",
            Template::Eventually => "eventually",
            _ => "symmetry",
        };
        let mut words = match (&self.said, self.template) {
            (LawBody::Commutes(transform), _) => vec![transform.clone()],
            // "Conserved" says the rest.
            (LawBody::Claim(claim), Template::Invariant) if is_invariance(claim) => {
                let exprs = claim.observables();
                exprs.iter().map(|expr| spelled(expr, symbols)).collect()
            }
            (LawBody::Claim(claim), _) => vec![slug(claim, symbols)],
        };
        if let Some(h) = self.h {
            words.push(format!("within_{h}"));
        }
        for [lhs, op, rhs] in &self.preconditions {
            let op = Op::from_text(op).map_or("is", word);
            words.push(format!(
                "if_{}_{op}_{}",
                spelled(lhs, symbols),
                spelled(rhs, symbols)
            ));
        }
        let id = format!("{kind}_{}", words.join("_"));
        id.chars().take(ID_LIMIT).collect()
    }

    fn forbidden(&self, symbols: &[char]) -> String {
        let t = self.t;
        let names = self.claim().map(|claim| NameTable::of(claim, symbols));
        let name = |expr: &str| {
            names
                .as_ref()
                .map_or_else(String::new, |names| names.name(expr))
        };
        let text = |phrase: &Expr| phrase.text(Notation::Grammar, &name);
        match &self.said {
            LawBody::Commutes(transform) => format!(
                "a start and a t <= {t} for which {transform} before t steps and {transform} after t steps give different states"
            ),
            LawBody::Claim(Expr::Bin(Op::Implies, p, q)) => match self.h {
                Some(h) => format!(
                    "a step t <= {t} at which {} and then no step up to t+{h} at which {}",
                    text(p),
                    text(q)
                ),
                None => format!("a step t <= {t} at which {} and not ({})", text(p), text(q)),
            },
            LawBody::Claim(Expr::Bin(op, left, right)) if op.is_comparison() => {
                format!(
                    "a step t <= {t} at which {} {} {}",
                    text(left),
                    op.negated().text(),
                    text(right)
                )
            }
            LawBody::Claim(claim) => format!("a step t <= {t} at which not ({})", text(claim)),
        }
    }
}

/// Whether a claim says of some expressions that each stays what it was at the start, and nothing else.
fn is_invariance(claim: &Expr) -> bool {
    match claim {
        Expr::Bin(Op::And, left, right) => is_invariance(left) && is_invariance(right),
        Expr::Bin(Op::Eq, left, right) => match (left.as_ref(), right.as_ref()) {
            (Expr::Obs(one, Time::Now), Expr::Obs(other, Time::At(0)))
            | (Expr::Obs(one, Time::At(0)), Expr::Obs(other, Time::Now)) => one == other,
            _ => false,
        },
        _ => false,
    }
}

/// Names for the expressions of a claim, in order of appearance.
struct NameTable(Vec<(String, String)>);

impl NameTable {
    fn of(claim: &Expr, symbols: &[char]) -> Self {
        let mut names: Vec<(String, String)> = Vec::new();
        let mut letters = 0;
        for expr in claim.observables() {
            if expr == "grid_length" {
                continue;
            }
            let counted = expr
                .strip_prefix("count('")
                .or_else(|| expr.strip_prefix("count_pattern('"))
                .and_then(|rest| rest.strip_suffix("')"))
                .filter(|pattern| !pattern.contains('\''));
            let name = match counted {
                _ if expr == "incoming_collisions" => "incoming".to_owned(),
                Some(pattern) => format!("n_{}", spelled_symbols(pattern, symbols)),
                None => {
                    letters += 1;
                    match letters {
                        1 => "f".into(),
                        2 => "g".into(),
                        3 => "h".into(),
                        more => format!("f{more}"),
                    }
                }
            };
            // Two symbols may be spelled alike.
            let taken = |name: &str| names.iter().any(|(_, known)| known == name);
            let name = if taken(&name) {
                format!("{name}_{}", names.len())
            } else {
                name
            };
            names.push((expr.to_owned(), name));
        }
        Self(names)
    }

    fn name(&self, expr: &str) -> String {
        let known = self.0.iter().find(|(known, _)| known == expr);
        known.map_or_else(|| expr.to_owned(), |(_, name)| name.clone())
    }
}

/// A symbol in a name.
fn spelled_symbol(symbol: char, symbols: &[char]) -> String {
    match symbol {
        '.' => "dot".into(),
        '>' => "gt".into(),
        '<' => "lt".into(),
        '#' => "hash".into(),
        symbol if symbol.is_ascii_alphanumeric() => symbol.into(),
        symbol => match symbols.iter().position(|known| *known == symbol) {
            Some(index) => format!("s{index}"),
            None => "s".into(),
        },
    }
}

fn spelled_symbols(pattern: &str, symbols: &[char]) -> String {
    let words: Vec<String> = pattern
        .chars()
        .map(|symbol| spelled_symbol(symbol, symbols))
        .collect();
    words.join("_")
}

/// An expression in a name.
fn spelled(expr: &str, symbols: &[char]) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut rest = expr;
    while let Some(first) = rest.chars().next() {
        let (word, length) = match first {
            '\'' | '"' => {
                let inner = rest[1..]
                    .find(first)
                    .map_or(&rest[1..], |end| &rest[1..=end]);
                let length = (inner.len() + 2).min(rest.len());
                (spelled_symbols(inner, symbols), length)
            }
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let word = &rest[..end.unwrap_or(rest.len())];
                let word = match word {
                    "count" | "count_pattern" => "",
                    word => word,
                };
                (word.to_owned(), end.unwrap_or(rest.len()))
            }
            '+' => ("plus".into(), 1),
            '-' => ("minus".into(), 1),
            '%' => ("mod".into(), 1),
            other => (String::new(), other.len_utf8()),
        };
        if !word.is_empty() {
            words.push(word);
        }
        rest = &rest[length..];
    }
    words.join("_")
}

fn word(op: Op) -> &'static str {
    match op {
        Op::Implies => "then",
        Op::Or => "or",
        Op::And => "and",
        Op::Eq => "is",
        Op::Ne => "is_not",
        Op::Lt => "below",
        Op::Le => "at_most",
        Op::Gt => "above",
        Op::Ge => "at_least",
        Op::Add => "plus",
        Op::Sub => "minus",
        Op::Mul => "times",
        Op::Div => "over",
        Op::Mod => "mod",
        _ => "op",
    }
}

/// A claim in a name.
fn slug(phrase: &Expr, symbols: &[char]) -> String {
    match phrase {
        Expr::Int(number) => number.to_string().replace('-', "minus_"),
        Expr::Step => "t".into(),
        Expr::Obs(expr, time) => {
            let spelled = spelled(expr, symbols);
            match time {
                _ if expr == "grid_length" => spelled,
                Time::Next => format!("{spelled}_next"),
                Time::At(0) => format!("{spelled}_start"),
                Time::At(step) => format!("{spelled}_at_{step}"),
                _ => spelled,
            }
        }
        Expr::Neg(inner) => format!("minus_{}", slug(inner, symbols)),
        Expr::Not(inner) => format!("not_{}", slug(inner, symbols)),
        Expr::Bin(op, left, right) => {
            format!(
                "{}_{}_{}",
                slug(left, symbols),
                word(*op),
                slug(right, symbols)
            )
        }
        _ => String::new(),
    }
}
