//! Laws from Rust: an expression or two, and how long they are claimed.

use serde_json::{Map, Value, json};

use super::canonical::text;
use super::error::{LawError, Problem};
use super::expr::Expr;
use super::model::{Extensions, Law, Template};
use super::syntax::{self, Kind, Node, Op, SyntaxError, Time};

/// The horizon of a built law, unless another is asked for.
const HORIZON: u64 = 60;

/// Which way a monotone observable may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// f(t+1) <= f(t)
    Falls,
    /// f(t+1) >= f(t)
    Rises,
}

/// A law in the making. [`LawBuilder::build`] reads it as if it were JSON, so that a built law and its JSON are one.
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
#[must_use = "a law comes of it with `build`"]
pub struct LawBuilder {
    law: Map<String, Value>,
    conditions: Vec<Value>,
    problem: Option<Problem>,
}

impl Law {
    /// The law that an observable never changes.
    pub fn invariant(expr: &str) -> LawBuilder {
        LawBuilder::measuring(Template::Invariant, expr)
    }

    /// The law that an observable only falls, or only rises.
    pub fn monotone(expr: &str, direction: Direction) -> LawBuilder {
        let op = match direction {
            Direction::Falls => Op::Le,
            Direction::Rises => Op::Ge,
        };
        LawBuilder::measuring(Template::Monotone, expr).with("direction", json!(op.text()))
    }

    /// The law that an observable compares with a constant at every step.
    pub fn bound(expr: &str, op: Op, k: i64) -> LawBuilder {
        LawBuilder::measuring(Template::Bound, expr)
            .with("bound_op", json!(op.text()))
            .with("bound_value", json!(k))
    }

    /// The law that after each state with `p` comes one with `q`. Both are comparisons of observables, joined by `and`, `or` and
    /// `not`: `count('X') > 0`.
    pub fn implies_step(p: &str, q: &str) -> LawBuilder {
        LawBuilder::implication(Template::ImplicationStep, p, q, Time::Next)
    }

    /// The law that each state with `p` has `q`; see [`Law::implies_step`] for what they are.
    pub fn implies_state(p: &str, q: &str) -> LawBuilder {
        LawBuilder::implication(Template::ImplicationState, p, q, Time::Now)
    }

    /// The law that each state with `p` has `q`, or one of the `h` states after it; see [`Law::implies_step`] for what they are.
    pub fn eventually(p: &str, q: &str, h: u64) -> LawBuilder {
        LawBuilder::implication(Template::Eventually, p, q, Time::Now).quantifier("H", h)
    }

    /// The law that a transform and the steps may change places.
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

    /// Gives the law a name; it is `built` otherwise.
    pub fn named(self, law_id: &str) -> Self {
        self.with("law_id", json!(law_id))
    }

    /// Claims it for this many steps; 60 otherwise.
    pub fn horizon(self, t: u64) -> Self {
        self.quantifier("T", t)
    }

    /// Claims it only of starts that meet this condition.
    pub fn when(mut self, lhs: &str, op: Op, rhs: i64) -> Self {
        let condition = json!({"lhs": lhs, "op": op.text(), "rhs": rhs});
        self.conditions.push(condition);
        self
    }

    /// Says in words what would refute it.
    pub fn forbidden(self, text: &str) -> Self {
        self.with("forbidden", json!(text))
    }

    /// The law.
    ///
    /// # Errors
    /// [`LawError`] with every problem of what was given.
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

/// What is said of one state, read at a time. The sides of a comparison are observables.
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
