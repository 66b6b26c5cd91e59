use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Raw;

/// The tokens of a call. The prompt has `input + cache_write_5m + cache_write_1h + cache_read` tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Prompt tokens that were neither read from a cache nor written to one.
    pub input: u64,
    /// Prompt tokens written to the cache of five minutes (the default lifetime).
    pub cache_write_5m: u64,
    /// Prompt tokens written to the cache of one hour.
    pub cache_write_1h: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Reply tokens, thinking included.
    pub output: u64,
    /// Thinking tokens among them, if the provider reports them.
    pub thinking: Option<u64>,
    /// Calls of the provider's own tools, by name (`web_search_requests`).
    pub server_tools: BTreeMap<String, u64>,
    /// The usage object of the provider, unchanged.
    pub raw: Option<Raw>,
    /// Whether the provider sent the numbers; otherwise they are estimates.
    pub known: bool,
    /// Whether the provider sent the numbers before the model stopped, so that they may still grow.
    #[serde(skip)]
    pub partial: bool,
}

impl Usage {
    /// Returns the number of tokens of the prompt.
    pub fn prompt(&self) -> u64 {
        self.input
            .saturating_add(self.cache_write_5m)
            .saturating_add(self.cache_write_1h)
            .saturating_add(self.cache_read)
    }

    /// Returns the number of tokens of prompt and reply.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// Adds the numbers of another call. The sum has no `raw`, and is known only if both are.
    pub fn add(&mut self, other: &Self) {
        let sum = |a: &mut u64, b: u64| *a = a.saturating_add(b);
        sum(&mut self.input, other.input);
        sum(&mut self.cache_write_5m, other.cache_write_5m);
        sum(&mut self.cache_write_1h, other.cache_write_1h);
        sum(&mut self.cache_read, other.cache_read);
        sum(&mut self.output, other.output);
        if let Some(thinking) = other.thinking {
            sum(self.thinking.get_or_insert(0), thinking);
        }
        for (tool, calls) in &other.server_tools {
            sum(self.server_tools.entry(tool.clone()).or_insert(0), *calls);
        }
        self.raw = None;
        self.known &= other.known;
        self.partial |= other.partial;
    }
}

/// Money in nano-dollars. A price of one dollar for a million tokens is 1000 nano-dollars for a token.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[expect(
    clippy::exhaustive_structs,
    reason = "an amount is its number of nano-dollars and nothing else"
)]
pub struct Usd(pub i64);

impl Usd {
    /// No money.
    pub const ZERO: Self = Self(0);
    const NANOS: i64 = 1_000_000_000;

    /// Returns the sum, or `None` above 9.2 billion dollars.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Returns the sum, at most 9.2 billion dollars.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference, or `None` if it does not fit.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Converts dollars as a float, which providers send, to the nearest number of nano-dollars. Returns `None` for NaN,
    /// infinity, a negative number or an amount that does not fit.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let nanos = (dollars * Self::NANOS as f64).round();
        // 2^63 as a float is the first value that does not fit.
        (nanos >= 0.0 && nanos < i64::MAX as f64).then_some(Self(nanos as i64))
    }
}

impl fmt::Display for Usd {
    /// Writes `$0.0021`: with the needed digits, at least two after the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        let (dollars, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        let digits = format!("{rest:09}");
        let digits = digits.trim_end_matches('0');
        write!(f, "{sign}${dollars}.{digits:0<2}")
    }
}

/// A text that is not an amount of dollars.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected dollars such as 5 or 0.125 with at most 9 digits after the point, got {text:?}")]
#[non_exhaustive]
pub struct UsdError {
    /// The text.
    pub text: String,
}

impl FromStr for Usd {
    type Err = UsdError;

    /// Reads `5` or `0.125`: digits, and after a point at most nine digits, without a sign or an exponent.
    fn from_str(text: &str) -> Result<Self, UsdError> {
        let read = || {
            let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
            let digits = |s: &str| !s.is_empty() && s.bytes().all(|byte| byte.is_ascii_digit());
            if !digits(whole) || !digits(part) || part.len() > 9 {
                return None;
            }
            let whole = whole.parse::<i64>().ok()?.checked_mul(Self::NANOS)?;
            let part = format!("{part:0<9}").parse().ok()?;
            whole.checked_add(part).map(Self)
        };
        read().ok_or_else(|| UsdError {
            text: text.to_owned(),
        })
    }
}

