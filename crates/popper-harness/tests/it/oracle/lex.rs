//! One reader of tokens for observables and claims.

use super::Refusal;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Int(i64),
    Name(String),
    Quoted(String),
    Mark(&'static str),
}

/// Longer marks first: `->` must not be read as `-` and `>`.
const MARKS: [&str; 22] = [
    "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "(", ")",
    ",", "!", "[", "]", "=",
];

pub struct Tokens {
    all: Vec<Token>,
    at: usize,
}

impl Tokens {
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let mut all = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if first.is_ascii_digit() {
                let end = end_of(rest, |c| c.is_ascii_digit());
                all.push(Token::Int(rest[..end].parse().map_err(|_| {
                    Refusal::Ambiguous(format!("{} is too large", &rest[..end]))
                })?));
                end
            } else if first.is_ascii_alphabetic() || first == '_' {
                let end = end_of(rest, |c| c.is_ascii_alphanumeric() || c == '_');
                all.push(Token::Name(rest[..end].to_string()));
                end
            } else if first == '\'' {
                let end = rest[1..]
                    .find('\'')
                    .ok_or_else(|| Refusal::Ambiguous("a quote is not closed".into()))?;
                all.push(Token::Quoted(rest[1..=end].to_string()));
                end + 2
            } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
                all.push(Token::Mark(mark));
                mark.len()
            } else {
                return Err(Refusal::Ambiguous(format!("cannot read {first:?}")));
            };
            rest = rest[length..].trim_start();
        }
        Ok(Self { all, at: 0 })
    }

    pub fn peek(&self) -> Option<&Token> {
        self.all.get(self.at)
    }

    pub fn next(&mut self) -> Option<Token> {
        self.at += 1;
        self.all.get(self.at - 1).cloned()
    }

    /// Consumes the first of the marks or words that is next.
    pub fn take(&mut self, wanted: &[&'static str]) -> Option<&'static str> {
        let found = match self.peek()? {
            Token::Mark(mark) => wanted.iter().find(|w| *w == mark)?,
            Token::Name(word) => wanted.iter().find(|w| *w == word)?,
            _ => return None,
        };
        self.at += 1;
        Some(found)
    }

    pub fn must(&mut self, wanted: &'static str) -> Result<(), Refusal> {
        match self.take(&[wanted]) {
            Some(_) => Ok(()),
            None => Err(self.unexpected(wanted)),
        }
    }

    pub fn end(&self) -> Result<(), Refusal> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end")),
        }
    }

    pub fn unexpected(&self, wanted: &str) -> Refusal {
        Refusal::Ambiguous(format!("{wanted} expected, found {:?}", self.peek()))
    }
}

fn end_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}
