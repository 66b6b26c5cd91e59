//! The tree that observables and claims parse to.

use super::op::Op;

/// The time at which an observable is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Time {
    /// A fixed step of the run.
    At(u64),
    /// The running step `t`.
    Now,
    /// The next step, `t + 1`.
    Next,
}

/// A node of a tree, with its place in the source.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Node {
    /// The column of its first character, counted from 1.
    ///
    /// For a node of a `claim_ast` it is the number in the tree, counted from 1 and parents first; 0 is a node without a source.
    pub column: usize,
    /// The kind of the node.
    pub kind: Kind,
}

/// The kinds of nodes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Kind {
    /// An integer.
    Int(i64),
    /// A quoted symbol or pattern.
    Quoted(String),
    /// A bare name.
    Name(String),
    /// A name with arguments.
    Call(String, Vec<Node>),
    /// The running step `t` as a number.
    Step,
    /// An observable at a time.
    At(Box<Node>, Time),
    /// The negative `-x`.
    Neg(Box<Node>),
    /// The negation `not x`.
    Not(Box<Node>),
    /// An operation `left op right`.
    Binary(Op, Box<Node>, Box<Node>),
}

impl Node {
    /// Creates a node without a source.
    pub(crate) fn made(kind: Kind) -> Self {
        Self { column: 0, kind }
    }

    /// Creates `left op right` at the place of its left side.
    pub(crate) fn binary(op: Op, left: Self, right: Self) -> Self {
        Self {
            column: left.column,
            kind: Kind::Binary(op, Box::new(left), Box::new(right)),
        }
    }
}

/// An error in the text of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", at_column(*column))]
#[non_exhaustive]
pub struct SyntaxError {
    /// The column, counted from 1 in characters; 0 if the place is not in a text.
    pub column: usize,
    /// The expectation that is not met, or the problem.
    pub message: String,
}

fn at_column(column: usize) -> String {
    match column {
        0 => String::new(),
        column => format!("column {column}: "),
    }
}

impl SyntaxError {
    pub(crate) fn at(column: usize, message: impl Into<String>) -> Self {
        Self {
            column,
            message: message.into(),
        }
    }
}

/// Reads `name(t)`, `name(t+1)`, `name(3)` and `t` in a parsed claim.
pub(crate) fn timed(node: &Node) -> Result<Node, SyntaxError> {
    let kind = match &node.kind {
        Kind::Int(number) => Kind::Int(*number),
        Kind::Name(name) if name == "t" => Kind::Step,
        Kind::Name(name) if name == "grid_length" => Kind::At(Box::new(node.clone()), Time::At(0)),
        Kind::Name(name) => {
            return Err(SyntaxError::at(
                node.column,
                format!("expected a time after `{name}`, as in `{name}(t)`"),
            ));
        }
        Kind::Call(name, arguments) => {
            let name = Node {
                column: node.column,
                kind: Kind::Name(name.clone()),
            };
            Kind::At(Box::new(name), time(node.column, arguments)?)
        }
        Kind::Quoted(_) => {
            return Err(SyntaxError::at(
                node.column,
                "a symbol has no value: count it in an observable",
            ));
        }
        Kind::Neg(inner) => Kind::Neg(Box::new(timed(inner)?)),
        Kind::Not(inner) => Kind::Not(Box::new(timed(inner)?)),
        Kind::Binary(op, left, right) => {
            Kind::Binary(*op, Box::new(timed(left)?), Box::new(timed(right)?))
        }
        Kind::At(..) | Kind::Step => node.kind.clone(),
    };
    Ok(Node {
        column: node.column,
        kind,
    })
}

pub(super) fn time(column: usize, arguments: &[Node]) -> Result<Time, SyntaxError> {
    let is_t = |node: &Node| matches!(&node.kind, Kind::Name(name) if name == "t");
    match arguments {
        [
            Node {
                kind: Kind::Int(step @ 0..),
                ..
            },
        ] => Ok(Time::At(*step as u64)),
        [now] if is_t(now) => Ok(Time::Now),
        [
            Node {
                kind: Kind::Binary(Op::Add, left, right),
                ..
            },
        ] => match (&left.kind, &right.kind) {
            (_, Kind::Int(1)) if is_t(left) => Ok(Time::Next),
            (Kind::Int(1), _) if is_t(right) => Ok(Time::Next),
            _ => Err(SyntaxError::at(
                left.column,
                "expected `t`, `t+1` or a number of steps",
            )),
        },
        [other] => {
            let message = "expected `t`, `t+1` or a number of steps (functions of symbols belong into `observables`)";
            Err(SyntaxError::at(other.column, message))
        }
        _ => Err(SyntaxError::at(
            column,
            "expected one time in the parentheses",
        )),
    }
}

/// Checks that a tree is an integer expression, as an observable must be: no truth values, no division.
pub(crate) fn integer_only(node: &Node) -> Result<(), SyntaxError> {
    match &node.kind {
        Kind::Int(_) | Kind::Name(_) | Kind::Call(..) => Ok(()),
        Kind::Neg(inner) => integer_only(inner),
        Kind::Binary(Op::Add | Op::Sub | Op::Mul | Op::Mod, left, right) => {
            integer_only(left)?;
            integer_only(right)
        }
        Kind::Binary(op, ..) => {
            let message = format!(
                "`{}` has no place in an observable, expected + - * %",
                op.text()
            );
            Err(SyntaxError::at(node.column, message))
        }
        Kind::Not(_) => Err(SyntaxError::at(
            node.column,
            "`not` has no place in an observable",
        )),
        Kind::Quoted(_) => Err(SyntaxError::at(
            node.column,
            "a symbol has no value: write count('...')",
        )),
        Kind::Step | Kind::At(..) => Err(SyntaxError::at(node.column, "an observable has no time")),
    }
}
