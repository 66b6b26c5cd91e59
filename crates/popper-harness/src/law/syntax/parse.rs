//! The parser of expressions and claims.

use std::fmt;

use super::node::{Kind, Node, SyntaxError, time};
use super::op::{COMPARISON, Op, UNARY};
use crate::law::limits::{MAX_NESTING, MAX_TEXT};
use winnow::Parser;
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, preceded, repeat, terminated};
use winnow::error::{ContextError, ErrMode};
use winnow::stream::LocatingSlice;
use winnow::token::{one_of, take_till, take_while};

/// A token of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Int(i64),
    Quoted(String),
    Name(String),
    Op(Op),
    Not,
    Open,
    Close,
    Comma,
}

impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(out, "{number}"),
            Self::Quoted(text) => write!(out, "'{text}'"),
            Self::Name(name) => write!(out, "`{name}`"),
            Self::Op(op) => write!(out, "`{}`", op.text()),
            Self::Not => out.write_str("`not`"),
            Self::Open => out.write_str("`(`"),
            Self::Close => out.write_str("`)`"),
            Self::Comma => out.write_str("`,`"),
        }
    }
}

/// The typographic quotes, which are read as `'`.
pub const QUOTES: [char; 8] = ['‘', '’', '‚', '‛', '“', '”', '„', '‟'];

fn meant(found: &str, operator: &str) -> String {
    format!("`{found}` is not an operator; did you mean `{operator}`?")
}

type Parsed<T> = Result<T, ErrMode<ContextError>>;

fn token(input: &mut LocatingSlice<&str>) -> Parsed<Token> {
    let quoted = |quote: char| {
        delimited(quote, take_till(0.., quote), quote).map(|text: &str| Token::Quoted(text.into()))
    };
    // The quotes of word processors, in any pairing.
    let typographic = delimited(one_of(QUOTES), take_till(0.., QUOTES), one_of(QUOTES))
        .map(|text: &str| Token::Quoted(text.into()));
    let word = (
        one_of(|c: char| c.is_alphabetic() || c == '_'),
        take_while(0.., |c: char| c.is_alphanumeric() || c == '_'),
    )
        .take()
        .map(|word: &str| match word {
            "or" => Token::Op(Op::Or),
            "and" => Token::Op(Op::And),
            "not" => Token::Not,
            name => Token::Name(name.into()),
        });
    // Longer operators first.
    let logical = alt((
        alt(("->", "=>")).value(Token::Op(Op::Implies)),
        "||".value(Token::Op(Op::Or)),
        "&&".value(Token::Op(Op::And)),
        "==".value(Token::Op(Op::Eq)),
        "!=".value(Token::Op(Op::Ne)),
        "<=".value(Token::Op(Op::Le)),
        ">=".value(Token::Op(Op::Ge)),
        "<".value(Token::Op(Op::Lt)),
        ">".value(Token::Op(Op::Gt)),
    ));
    let arithmetic = alt((
        '+'.value(Token::Op(Op::Add)),
        '-'.value(Token::Op(Op::Sub)),
        '*'.value(Token::Op(Op::Mul)),
        '/'.value(Token::Op(Op::Div)),
        '%'.value(Token::Op(Op::Mod)),
        '('.value(Token::Open),
        ')'.value(Token::Close),
        ','.value(Token::Comma),
        '!'.value(Token::Not),
    ));
    alt((
        digit1.try_map(str::parse).map(Token::Int),
        word,
        quoted('\''),
        quoted('"'),
        typographic,
        logical,
        arithmetic,
    ))
    .parse_next(input)
}

/// Parses an expression or a claim.
///
/// # Errors
/// [`SyntaxError`] with the column of the first character that does not fit.
pub fn parse(text: &str) -> Result<Node, SyntaxError> {
    parse_as(text, false)
}

/// Parses an [`Expr`](crate::law::Expr) as it is displayed.
///
/// Any expression may have a time after it, and a sign before a number is part of the number.
pub(crate) fn parse_displayed(text: &str) -> Result<Node, SyntaxError> {
    parse_as(text, true)
}

