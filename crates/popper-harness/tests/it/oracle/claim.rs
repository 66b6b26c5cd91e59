//! Claims: a text grammar and a JSON tree, one meaning.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Refusal, expr::floor_modulo, lex::Token, lex::Tokens};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    Now,
    Next,
    At(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    Int(i64),
    /// The time itself, as a number.
    Time,
    /// `t + 1` as a number.
    NextTime,
    Length,
    /// A named observable at a time, by its place in the law's list.
    Seen(usize, When),
    Not(Box<Claim>),
    Negative(Box<Claim>),
    Binary(&'static str, Box<Claim>, Box<Claim>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Truth,
    Number,
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];
const ARITHMETIC: [&str; 5] = ["+", "-", "*", "/", "%"];

pub struct Reader<'a> {
    pub names: &'a [String],
    /// As for observables, an unknown name is reported only if everything else is sound.
    unknown: Option<String>,
}

impl<'a> Reader<'a> {
    pub fn new(names: &'a [String]) -> Self {
        Self {
            names,
            unknown: None,
        }
    }

    pub fn text(mut self, text: &str) -> Result<Claim, Refusal> {
        let mut tokens = Tokens::read(text)?;
        let claim = self.implication(&mut tokens)?;
        tokens.end()?;
        self.finish(claim)
    }

    pub fn json(mut self, json: &Value) -> Result<Claim, Refusal> {
        let claim = self.node(json)?;
        self.finish(claim)
    }

    fn finish(self, claim: Claim) -> Result<Claim, Refusal> {
        if claim.kind()? != Kind::Truth {
            return Err(Refusal::Ambiguous("the claim is a number".into()));
        }
        match self.unknown {
            Some(name) => Err(Refusal::MissingObservable(name)),
            None => Ok(claim),
        }
    }

    fn seen(&mut self, name: &str, when: When) -> Claim {
        if let Some(at) = self.names.iter().position(|other| other == name) {
            return Claim::Seen(at, when);
        }
        self.unknown.get_or_insert_with(|| name.to_string());
        Claim::Int(0)
    }

    fn implication(&mut self, tokens: &mut Tokens) -> Result<Claim, Refusal> {
        let left = self.either(tokens)?;
        if tokens.take(&["->", "=>"]).is_some() {
            let right = self.implication(tokens)?;
            return Ok(binary("=>", left, right));
        }
        Ok(left)
    }

    fn either(&mut self, tokens: &mut Tokens) -> Result<Claim, Refusal> {
        let mut left = self.both(tokens)?;
        while tokens.take(&["or", "||"]).is_some() {
            left = binary("or", left, self.both(tokens)?);
        }
        Ok(left)
    }

    fn both(&mut self, tokens: &mut Tokens) -> Result<Claim, Refusal> {
        let mut left = self.negation(tokens)?;
        while tokens.take(&["and", "&&"]).is_some() {
            left = binary("and", left, self.negation(tokens)?);
        }
        Ok(left)
    }

    fn negation(&mut self, tokens: &mut Tokens) -> Result<Claim, Refusal> {
        if tokens.take(&["not", "!"]).is_some() {
            return Ok(Claim::Not(Box::new(self.negation(tokens)?)));
        }
        let left = self.sum(tokens)?;
        match tokens.take(&COMPARISONS) {
            Some(op) => Ok(binary(op, left, self.sum(tokens)?)),
            None => Ok(left),
        }
    }

    fn sum(&mut self, tokens: &mut Tokens) -> Result<Claim, Refusal> {
        let mut left = self.product(tokens)?;
        while let Some(op) = tokens.take(&["+", "-"]) {
            left = binary(op, left, self.product(tokens)?);
        }
        Ok(left)
    }

    fn product(&mut self, tokens: &mut Tokens) -> Result<Claim, Refusal> {
        let mut left = self.unary(tokens)?;
        while let Some(op) = tokens.take(&["*", "/", "%"]) {
            left = binary(op, left, self.unary(tokens)?);
        }
        Ok(left)
    }

