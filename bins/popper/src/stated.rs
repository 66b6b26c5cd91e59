//! Laws that a flag states: a conserved quantity, or a bound.

use std::str::FromStr;

use popper_harness::law::syntax::Op;
use popper_harness::law::{Law, LawError};

/// The horizon of these laws, in steps.
const HORIZON: u64 = 50;

/// Returns the law that the value of an expression never changes; the expression is its name.
pub fn conserved(expr: &str) -> Result<Law, LawError> {
    Law::invariant(expr)
        .named(expr)
        .horizon(HORIZON)
        .forbidden("a step at which the value differs from that at t = 0")
        .build()
}

/// A bound as it is typed: `count('X') <= 3`.
#[derive(Debug, Clone)]
pub struct Bound {
    pub text: String,
    expr: String,
    op: Op,
    limit: i64,
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (start, length, op) = last_comparison(text)?;
            let (expr, limit) = (&text[..start], &text[start + length..]);
            let limit = limit.trim().parse().ok()?;
            (!expr.trim().is_empty()).then(|| (expr.trim().to_owned(), op, limit))
        };
        let (expr, op, limit) = read().ok_or(
            "expected an expression, a comparison and a whole number, as in \"count('X') <= 3\"",
        )?;
        Ok(Self {
            text: text.to_owned(),
            expr,
            op,
            limit,
        })
    }
}

impl Bound {
    /// Returns the law that this holds at every step; the text is its name.
    pub fn law(&self) -> Result<Law, LawError> {
        Law::bound(&self.expr, self.op, self.limit)
            .named(&self.text)
            .horizon(HORIZON)
            .forbidden("a step at which the bound does not hold")
            .build()
    }
}

/// Returns the last comparison outside of quotes: its place, its length in bytes, and the operator.
fn last_comparison(text: &str) -> Option<(usize, usize, Op)> {
    const OPS: [(&str, Op); 6] = [
        ("<=", Op::Le),
        (">=", Op::Ge),
        ("==", Op::Eq),
        ("!=", Op::Ne),
        ("<", Op::Lt),
        (">", Op::Gt),
    ];
    let mut is_quoted = false;
    let mut last = None;
    let mut next = 0;
    for (index, char) in text.char_indices() {
        is_quoted ^= char == '\'';
        if is_quoted || index < next {
            continue;
        }
        let found = OPS.iter().find(|(sign, _)| text[index..].starts_with(sign));
        if let Some((sign, op)) = found {
            last = Some((index, sign.len(), *op));
            next = index + sign.len();
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_an_expression_a_comparison_and_a_number() {
        for (text, expr, op, limit) in [
            ("count('X') <= 3", "count('X')", Op::Le, 3),
            (
                "count('<')-count('>')>-2",
                "count('<')-count('>')",
                Op::Gt,
                -2,
            ),
            ("count_pattern('<=') != 0", "count_pattern('<=')", Op::Ne, 0),
        ] {
            let bound: Bound = text.parse().unwrap();
            assert_eq!(
                (bound.expr.as_str(), bound.op, bound.limit),
                (expr, op, limit)
            );
            assert_eq!(bound.law().unwrap().law_id(), text);
        }
        for wrong in [
            "",
            "count('X')",
            "count('X') <=",
            "<= 3",
            "count('X') < y",
            "count('<= 3')",
        ] {
            assert!(wrong.parse::<Bound>().is_err(), "{wrong}");
        }
    }
}