/// The charge of a call, or of one attempt, to a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Charge {
    /// The money; `None` if no price is known.
    pub usd: Option<Usd>,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Whether the charge follows from the usage that the provider reports; otherwise it is an upper bound.
    pub certain: bool,
}

impl Charge {
    /// A charge of zero.
    pub const NONE: Self = Self {
        usd: Some(Usd::ZERO),
        tokens: 0,
        certain: true,
    };

    /// Creates a charge of `usd` and `tokens`.
    pub fn new(usd: Option<Usd>, tokens: u64, certain: bool) -> Self {
        Self {
            usd,
            tokens,
            certain,
        }
    }

    /// Returns the sum of two charges. The money is unknown if one of them is, and the sum is certain only if both are.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let usd = self.usd.zip(other.usd);
        Self {
            usd: usd.map(|(a, b)| a.saturating_add(b)),
            tokens: self.tokens.saturating_add(other.tokens),
            certain: self.certain && other.certain,
        }
    }

    /// Whether the charge is zero and certain.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

impl Default for Charge {
    fn default() -> Self {
        Self::NONE
    }
}

/// The cost of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cost {
    /// The amount, if it is known.
    pub usd: Option<Usd>,
    /// The source of the amount.
    pub from: CostSource,
}

impl Cost {
    /// The cost of a replay or of an offline reply.
    pub const FREE: Self = Self {
        usd: Some(Usd::ZERO),
        from: CostSource::Free,
    };
    /// The cost of a call without a known price.
    pub const UNKNOWN: Self = Self {
        usd: None,
        from: CostSource::Unknown,
    };

    /// Creates a known cost.
    pub fn new(usd: Usd, from: CostSource) -> Self {
        Self {
            usd: Some(usd),
            from,
        }
    }

    /// Returns the sum of two costs. The sum is unknown if one cost is. Otherwise its source is the weaker one: a table if one cost is
    /// from a table.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let both = self.usd.zip(other.usd);
        let Some(usd) = both.and_then(|(a, b)| a.checked_add(b)) else {
            return Self::UNKNOWN;
        };
        let from = match (&self.from, &other.from) {
            (CostSource::Free, from) | (from, CostSource::Free) => from.clone(),
            (table @ CostSource::Table { .. }, _) | (_, table @ CostSource::Table { .. }) => {
                table.clone()
            }
            (from, _) => from.clone(),
        };
        Self::new(usd, from)
    }
}

/// The source of a cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CostSource {
    /// The provider, in its reply.
    Provider,
    /// The client's table of prices.
    Table {
        /// The date of the table's prices, `YYYY-MM-DD`.
        read_on: String,
    },
    /// The reservation: the most that an attempt without an answer can have cost.
    Reserved,
    /// The cost is unknown.
    Unknown,
    /// The reply is free: an offline reply or a replay.
    Free,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_read_and_written_exactly() {
        for (text, nanos, shown) in [
            ("5", 5_000_000_000, "$5.00"),
            ("0.125", 125_000_000, "$0.125"),
            ("0.000000001", 1, "$0.000000001"),
            ("12.50", 12_500_000_000, "$12.50"),
        ] {
            assert_eq!(text.parse::<Usd>().unwrap(), Usd(nanos), "{text}");
            assert_eq!(Usd(nanos).to_string(), shown);
        }
        for text in [
            "",
            ".",
            "-1",
            "+1",
            "1e3",
            "NaN",
            "1.",
            ".5",
            "1.0000000001",
            "1 ",
            "99999999999",
        ] {
            assert!(text.parse::<Usd>().is_err(), "{text:?}");
        }
        assert_eq!(Usd(-1_500_000_000).to_string(), "-$1.50");
    }

    #[test]
    fn floats_are_rounded_to_the_nano_and_nonsense_is_none() {
        assert_eq!(Usd::from_dollars(0.0021), Some(Usd(2_100_000)));
        assert_eq!(Usd::from_dollars(0.0), Some(Usd::ZERO));
        for nonsense in [f64::NAN, f64::INFINITY, -1.0, 1e10] {
            assert_eq!(Usd::from_dollars(nonsense), None);
        }
    }
}
