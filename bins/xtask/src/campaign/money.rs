//! An amount of money.

use std::fmt;

/// The billionths of a dollar.
const NANOS: i64 = 1_000_000_000;
/// The digits after the point.
const DIGITS: usize = 9;

/// An amount in billionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars(pub i64);

impl Dollars {
    /// Reads an amount such as `2`, `0.50` or `$1.544316`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('$').unwrap_or(text);
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > DIGITS {
            return None;
        }
        let nanos: i64 = format!("{part:0<DIGITS$}").parse().ok()?;
        let whole: i64 = whole.parse().ok()?;
        Some(Self(whole.checked_mul(NANOS)?.checked_add(nanos)?))
    }

    /// The amount of a JSON number of dollars.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        Self::parse(&format!("{dollars:.9}"))
    }

    /// The amount as a flag has it.
    pub fn flag(self) -> String {
        self.to_string().trim_start_matches('$').to_owned()
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, nanos) = (self.0 / NANOS, self.0 % NANOS);
        let part = format!("{nanos:09}");
        let (cents, rest) = part.split_at(2);
        write!(f, "${whole}.{cents}{}", rest.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_shown() {
        for (text, shown) in [
            ("2", "$2.00"),
            ("$0.5", "$0.50"),
            ("1.544316", "$1.544316"),
            ("0.000000001", "$0.000000001"),
        ] {
            assert_eq!(Dollars::parse(text).unwrap().to_string(), shown);
        }
        for text in ["", "-1", "1e3", ".5", "1.0000000001", "two"] {
            assert_eq!(Dollars::parse(text), None, "{text}");
        }
        assert_eq!(Dollars::from_dollars(0.25), Dollars::parse("0.25"));
    }
}
