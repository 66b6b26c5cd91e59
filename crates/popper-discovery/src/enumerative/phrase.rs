//! Claims as trees: built by the walk, taken apart by mutations, written as text.

use std::fmt::Write as _;

use popper_harness::law::syntax::{Op, Time};
use serde_json::Value;

/// A part of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phrase {
    /// A constant.
    Int(i64),
    /// The running step as a number.
    Step,
    /// An observable expression at a time.
    Obs(String, Time),
    /// `-x`
    Neg(Box<Phrase>),
    /// `not x`
    Not(Box<Phrase>),
    /// `left op right`
    Bin(Op, Box<Phrase>, Box<Phrase>),
}

/// An observable now.
pub(super) fn now(expr: &str) -> Phrase {
    Phrase::Obs(expr.to_owned(), Time::Now)
}

/// An observable one step on.
pub(super) fn next(expr: &str) -> Phrase {
    Phrase::Obs(expr.to_owned(), Time::Next)
}

/// An observable at the start.
pub(super) fn start(expr: &str) -> Phrase {
    Phrase::Obs(expr.to_owned(), Time::At(0))
}

impl From<i64> for Phrase {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl Phrase {
    /// `self op other`
    pub(super) fn op(self, op: Op, other: impl Into<Self>) -> Self {
        Self::Bin(op, Box::new(self), Box::new(other.into()))
    }

    /// `self -> other`
    pub(super) fn then(self, other: Self) -> Self {
        self.op(Op::Implies, other)
    }

    /// Reads a `claim_ast`; none where it is no such tree. A law that was read bounds its depth.
    pub(super) fn from_ast(value: &Value) -> Option<Self> {
        if let Some(number) = value.get("const") {
            return number.as_i64().map(Self::Int);
        }
        if value.get("var").is_some() {
            return Some(Self::Step);
        }
        if let Some(expr) = value.get("obs") {
            let time = value.get("t")?;
            let time = if time.get("t_plus_1").is_some() {
                Time::Next
            } else if let Some(step) = time.get("const") {
                Time::At(step.as_u64()?)
            } else {
                Time::Now
            };
            return Some(Self::Obs(plain(expr.as_str()?).to_owned(), time));
        }
        let part = |key: &str| Self::from_ast(value.get(key)?).map(Box::new);
        match value.get("op")?.as_str()? {
            "not" => Some(Self::Not(part("arg")?)),
            "-" if value.get("arg").is_some() => Some(Self::Neg(part("arg")?)),
            op => Some(Self::Bin(Op::from_text(op)?, part("lhs")?, part("rhs")?).turned()),
        }
    }

    /// With what is compared in front of what it is compared with, as people write it: `x(t) >= 1`, `x(t) == x(0)`.
    fn turned(self) -> Self {
        match self {
            Self::Bin(op, left, right) if op.is_comparison() => {
                let turn = match (left.as_ref(), right.as_ref()) {
                    (Self::Int(_), other) => !matches!(other, Self::Int(_)),
                    (Self::Obs(_, Time::At(_)), Self::Obs(_, time)) => !matches!(time, Time::At(_)),
                    (Self::Obs(_, Time::Now), Self::Obs(_, time)) => *time == Time::Next,
                    _ => false,
                };
                if turn {
                    Self::Bin(op.mirrored(), right, left)
                } else {
                    Self::Bin(op, left, right)
                }
            }
            other => other,
        }
    }

    /// Every observable expression that it reads, each once, in order of appearance.
    pub(super) fn expressions(&self) -> Vec<&str> {
        fn collect<'a>(phrase: &'a Phrase, found: &mut Vec<&'a str>) {
            match phrase {
                Phrase::Obs(expr, _) if !found.contains(&expr.as_str()) => found.push(expr),
                Phrase::Neg(inner) | Phrase::Not(inner) => collect(inner, found),
                Phrase::Bin(_, left, right) => {
                    collect(left, found);
                    collect(right, found);
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        collect(self, &mut found);
        found
    }

    /// As text of the claim grammar. `name` says what an expression is called.
    pub(super) fn text(&self, name: &dyn Fn(&str) -> String) -> String {
        let mut text = String::new();
        self.write(&mut text, name);
        text
    }

    fn write(&self, out: &mut String, name: &dyn Fn(&str) -> String) {
        // Writing to a string cannot fail.
        match self {
            Self::Int(number) => {
                let _ = write!(out, "{number}");
            }
            Self::Step => out.push('t'),
            // The one observable that the grammar takes without a time.
            Self::Obs(expr, _) if expr == "grid_length" => out.push_str(expr),
            Self::Obs(expr, time) => {
                out.push_str(&name(expr));
                let _ = match time {
                    Time::Now => write!(out, "(t)"),
                    Time::Next => write!(out, "(t+1)"),
                    Time::At(step) => write!(out, "({step})"),
                };
            }
            Self::Neg(inner) => inner.enclosed("-", out, name),
            Self::Not(inner) => inner.enclosed("not ", out, name),
            Self::Bin(op, left, right) => {
                let sign = if *op == Op::Implies { "->" } else { op.text() };
                left.write_in(binding(*op), out, name);
                let _ = write!(out, " {sign} ");
                right.write_in(binding(*op) + 1, out, name);
            }
        }
    }

    fn enclosed(&self, before: &str, out: &mut String, name: &dyn Fn(&str) -> String) {
        out.push_str(before);
        out.push('(');
        self.write(out, name);
        out.push(')');
    }

    /// In parentheses where it binds less tightly than `floor`.
    fn write_in(&self, floor: u8, out: &mut String, name: &dyn Fn(&str) -> String) {
        match self {
            Self::Bin(op, ..) if binding(*op) < floor => self.enclosed("", out, name),
            // Only there can a leading sign be misread.
            Self::Int(..0) if floor > 4 => self.enclosed("", out, name),
            _ => self.write(out, name),
        }
    }
}

/// How tightly an operator binds, loosest first.
fn binding(op: Op) -> u8 {
    match op {
        Op::Implies => 0,
        Op::Or => 1,
        Op::And => 2,
        Op::Add | Op::Sub => 4,
        Op::Mul | Op::Div | Op::Mod => 5,
        _ => 3,
    }
}

/// An expression without the parentheses that enclose all of it.
pub(super) fn plain(expr: &str) -> &str {
    let Some(inner) = expr.strip_prefix('(').and_then(|e| e.strip_suffix(')')) else {
        return expr;
    };
    let mut depth = 0_i32;
    let mut quote = None;
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