fn parse_as(text: &str, displayed: bool) -> Result<Node, SyntaxError> {
    if text.len() > MAX_TEXT {
        return Err(SyntaxError::at(1, format!("longer than {MAX_TEXT} bytes")));
    }
    let column = |offset: usize| text[..offset].chars().count() + 1;
    let mut lexer = terminated(
        repeat(0.., preceded(multispace0, token.with_span())),
        multispace0,
    );
    let spanned: Vec<(Token, std::ops::Range<usize>)> =
        lexer.parse(LocatingSlice::new(text)).map_err(|error| {
            let at = error.offset()
                + text[error.offset()..]
                    .chars()
                    .take_while(|c| c.is_whitespace())
                    .map(char::len_utf8)
                    .sum::<usize>();
            let found: String = text[at..].chars().take(1).collect();
            let message = match found.as_str() {
                quote if quote.starts_with(['\'', '"']) || quote.starts_with(QUOTES) => {
                    "the quote is not closed".into()
                }
                digit if digit.starts_with(|c: char| c.is_ascii_digit()) => {
                    "the number does not fit into 64 bits".into()
                }
                "=" if text[at..].starts_with("=<") => meant("=<", "<="),
                "=" if text[at..].starts_with("=!") => meant("=!", "!="),
                "=" => "expected `==`, found `=`".into(),
                "≤" => meant("≤", "<="),
                "≥" => meant("≥", ">="),
                "≠" => meant("≠", "!="),
                found => format!("`{found}` has no meaning here"),
            };
            SyntaxError {
                column: column(at),
                message,
            }
        })?;
    let tokens = spanned
        .into_iter()
        .map(|(token, span)| (token, column(span.start)))
        .collect();
    let mut tree = TreeParser {
        tokens,
        next: 0,
        end: column(text.len()),
        depth: 0,
        displayed,
    };
    let node = tree.operators(0)?;
    tree.expect_end()?;
    Ok(node)
}

struct TreeParser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    end: usize,
    depth: usize,
    displayed: bool,
}

