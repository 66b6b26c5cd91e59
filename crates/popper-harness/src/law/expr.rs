//! A claim as a tree: the form of `claim_ast`, and its text.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::ast::read_alone;
use super::canonical;
use super::syntax::{
    Kind, Node, Op, SyntaxError, Time, integer_only, parse, parse_displayed, timed,
};

/// A claim or a part of one. As JSON it is a `claim_ast`.
///
/// ```
/// use popper_harness::law::Expr;
///
/// let claim: Expr = "count('X')(t+1) <= 2 * count('>')(0)".parse()?;
/// assert_eq!(claim.to_string().parse(), Ok(claim));
/// # Ok::<(), popper_harness::law::syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Expr {
    /// A constant.
    Int(i64),
    /// The running step `t` as a number.
    Step,
    /// An observable expression at a time.
    Obs(String, Time),
    /// The negative `-x`.
    Neg(Box<Expr>),
    /// The negation `not x`.
    Not(Box<Expr>),
    /// An operation `left op right`.
    Bin(Op, Box<Expr>, Box<Expr>),
}

impl From<i64> for Expr {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

/// Reads a claim, or a part of one, as it is displayed. Observables are read as their canonical text.
impl FromStr for Expr {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Self::from_node(&timed(&parse_displayed(text)?)?)
    }
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = read_alone(&Value::deserialize(deserializer)?).map_err(D::Error::custom)?;
        Self::from_node(&node).map_err(D::Error::custom)
    }
}

impl Expr {
    /// Builds the tree of a claim in which every observable has a time.
    fn from_node(node: &Node) -> Result<Self, SyntaxError> {
        let child = |node: &Node| Self::from_node(node).map(Box::new);
        Ok(match &node.kind {
            Kind::Int(number) => Self::Int(*number),
            Kind::Step => Self::Step,
            Kind::At(inner, time) => {
                integer_only(inner)?;
                Self::Obs(canonical::text(inner), *time)
            }
            Kind::Neg(inner) => Self::Neg(child(inner)?),
            Kind::Not(inner) => Self::Not(child(inner)?),
            Kind::Binary(op, left, right) => Self::Bin(*op, child(left)?, child(right)?),
            Kind::Quoted(_) | Kind::Name(_) | Kind::Call(..) => {
                return Err(SyntaxError::at(node.column, "expected a claim"));
            }
        })
    }

    /// Returns `self op other`.
    #[must_use]
    pub fn op(self, op: Op, other: impl Into<Self>) -> Self {
        Self::Bin(op, Box::new(self), Box::new(other.into()))
    }

    /// Returns `self -> other`.
    #[must_use]
    pub fn then(self, other: Self) -> Self {
        self.op(Op::Implies, other)
    }

    /// Calls `see` with this node and every node below it, parents first.
    pub fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Self)) {
        see(self);
        match self {
            Self::Neg(inner) | Self::Not(inner) => inner.visit(see),
            Self::Bin(_, left, right) => {
                left.visit(see);
                right.visit(see);
            }
            Self::Int(_) | Self::Step | Self::Obs(..) => {}
        }
    }

    /// Returns every observable expression of the claim once, in order of appearance.
    pub fn observables(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.visit(&mut |node| {
            if let Self::Obs(expr, _) = node
                && !found.contains(&expr.as_str())
            {
                found.push(expr.as_str());
            }
        });
        found
    }

    /// Returns the claim as people write it: `x(t) >= 1`, `x(t) == x(0)`.
    ///
    /// Observables lose the parentheses that enclose all of them, and the compared value is the left side of a comparison.
    #[must_use]
    pub fn as_people_write(&self) -> Self {
        match self {
            Self::Int(_) | Self::Step => self.clone(),
            Self::Obs(expr, time) => Self::Obs(unwrapped(expr).to_owned(), *time),
            Self::Neg(inner) => Self::Neg(Box::new(inner.as_people_write())),
            Self::Not(inner) => Self::Not(Box::new(inner.as_people_write())),
            Self::Bin(op, left, right) => {
                let turns = op.is_comparison()
                    && match (left.as_ref(), right.as_ref()) {
                        (Self::Int(_), other) => !matches!(other, Self::Int(_)),
                        (Self::Obs(_, Time::At(_)), Self::Obs(_, time)) => {
                            !matches!(time, Time::At(_))
                        }
                        (Self::Obs(_, Time::Now), Self::Obs(_, time)) => *time == Time::Next,
                        _ => false,
                    };
                let (left, right) = (left.as_people_write(), right.as_people_write());
                if turns {
                    right.op(op.mirrored(), left)
                } else {
                    left.op(*op, right)
                }
            }
        }
    }

    /// Returns the claim with the sides exchanged of each comparison for which `turns` is true.
    #[must_use]
    pub fn mirrored_where(&self, turns: &dyn Fn(&Self, &Self) -> bool) -> Self {
        let side = |side: &Self| side.mirrored_where(turns);
        match self {
            Self::Int(_) | Self::Step | Self::Obs(..) => self.clone(),
            Self::Neg(inner) => Self::Neg(Box::new(side(inner))),
            Self::Not(inner) => Self::Not(Box::new(side(inner))),
            Self::Bin(op, left, right) if op.is_comparison() && turns(left, right) => {
                side(right).op(op.mirrored(), side(left))
            }
            Self::Bin(op, left, right) => side(left).op(*op, side(right)),
        }
    }

    /// Writes the claim as text; `name` returns the name of an observable.
    pub fn text(&self, notation: Notation, name: &dyn Fn(&str) -> String) -> String {
        let root = self;
        Text {
            root,
            notation,
            name,
        }
        .to_string()
    }
}