    fn unary(&mut self, tokens: &mut Tokens) -> Result<Claim, Refusal> {
        if tokens.take(&["-"]).is_some() {
            return Ok(match self.unary(tokens)? {
                // The tree has negative constants, so the text has them too.
                Claim::Int(value) => Claim::Int(-value),
                inner => Claim::Negative(Box::new(inner)),
            });
        }
        match tokens.next() {
            Some(Token::Int(value)) => Ok(Claim::Int(value)),
            Some(Token::Mark("(")) => {
                let inner = self.implication(tokens)?;
                tokens.must(")")?;
                Ok(inner)
            }
            Some(Token::Name(name)) => {
                if tokens.take(&["("]).is_some() {
                    let when = Self::when(tokens)?;
                    tokens.must(")")?;
                    return Ok(self.seen(&name, when));
                }
                match name.as_str() {
                    "t" => Ok(Claim::Time),
                    "grid_length" => Ok(Claim::Length),
                    _ => Err(tokens.unexpected("a time after the name")),
                }
            }
            _ => Err(tokens.unexpected("a number, a name or a parenthesis")),
        }
    }

    fn when(tokens: &mut Tokens) -> Result<When, Refusal> {
        if let Some(Token::Int(k)) = tokens.peek() {
            let k = *k as usize;
            tokens.next();
            return Ok(When::At(k));
        }
        tokens.must("t")?;
        if tokens.take(&["+"]).is_none() {
            return Ok(When::Now);
        }
        match tokens.next() {
            Some(Token::Int(1)) => Ok(When::Next),
            _ => Err(tokens.unexpected("t+1")),
        }
    }

    fn node(&mut self, json: &Value) -> Result<Claim, Refusal> {
        let wrong = || Refusal::Ambiguous(format!("not a claim node: {json}"));
        if let Some(value) = json["const"].as_i64() {
            return Ok(Claim::Int(value));
        }
        if let Some(name) = json["obs"].as_str() {
            let when = if json["t"]["var"] == "t" {
                When::Now
            } else if json["t"]["t_plus_1"] == true {
                When::Next
            } else {
                When::At(json["t"]["const"].as_u64().ok_or_else(wrong)? as usize)
            };
            return Ok(self.seen(name, when));
        }
        if json["var"] == "t" {
            return Ok(Claim::Time);
        }
        if json["t_plus_1"] == true {
            return Ok(Claim::NextTime);
        }
        let op = json["op"].as_str().ok_or_else(wrong)?;
        if json.get("arg").is_some() {
            let inner = Box::new(self.node(&json["arg"])?);
            return match op {
                "not" => Ok(Claim::Not(inner)),
                "-" => Ok(Claim::Negative(inner)),
                _ => Err(wrong()),
            };
        }
        let op = COMPARISONS
            .iter()
            .chain(&ARITHMETIC)
            .chain(&["=>", "and", "or"])
            .find(|known| **known == op)
            .ok_or_else(wrong)?;
        let left = self.node(&json["lhs"])?;
        Ok(binary(op, left, self.node(&json["rhs"])?))
    }
}

pub fn binary(op: &'static str, left: Claim, right: Claim) -> Claim {
    Claim::Binary(op, Box::new(left), Box::new(right))
}

/// The run and the t at which a claim is evaluated.
pub struct At<'a> {
    pub t: usize,
    pub length: usize,
    /// `values[observable * times + t]`; `None` where the observable has no value.
    pub values: &'a [Option<i64>],
    pub times: usize,
}

impl Claim {
    pub fn kind(&self) -> Result<Kind, Refusal> {
        let expect = |claim: &Claim, kind| {
            if claim.kind()? == kind {
                Ok(())
            } else {
                Err(Refusal::Ambiguous(format!("{kind:?} expected: {claim:?}")))
            }
        };
        match self {
            Self::Int(_) | Self::Time | Self::NextTime | Self::Length | Self::Seen(..) => {
                Ok(Kind::Number)
            }
            Self::Not(inner) => expect(inner, Kind::Truth).map(|()| Kind::Truth),
            Self::Negative(inner) => expect(inner, Kind::Number).map(|()| Kind::Number),
            Self::Binary(op, left, right) => {
                let (sides, whole) = match *op {
                    "=>" | "and" | "or" => (Kind::Truth, Kind::Truth),
                    op if COMPARISONS.contains(&op) => (Kind::Number, Kind::Truth),
                    _ => (Kind::Number, Kind::Number),
                };
                expect(left, sides)?;
                expect(right, sides)?;
                Ok(whole)
            }
        }
    }

