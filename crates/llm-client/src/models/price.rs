use std::fmt;

use llm_types::Usd;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

/// The number of tokens that a price is for.
const PER: u128 = 1_000_000;

/// Dollars for a million tokens, each an amount of nano-dollars. Half a nano-dollar for a token is 500,000 here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Price {
    /// The price of prompt tokens outside the cache.
    #[serde(rename = "in", deserialize_with = "dollars")]
    pub input: Usd,
    /// The price of reply tokens, thinking included.
    #[serde(rename = "out", deserialize_with = "dollars")]
    pub output: Usd,
    /// The price of prompt tokens written to the cache of five minutes; `None` if unknown.
    #[serde(default, deserialize_with = "maybe_dollars")]
    pub cache_write_5m: Option<Usd>,
    /// The price of prompt tokens written to the cache of one hour; `None` if unknown.
    #[serde(default, deserialize_with = "maybe_dollars")]
    pub cache_write_1h: Option<Usd>,
    /// The price of prompt tokens read from a cache; `None` if unknown.
    #[serde(default, deserialize_with = "maybe_dollars")]
    pub cache_read: Option<Usd>,
}

/// A price for prompts up to a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Tier {
    /// The longest prompt in tokens, all three inputs added; `None` for any.
    #[serde(default)]
    pub up_to_prompt: Option<u64>,
    /// The price.
    pub price: Price,
}

impl Price {
    /// All prices times a factor, rounded up; `None` if they do not fit.
    pub(crate) fn times(mut self, factor: Factor) -> Option<Self> {
        let written = [&mut self.cache_write_5m, &mut self.cache_write_1h];
        let maybe = written.into_iter().chain([&mut self.cache_read]);
        let prices = maybe.filter_map(Option::as_mut);
        for price in prices.chain([&mut self.input, &mut self.output]) {
            let product = i128::from(price.0) * i128::from(factor.0);
            let unit = i128::from(Factor::UNIT);
            price.0 = i64::try_from((product + unit - 1) / unit).ok()?;
        }
        Some(self)
    }

    /// The highest of the known prices of a prompt's tokens.
    pub(crate) fn max_input_price(&self) -> Usd {
        [self.cache_write_5m, self.cache_write_1h, self.cache_read]
            .into_iter()
            .flatten()
            .fold(self.input, Usd::max)
    }
}

/// A factor on the prices of tokens, in billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Factor(pub u64);

impl Factor {
    const UNIT: u64 = 1_000_000_000;
    /// The factor of unchanged prices.
    pub const ONE: Self = Self(Self::UNIT);

    /// The product, rounded up; `None` if it does not fit.
    pub fn and(self, other: Self) -> Option<Self> {
        let product = u128::from(self.0) * u128::from(other.0);
        u64::try_from(product.div_ceil(Self::UNIT.into()))
            .ok()
            .map(Self)
    }
}

/// A sum of prices that is rounded once, at its end.
///
/// The unit is 10^-24 dollars, so that a price of nine decimals for a million tokens, times a factor of nine decimals, is
/// exact for one token.
pub(crate) struct Sum {
    sum: Option<u128>,
    factor: Factor,
}

impl Sum {
    /// A sum in which the prices of tokens are multiplied by `factor`.
    pub fn at(factor: Factor) -> Self {
        Self {
            sum: Some(0),
            factor,
        }
    }

    /// Adds `tokens` at `price` for a million. No tokens cost nothing, even at an unknown price.
    pub fn tokens(&mut self, tokens: u64, price: Option<Usd>) {
        self.add(tokens, price, self.factor.0.into());
    }

    /// Adds `calls` at `price` each.
    pub fn calls(&mut self, calls: u64, price: Option<Usd>) {
        self.add(calls, price, PER * u128::from(Factor::UNIT));
    }

    fn add(&mut self, count: u64, price: Option<Usd>, unit: u128) {
        if count == 0 {
            return;
        }
        let more = price
            .and_then(|price| u128::try_from(price.0).ok())
            .and_then(|nanos| nanos.checked_mul(u128::from(count))?.checked_mul(unit));
        self.sum = self
            .sum
            .zip(more)
            .and_then(|(sum, more)| sum.checked_add(more));
    }

    /// The sum, rounded up to the nano-dollar, so that a cost is never shown too low. `None` if a price is unknown or the sum
    /// does not fit.
    pub fn total(self) -> Option<Usd> {
        let unit = PER * u128::from(Factor::UNIT);
        i64::try_from(self.sum?.div_ceil(unit)).ok().map(Usd)
    }
}

/// Reads dollars from a text such as `"0.125"`; a JSON number may have lost digits.
pub(crate) fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Usd, D::Error> {
    Dollars::deserialize(deserializer).map(|dollars| dollars.0)
}

fn maybe_dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Usd>, D::Error> {
    Option::<Dollars>::deserialize(deserializer).map(|dollars| dollars.map(|dollars| dollars.0))
}

/// An amount of dollars, written as a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dollars(pub Usd);

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DollarText;

        impl Visitor<'_> for DollarText {
            type Value = Usd;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("dollars as a text such as \"0.125\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Usd, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(DollarText).map(Self)
    }
}
