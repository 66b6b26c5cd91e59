//! Observables: parsed once, evaluated on one state.

use super::{Refusal, lex::Token, lex::Tokens, universe::Cells, universe::Universe};

#[derive(Clone, Debug)]
pub enum Expr {
    Int(i64),
    Length,
    Count(u8),
    CountAtParity(u8, usize),
    Pattern(Vec<u8>),
    Leftmost(u8),
    Rightmost(u8),
    Spread(u8),
    MaxGap(u8),
    /// The second symbol is this many cells to the right of the first, without wrapping.
    Pairs(u8, u8, usize),
    Incoming,
    /// A reference to another observable of the law, by its place in the list.
    Name(usize),
    Negative(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
}

/// An argument of a function.
enum Argument {
    Symbols(String),
    Number(i64),
    Other,
}

pub const BARE: [&str; 3] = ["grid_length", "incoming_collisions", "transition_indicator"];
pub const FUNCTIONS: [&str; 11] = [
    "count",
    "count_even",
    "count_odd",
    "count_at_parity",
    "count_pattern",
    "leftmost",
    "rightmost",
    "spread",
    "max_gap",
    "adjacent_pairs",
    "gap_pairs",
];

pub struct Scope<'a> {
    pub universe: &'a Universe,
    pub names: &'a [String],
    /// The observable being defined: its own name is not in scope in its own expression.
    pub defining: Option<usize>,
    /// The first unknown name; it counts only if the whole expression is well formed.
    unknown: Option<String>,
}

impl<'a> Scope<'a> {
    pub fn new(universe: &'a Universe, names: &'a [String], defining: Option<usize>) -> Self {
        Self {
            universe,
            names,
            defining,
            unknown: None,
        }
    }

    pub fn parse(mut self, text: &str) -> Result<Expr, Refusal> {
        let mut tokens = Tokens::read(text)?;
        let expr = self.sum(&mut tokens)?;
        tokens.end()?;
        match self.unknown {
            Some(name) => Err(Refusal::MissingObservable(name)),
            None => Ok(expr),
        }
    }