impl TreeParser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn column(&self) -> usize {
        self.tokens
            .get(self.next)
            .map_or(self.end, |(_, column)| *column)
    }

    fn fail<T>(&self, expected: &str) -> Result<T, SyntaxError> {
        let found = self
            .peek()
            .map_or_else(|| "the end".into(), ToString::to_string);
        Err(SyntaxError {
            column: self.column(),
            message: format!("expected {expected}, found {found}"),
        })
    }

    fn eat(&mut self, token: &Token) -> bool {
        let there = self.peek() == Some(token);
        self.next += usize::from(there);
        there
    }

    fn expect_end(&self) -> Result<(), SyntaxError> {
        if self.peek().is_some() {
            self.fail("an operator or the end")
        } else {
            Ok(())
        }
    }

    /// Parses a part in which every operator binds at least as tightly as `floor`.
    fn operators(&mut self, floor: usize) -> Result<Node, SyntaxError> {
        // Each round of recursion below goes through here, so this bounds the stack.
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(SyntaxError {
                column: self.column(),
                message: format!("nests deeper than {MAX_NESTING}"),
            });
        }
        let mut left = self.operand(floor)?;
        let mut links = 0;
        while let Some(&Token::Op(op)) = self.peek() {
            let bind = op.level();
            if bind < floor {
                break;
            }
            self.next += 1;
            // The arrow associates to the right, everything else to the left.
            let right = self.operators(if op == Op::Implies { bind } else { bind + 1 })?;
            left = Node::binary(op, left, right);
            links += 1;
            if links > MAX_NESTING {
                return Err(SyntaxError {
                    column: self.column(),
                    message: "too many operators in one chain".into(),
                });
            }
            if bind == COMPARISON
                && matches!(self.peek(), Some(Token::Op(next)) if next.is_comparison())
            {
                return self.fail("one comparison only (join two with `and`)");
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self, floor: usize) -> Result<Node, SyntaxError> {
        let column = self.column();
        if floor <= COMPARISON && self.eat(&Token::Not) {
            let inner = self.operators(COMPARISON)?;
            return Ok(Node {
                column,
                kind: Kind::Not(Box::new(inner)),
            });
        }
        if self.eat(&Token::Op(Op::Sub)) {
            if let Some(&Token::Int(number)) = self.peek()
                && self.displayed
            {
                self.next += 1;
                let kind = Kind::Int(-number);
                return Ok(Node { column, kind });
            }
            let inner = self.operators(UNARY)?;
            return Ok(Node {
                column,
                kind: Kind::Neg(Box::new(inner)),
            });
        }
        let Some(token) = self.peek().cloned() else {
            return self.fail("a value");
        };
        let kind = match token {
            Token::Int(number) => Kind::Int(number),
            Token::Quoted(text) => Kind::Quoted(text),
            Token::Name(name) => {
                self.next += 1;
                let kind = if self.eat(&Token::Open) {
                    Kind::Call(name, self.arguments()?)
                } else {
                    Kind::Name(name)
                };
                return self.with_time(Node { column, kind });
            }
            Token::Open => {
                self.next += 1;
                let inner = self.operators(0)?;
                return if self.eat(&Token::Close) {
                    self.with_time(inner)
                } else {
                    self.fail("an operator or `)`")
                };
            }
            _ => return self.fail("a value"),
        };
        self.next += 1;
        Ok(Node { column, kind })
    }

    /// Parses the time that may follow a node.
    fn with_time(&mut self, node: Node) -> Result<Node, SyntaxError> {
        if !self.displayed || !self.eat(&Token::Open) {
            return Ok(node);
        }
        let column = node.column;
        let time = time(column, &self.arguments()?)?;
        let kind = Kind::At(Box::new(node), time);
        Ok(Node { column, kind })
    }

    fn arguments(&mut self) -> Result<Vec<Node>, SyntaxError> {
        let mut arguments = Vec::new();
        if self.eat(&Token::Close) {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.operators(0)?);
            if self.eat(&Token::Close) {
                return Ok(arguments);
            }
            if !self.eat(&Token::Comma) {
                return self.fail("`,` or `)`");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(node: &Node) -> String {
        match &node.kind {
            Kind::Int(number) => number.to_string(),
            Kind::Quoted(text) => format!("'{text}'"),
            Kind::Name(name) => name.clone(),
            Kind::Call(name, arguments) => {
                format!(
                    "{name}({})",
                    arguments.iter().map(show).collect::<Vec<_>>().join(",")
                )
            }
            Kind::Step => "t".into(),
            Kind::At(inner, time) => format!("{}@{time:?}", show(inner)),
            Kind::Neg(inner) => format!("(-{})", show(inner)),
            Kind::Not(inner) => format!("(not {})", show(inner)),
            Kind::Binary(op, left, right) => {
                format!("({} {} {})", show(left), op.text(), show(right))
            }
        }
    }

    fn check(text: &str) -> String {
        parse(text).map_or_else(|error| error.to_string(), |node| show(&node))
    }

    #[test]
    fn precedence() {
        for (text, tree) in [
            ("1 + 2*3 - 4", "((1 + (2 * 3)) - 4)"),
            ("count('<') - 7 % 3", "(count('<') - (7 % 3))"),
            ("-x*y", "((-x) * y)"),
            ("x - -1", "(x - (-1))"),
            ("a -> b -> c", "(a => (b => c))"),
            ("not x(t) > 0 and y", "((not (x(t) > 0)) and y)"),
            ("a or b and c => d", "((a or (b and c)) => d)"),
            ("x(t+1)==inc(t)", "(x((t + 1)) == inc(t))"),
            ("!(a) || b", "((not a) or b)"),
            ("count(‘X’) + count(“>”)", "(count('X') + count('>'))"),
        ] {
            assert_eq!(check(text), tree, "{text}");
        }
    }

    #[test]
    fn errors_name_the_column() {
        for (text, message) in [
            ("", "column 1: expected a value, found the end"),
            ("count('X'", "column 10: expected `,` or `)`, found the end"),
            ("1 + ", "column 5: expected a value, found the end"),
            (
                "a b",
                "column 3: expected an operator or the end, found `b`",
            ),
            ("x = 1", "column 3: expected `==`, found `=`"),
            (
                "x =< 1",
                "column 3: `=<` is not an operator; did you mean `<=`?",
            ),
            ("count(“X)", "column 7: the quote is not closed"),
            ("é # 1", "column 3: `#` has no meaning here"),
            ("count('X", "column 7: the quote is not closed"),
            (
                "99999999999999999999",
                "column 1: the number does not fit into 64 bits",
            ),
            (
                "1 < 2 < 3",
                "column 7: expected one comparison only (join two with `and`), found `<`",
            ),
        ] {
            assert_eq!(check(text), message, "{text}");
        }
        assert!(check(&"(".repeat(4000)).contains("nests deeper"));
        assert!(check(&"-".repeat(4000)).contains("nests deeper"));
        assert!(check(&"1+".repeat(2000)).contains("chain"));
    }
}