/// A notation for a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notation {
    /// The claim grammar: `2 * (x(t+1) + 1) >= x(0)`.
    Grammar,
    /// The claim grammar with parentheses around everything that has two sides and is a side itself.
    Parentheses,
    /// For readers, with times in brackets and the fewest parentheses: `2 * (x[t+1] + 1) >= x[0]`.
    Brackets,
}

/// Names every observable by its expression: `count('X')(t) == count('X')(0)`.
impl fmt::Display for Expr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text(Notation::Grammar, &str::to_owned))
    }
}

/// The keys are in alphabetical order, so that the text is the one of a `serde_json::Value`.
impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Int(number) => map.serialize_entry("const", number)?,
            Self::Step => map.serialize_entry("var", "t")?,
            Self::Obs(expr, time) => {
                map.serialize_entry("obs", expr)?;
                map.serialize_entry("t", &WrittenTime(*time))?;
            }
            Self::Neg(inner) | Self::Not(inner) => {
                let is_sign = matches!(self, Self::Neg(_));
                map.serialize_entry("arg", inner)?;
                map.serialize_entry("op", if is_sign { "-" } else { "not" })?;
            }
            Self::Bin(op, left, right) => {
                map.serialize_entry("lhs", left)?;
                map.serialize_entry("op", op.text())?;
                map.serialize_entry("rhs", right)?;
            }
        }
        map.end()
    }
}

struct WrittenTime(Time);

impl Serialize for WrittenTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self.0 {
            Time::At(step) => map.serialize_entry("const", &step)?,
            Time::Now => map.serialize_entry("var", "t")?,
            Time::Next => map.serialize_entry("t_plus_1", &true)?,
        }
        map.end()
    }
}

/// A tree with its notation and names, ready to be written.
struct Text<'a> {
    root: &'a Expr,
    notation: Notation,
    name: &'a dyn Fn(&str) -> String,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(self.root, out)
    }
}

impl Text<'_> {
    fn write(&self, expr: &Expr, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match expr {
            Expr::Int(number) => write!(out, "{number}"),
            Expr::Step => out.write_str("t"),
            // The one observable that the grammar takes without a time.
            Expr::Obs(expr, time)
                if expr == "grid_length"
                    && (self.notation != Notation::Grammar || *time == Time::At(0)) =>
            {
                out.write_str(expr)
            }
            Expr::Obs(expr, time) => {
                let name = (self.name)(expr);
                if self.notation != Notation::Grammar || takes_time(&name) {
                    out.write_str(&name)?;
                } else {
                    write!(out, "({name})")?;
                }
                let time = match time {
                    Time::Now => "t".to_owned(),
                    Time::Next => "t+1".to_owned(),
                    Time::At(step) => step.to_string(),
                };
                match self.notation {
                    Notation::Brackets => write!(out, "[{time}]"),
                    _ => write!(out, "({time})"),
                }
            }
            Expr::Neg(inner) => self.signed("-", inner, out),
            Expr::Not(inner) => self.signed("not ", inner, out),
            Expr::Bin(op, left, right) => {
                let sign = if *op == Op::Implies { "->" } else { op.text() };
                let tighter = op.level() + 1;
                // Neither do comparisons chain, nor is an arrow the first side of another one without parentheses.
                let chains_left = !op.is_comparison() && *op != Op::Implies;
                let chains_right = chains_left && op.is_commutative();
                let (before, after) = match self.notation {
                    Notation::Grammar => (tighter - usize::from(chains_left), tighter),
                    Notation::Parentheses => (usize::MAX, usize::MAX),
                    Notation::Brackets => (
                        tighter - usize::from(chains_left),
                        tighter - usize::from(chains_right),
                    ),
                };
                self.write_in(before, left, out)?;
                write!(out, " {sign} ")?;
                self.write_in(after, right, out)
            }
        }
    }

    /// Writes an expression after a sign, in parentheses where it could be misread without them.
    fn signed(&self, sign: &str, expr: &Expr, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(sign)?;
        if self.notation == Notation::Grammar || matches!(expr, Expr::Bin(..)) {
            self.enclosed(expr, out)
        } else {
            self.write(expr, out)
        }
    }

    fn enclosed(&self, expr: &Expr, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("(")?;
        self.write(expr, out)?;
        out.write_str(")")
    }

    /// Writes an expression, in parentheses where it binds less tightly than `floor`.
    fn write_in(&self, floor: usize, expr: &Expr, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_open = match expr {
            Expr::Bin(op, ..) => op.level() < floor,
            // Only there can a leading sign be misread.
            Expr::Int(..0) => self.notation == Notation::Grammar && floor > Op::Add.level(),
            _ => false,
        };
        if is_open {
            self.enclosed(expr, out)
        } else {
            self.write(expr, out)
        }
    }
}

/// Whether a time may follow an expression as it is: after a name, a call, or parentheses around all of it.
fn takes_time(expr: &str) -> bool {
    let is_name = |node: Node| matches!(node.kind, Kind::Name(_) | Kind::Call(..));
    unwrapped(expr) != expr || parse(expr).is_ok_and(is_name)
}

/// Returns an expression without the parentheses that enclose all of it.
pub fn unwrapped(expr: &str) -> &str {
    let Some(inner) = expr.strip_prefix('(').and_then(|e| e.strip_suffix(')')) else {
        return expr;
    };
    let (mut depth, mut quote) = (0_i32, None);
    for char in inner.chars() {
        match (quote, char) {
            (Some(open), char) if open == char => quote = None,
            (None, '\'' | '"') => quote = Some(char),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            // Inside of quotes, or of no account.
            _ => {}
        }
        if depth < 0 {
            return expr;
        }
    }
    inner
}
