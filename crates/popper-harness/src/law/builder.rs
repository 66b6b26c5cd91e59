//! A builder of laws from expressions.

use serde_json::{Map, Value, json};

use super::canonical::text;
use super::error::{LawError, Problem};
use super::expr::Expr;
use super::model::{Extensions, Law, Template};
use super::syntax::{self, Kind, Node, Op, SyntaxError, Time};

/// The default horizon of a built law, in steps.
const HORIZON: u64 = 60;

/// The direction in which a monotone observable may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// The observable never grows: f(t+1) <= f(t).
    Falls,
    /// The observable never falls: f(t+1) >= f(t).
    Rises,
}

/// A builder of a law. [`LawBuilder::build`] reads its JSON, so a built law equals the law of that JSON.
///
/// ```
/// use popper_harness::law::{Law, syntax::Op};
///
/// let law = Law::invariant("count('>') + count('X')").horizon(100).when("grid_length", Op::Ge, 4).build()?;
/// let read = Law::from_json(&law.source().to_string(), Default::default())?;
/// assert_eq!(read.fingerprint(), law.fingerprint());
/// # Ok::<(), popper_harness::law::LawError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "`build` makes the law"]
pub struct LawBuilder {
    law: Map<String, Value>,
    conditions: Vec<Value>,
    problem: Option<Problem>,
}

impl Law {
    /// Begins the law that an observable never changes.
    pub fn invariant(expr: &str) -> LawBuilder {
        LawBuilder::measuring(Template::Invariant, expr)
    }

    /// Begins the law that an observable never grows, or never falls.
    pub fn monotone(expr: &str, direction: Direction) -> LawBuilder {
        let op = match direction {
            Direction::Falls => Op::Le,
            Direction::Rises => Op::Ge,
        };
        LawBuilder::measuring(Template::Monotone, expr).with("direction", json!(op.text()))
    }

    /// Begins the law that compares an observable with a constant at every step.
    pub fn bound(expr: &str, op: Op, k: i64) -> LawBuilder {
        LawBuilder::measuring(Template::Bound, expr)
            .with("bound_op", json!(op.text()))
            .with("bound_value", json!(k))
    }

    /// Begins the law that each state with `p` is followed by one with `q`.
    ///
    /// Both are comparisons of observables, such as `count('X') > 0`, joined by `and`, `or` and `not`.
    pub fn implies_step(p: &str, q: &str) -> LawBuilder {
        LawBuilder::implication(Template::ImplicationStep, p, q, Time::Next)
    }

    /// Begins the law that each state with `p` has `q`; see [`Law::implies_step`] for their form.
    pub fn implies_state(p: &str, q: &str) -> LawBuilder {
        LawBuilder::implication(Template::ImplicationState, p, q, Time::Now)
    }

    /// Begins the law that each state with `p`, or one of the `h` states after it, has `q`.
    ///
    /// See [`Law::implies_step`] for the form of both.
    pub fn eventually(p: &str, q: &str, h: u64) -> LawBuilder {
        LawBuilder::implication(Template::Eventually, p, q, Time::Now).quantifier("H", h)
    }

    /// Begins the law that a transform commutes with the step.
    pub fn commutes(name: &str) -> LawBuilder {
        LawBuilder::new(Template::SymmetryCommutation).with("transform", json!(name))
    }
}

impl LawBuilder {
    fn new(template: Template) -> Self {
        let builder = Self {
            law: Map::new(),
            conditions: Vec::new(),
            problem: None,
        };
        builder
            .with("template", json!(template.name()))
            .quantifier("T", HORIZON)
            .named("built")
            .forbidden("a run in which the claim fails")
    }

    fn measuring(template: Template, expr: &str) -> Self {
        Self::new(template).with("observables", json!([{"name": "f", "expr": expr}]))
    }

    fn implication(template: Template, p: &str, q: &str, time: Time) -> Self {
        let builder = Self::new(template);
        match (stated(p, Time::Now), stated(q, time)) {
            (Ok(p), Ok(q)) => {
                let claim = p.then(q);
                let observables = claim.observables().into_iter();
                let observables = observables.map(|expr| json!({"name": expr, "expr": expr}));
                let observables: Value = observables.collect();
                builder
                    .with("claim_ast", json!(claim))
                    .with("observables", observables)
            }
            (Err(error), _) | (_, Err(error)) => Self {
                problem: Some(Problem {
                    path: "$.claim".into(),
                    message: error.to_string(),
                }),
                ..builder
            },
        }
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.law.insert(key.into(), value);
        self
    }

    fn quantifier(mut self, name: &str, steps: u64) -> Self {
        let quantifiers = self.law.entry("quantifiers").or_insert_with(|| json!({}));
        quantifiers[name] = json!(steps);
        self
    }

    /// Sets the name of the law; the default is `built`.
    pub fn named(self, law_id: &str) -> Self {
        self.with("law_id", json!(law_id))
    }

    /// Sets the horizon, in steps; the default is 60.
    pub fn horizon(self, t: u64) -> Self {
        self.quantifier("T", t)
    }

    /// Adds a precondition on the start.
    pub fn when(mut self, lhs: &str, op: Op, rhs: i64) -> Self {
        let condition = json!({"lhs": lhs, "op": op.text(), "rhs": rhs});
        self.conditions.push(condition);
        self
    }

    /// Sets the text that says what would refute the law.
    pub fn forbidden(self, text: &str) -> Self {
        self.with("forbidden", json!(text))
    }

    /// Builds the law.
    ///
    /// # Errors
    /// [`LawError`] with every problem of the given parts.
    pub fn build(self) -> Result<Law, LawError> {
        if let Some(problem) = self.problem {
            let problems = vec![problem];
            return Err(LawError { problems });
        }
        let conditions = ("preconditions".to_owned(), Value::Array(self.conditions));
        let law = self.law.into_iter().chain([conditions]).collect();
        Law::from_value(Value::Object(law), "$", Extensions::default())
    }
}

/// Reads a statement about one state at a time. The sides of a comparison are observables.
fn stated(said: &str, time: Time) -> Result<Expr, SyntaxError> {
    fn part(node: &Node, time: Time) -> Result<Expr, SyntaxError> {
        match &node.kind {
            Kind::Not(inner) => Ok(Expr::Not(Box::new(part(inner, time)?))),
            Kind::Binary(op, left, right) if op.is_logical() => {
                Ok(part(left, time)?.op(*op, part(right, time)?))
            }
            Kind::Binary(op, left, right) if op.is_comparison() => {
                Ok(side(left, time).op(*op, side(right, time)))
            }
            _ => {
                let message = "expected a comparison, such as `count('X') > 0`";
                Err(SyntaxError::at(node.column, message))
            }
        }
    }
    fn side(node: &Node, time: Time) -> Expr {
        let written = text(node);
        match written.parse() {
            Ok(number) => Expr::Int(number),
            Err(_) => Expr::Obs(written, time),
        }
    }
    part(&syntax::parse(said)?, time)
}