    fn sum(&mut self, tokens: &mut Tokens) -> Result<Expr, Refusal> {
        let mut left = self.product(tokens)?;
        while let Some(op) = tokens.take(&["+", "-"]) {
            let right = self.product(tokens)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn product(&mut self, tokens: &mut Tokens) -> Result<Expr, Refusal> {
        let mut left = self.unary(tokens)?;
        while let Some(op) = tokens.take(&["*", "%"]) {
            let right = self.unary(tokens)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self, tokens: &mut Tokens) -> Result<Expr, Refusal> {
        if tokens.take(&["-"]).is_some() {
            return Ok(Expr::Negative(Box::new(self.unary(tokens)?)));
        }
        match tokens.next() {
            Some(Token::Int(value)) => Ok(Expr::Int(value)),
            Some(Token::Mark("(")) => {
                let inner = self.sum(tokens)?;
                tokens.must(")")?;
                Ok(inner)
            }
            Some(Token::Name(name)) => {
                if tokens.take(&["("]).is_some() {
                    let arguments = self.arguments(tokens)?;
                    self.function(&name, &arguments)
                } else {
                    Ok(self.bare(name))
                }
            }
            _ => Err(tokens.unexpected("a number, a name or a parenthesis")),
        }
    }

    fn bare(&mut self, name: String) -> Expr {
        match name.as_str() {
            "grid_length" => Expr::Length,
            "incoming_collisions" | "transition_indicator" if self.universe.is_kinetic() => {
                Expr::Incoming
            }
            _ => {
                let known = self.names.iter().position(|other| *other == name);
                match known {
                    Some(at) if self.defining != known => Expr::Name(at),
                    _ => {
                        self.unknown.get_or_insert(name);
                        Expr::Int(0)
                    }
                }
            }
        }
    }

    fn arguments(&mut self, tokens: &mut Tokens) -> Result<Vec<Argument>, Refusal> {
        let mut all = Vec::new();
        if tokens.take(&[")"]).is_some() {
            return Ok(all);
        }
        loop {
            if let Some(Token::Quoted(symbols)) = tokens.peek() {
                all.push(Argument::Symbols(symbols.clone()));
                tokens.next();
            } else {
                all.push(match self.sum(tokens)? {
                    Expr::Int(value) => Argument::Number(value),
                    _ => Argument::Other,
                });
            }
            if tokens.take(&[","]).is_none() {
                tokens.must(")")?;
                return Ok(all);
            }
        }
    }

    fn function(&mut self, name: &str, arguments: &[Argument]) -> Result<Expr, Refusal> {
        if !FUNCTIONS.contains(&name) {
            self.unknown.get_or_insert_with(|| name.to_string());
            return Ok(Expr::Int(0));
        }
        let wrong = || Refusal::Ambiguous(format!("{name} does not take these arguments"));
        let symbols = |i: usize| match arguments.get(i) {
            Some(Argument::Symbols(text)) if !text.is_empty() => {
                self.universe.cells(text).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        };
        let symbol = |i: usize| match symbols(i)?[..] {
            [one] => Ok(one),
            _ => Err(wrong()),
        };
        let number = |i: usize| match arguments.get(i) {
            Some(Argument::Number(value)) => usize::try_from(*value).map_err(|_| wrong()),
            _ => Err(wrong()),
        };
        let (expr, taken) = match name {
            "count" => (Expr::Count(symbol(0)?), 1),
            "count_even" => (Expr::CountAtParity(symbol(0)?, 0), 1),
            "count_odd" => (Expr::CountAtParity(symbol(0)?, 1), 1),
            "count_at_parity" => match number(1)? {
                parity @ (0 | 1) => (Expr::CountAtParity(symbol(0)?, parity), 2),
                _ => return Err(wrong()),
            },
            "count_pattern" => (Expr::Pattern(symbols(0)?), 1),
            "leftmost" => (Expr::Leftmost(symbol(0)?), 1),
            "rightmost" => (Expr::Rightmost(symbol(0)?), 1),
            "spread" => (Expr::Spread(symbol(0)?), 1),
            "max_gap" => (Expr::MaxGap(symbol(0)?), 1),
            "adjacent_pairs" => (Expr::Pairs(symbol(0)?, symbol(1)?, 1), 2),
            _ => (
                Expr::Pairs(symbol(0)?, symbol(1)?, number(2)?.saturating_add(1)),
                3,
            ),
        };
        if arguments.len() == taken {
            Ok(expr)
        } else {
            Err(wrong())
        }
    }
}

impl Expr {
    /// The names it uses directly.
    pub fn uses(&self, found: &mut Vec<usize>) {
        match self {
            Self::Name(at) => found.push(*at),
            Self::Negative(inner) => inner.uses(found),
            Self::Binary(_, left, right) => {
                left.uses(found);
                right.uses(found);
            }
            _ => {}
        }
    }

    /// The value on one state, `None` for an overflow or a zero divisor.
    pub fn value(&self, all: &[Expr], cells: &Cells) -> Option<i64> {
        Some(match self {
            Self::Int(value) => *value,
            Self::Length => cells.len() as i64,
            Self::Count(symbol) => cells.iter().map(|c| i64::from(c == symbol)).sum(),
            Self::CountAtParity(symbol, parity) => cells
                .iter()
                .skip(*parity)
                .step_by(2)
                .filter(|c| *c == symbol)
                .count() as i64,
            Self::Pattern(pattern) => (0..cells.len())
                .filter(|start| {
                    pattern
                        .iter()
                        .enumerate()
                        .all(|(i, symbol)| cells[(start + i) % cells.len()] == *symbol)
                })
                .count() as i64,
            Self::Leftmost(symbol) => place(cells.iter().position(|c| c == symbol)),
            Self::Rightmost(symbol) => place(cells.iter().rposition(|c| c == symbol)),
            Self::Spread(symbol) => {
                place(cells.iter().rposition(|c| c == symbol))
                    - place(cells.iter().position(|c| c == symbol))
            }
            Self::MaxGap(symbol) => {
                let (mut longest, mut run) = (0, 0);
                for c in cells {
                    run = if c == symbol { run + 1 } else { 0 };
                    longest = longest.max(run);
                }
                longest
            }
            Self::Pairs(first, second, distance) => cells
                .iter()
                .zip(cells.iter().skip(*distance))
                .filter(|(a, b)| *a == first && *b == second)
                .count() as i64,
            Self::Incoming => Universe::incoming_collisions(cells),
            Self::Name(at) => all[*at].value(all, cells)?,
            Self::Negative(inner) => inner.value(all, cells)?.checked_neg()?,
            Self::Binary(op, left, right) => {
                let (a, b) = (left.value(all, cells)?, right.value(all, cells)?);
                match *op {
                    "+" => a.checked_add(b)?,
                    "-" => a.checked_sub(b)?,
                    "*" => a.checked_mul(b)?,
                    _ => floor_modulo(a, b)?,
                }
            }
        })
    }
}

fn place(found: Option<usize>) -> i64 {
    found.map_or(-1, |i| i as i64)
}

/// The remainder has the sign of the divisor.
pub fn floor_modulo(a: i64, b: i64) -> Option<i64> {
    let rest = a.checked_rem(b)?;
    Some(if rest != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    })
}