    /// Calls back with every observable and time it names.
    pub fn each_seen(&self, see: &mut impl FnMut(usize, When)) {
        match self {
            Self::Seen(at, when) => see(*at, *when),
            Self::Not(inner) | Self::Negative(inner) => inner.each_seen(see),
            Self::Binary(_, left, right) => {
                left.each_seen(see);
                right.each_seen(see);
            }
            _ => {}
        }
    }

    /// `None` when the evaluation fails. What short-circuiting skips cannot fail.
    pub fn truth(&self, at: &At) -> Option<bool> {
        match self {
            Self::Not(inner) => Some(!inner.truth(at)?),
            Self::Binary("=>", left, right) => Some(!left.truth(at)? || right.truth(at)?),
            Self::Binary("and", left, right) => Some(left.truth(at)? && right.truth(at)?),
            Self::Binary("or", left, right) => Some(left.truth(at)? || right.truth(at)?),
            Self::Binary(op, left, right) => {
                let order = left.number(at)?.compare(right.number(at)?);
                Some(match *op {
                    "==" => order == Ordering::Equal,
                    "!=" => order != Ordering::Equal,
                    "<" => order == Ordering::Less,
                    "<=" => order != Ordering::Greater,
                    ">" => order == Ordering::Greater,
                    _ => order != Ordering::Less,
                })
            }
            // Types are checked when the claim is read.
            _ => None,
        }
    }

    fn number(&self, at: &At) -> Option<Number> {
        match self {
            Self::Int(value) => Some(Number::from(*value)),
            Self::Time => Some(Number::from(at.t as i64)),
            Self::NextTime => Some(Number::from(at.t as i64 + 1)),
            Self::Length => Some(Number::from(at.length as i64)),
            Self::Seen(name, when) => {
                let t = match when {
                    When::Now => at.t,
                    When::Next => at.t + 1,
                    When::At(k) => *k,
                };
                at.values[name * at.times + t].map(Number::from)
            }
            Self::Negative(inner) => Number::from(0).apply("-", inner.number(at)?),
            Self::Binary(op, left, right) => left.number(at)?.apply(op, right.number(at)?),
            Self::Not(_) => None,
        }
    }
}

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Copy)]
struct Number {
    top: i64,
    bottom: i64,
}

impl From<i64> for Number {
    fn from(top: i64) -> Self {
        Self { top, bottom: 1 }
    }
}

impl Number {
    fn compare(self, other: Self) -> Ordering {
        let left = i128::from(self.top) * i128::from(other.bottom);
        left.cmp(&(i128::from(other.top) * i128::from(self.bottom)))
    }

    /// Checked: whatever leaves i64 in lowest terms is an error, and so is a zero divisor.
    fn apply(self, op: &str, other: Self) -> Option<Self> {
        if self.bottom == 1 && other.bottom == 1 && op != "/" {
            let (a, b) = (self.top, other.top);
            return match op {
                "+" => a.checked_add(b),
                "-" => a.checked_sub(b),
                "*" => a.checked_mul(b),
                _ => floor_modulo(a, b),
            }
            .map(Self::from);
        }
        let [a, b, c, d] = [self.top, self.bottom, other.top, other.bottom].map(i128::from);
        let (top, bottom) = match op {
            "+" => (a * d + c * b, b * d),
            "-" => (a * d - c * b, b * d),
            "*" => (a * c, b * d),
            _ if c == 0 => return None,
            "/" => (a * d, b * c),
            // x - y * floor(x / y), which is what floor modulo means for fractions too.
            _ => {
                let (x, y) = (a * d * c.signum(), c.abs() * b);
                (a * d - c * b * x.div_euclid(y), b * d)
            }
        };
        let divisor = common_divisor(top, bottom) * bottom.signum();
        Some(Self {
            top: i64::try_from(top / divisor).ok()?,
            bottom: i64::try_from(bottom / divisor).ok()?,
        })
    }
}

fn common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
