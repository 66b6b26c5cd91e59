//! The figures of a saving in tokens and money.

use llm_types::Usd;
use serde::{Deserialize, Serialize};

use super::dollars;
use super::{Amortised, CostCurve, amortised};
use crate::TokenSource;
use crate::judge::number::rounded;

/// The model whose message overhead was measured, and that overhead in tokens.
const MEASURED_MODEL: &str = "claude-sonnet-4-5-20250929";
const MEASURED_OVERHEAD: u64 = 7;

/// The saving of an encoding, in tokens and money.
///
/// [`Cost::new`] sets the figures that follow from token counts alone. The run adds its own tokens and cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Cost {
    /// The number of tokens of the rules.
    pub rules_tokens: u64,
    /// The source of that number: the provider, or an estimate on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_tokens_source: Option<TokenSource>,
    /// The number of tokens that a message has in addition to its text, if known for the model.
    #[serde(rename = "wrapperTokens")]
    pub overhead_tokens: Option<u64>,
    /// The source of the overhead.
    #[serde(rename = "wrapperTokensSource", default)]
    pub overhead_tokens_source: OverheadSource,
    /// The saving of complete messages.
    pub gross: Saving,
    /// The saving without the message overhead; `None` if the overhead is not known.
    pub net: Option<Saving>,
    /// The saving of each message when a number of them share one copy of the rules.
    pub amortised: Vec<Amortised>,
    /// The number of messages from which on the rules have paid for themselves; `None` if nothing is saved.
    pub break_even_messages: Option<u64>,
    /// The number of tokens of this experiment's calls, prompts and replies.
    pub tokens_spent: u64,
    /// The cost of these calls, if it is known. In JSON it is a text in dollars, such as `"0.000123"`.
    #[serde(with = "dollars::option")]
    pub usd: Option<Usd>,
    /// The saving of 1,000 messages, one for each list of prices.
    pub per_1000_messages: Vec<MoneySaved>,
}

/// The source of a message overhead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OverheadSource {
    /// The provider counted a text of one token.
    Measured,
    /// The overhead comes from the table of [`known_overhead_tokens`].
    Table,
    /// The overhead is not known.
    #[default]
    None,
}

/// The tokens of a text before and after the encoding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Saving {
    /// The number of tokens of the original.
    pub o: i64,
    /// The number of tokens of the encoded text.
    pub e: i64,
    /// The saved percent with one decimal; negative for an expansion, 0 if `o` is 0 or less.
    #[serde(with = "crate::judge::number::plain")]
    pub percent: f64,
}

/// The saving of 1,000 messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MoneySaved {
    /// The provider, the model and the date of the prices.
    pub prices: String,
    /// The saved dollars; negative for an expansion. In JSON it is a text.
    #[serde(with = "dollars::plain")]
    pub usd_saved: Usd,
}

impl Cost {
    /// Creates the cost of a text of `o` tokens that was encoded in `e` tokens, by rules of `rules` tokens. `overhead` is the number
    /// of tokens that a message adds to its text. Spending and prices are empty.
    ///
    /// ```
    /// use llm_types::Usd;
    /// use zer0gravity_engine::metrics::cost::Cost;
    /// let cost = Cost::new(86, 78, 278, Some(7));
    /// assert_eq!(cost.break_even_messages, Some(35));
    /// assert_eq!(cost.gross.percent, 9.3);
    /// assert_eq!(cost.net.map(|net| (net.o, net.e, net.percent)), Some((79, 71, 10.1)));
    /// ```
    pub fn new(o: u64, e: u64, rules: u64, overhead: Option<u64>) -> Self {
        let CostCurve {
            amortised,
            break_even_messages,
        } = amortised(o, e, rules);
        Self {
            rules_tokens: rules,
            rules_tokens_source: None,
            overhead_tokens: overhead,
            overhead_tokens_source: OverheadSource::None,
            gross: Saving::new(signed(o), signed(e)),
            net: overhead.map(signed).map(|overhead| {
                Saving::new(
                    signed(o).saturating_sub(overhead),
                    signed(e).saturating_sub(overhead),
                )
            }),
            amortised,
            break_even_messages,
            tokens_spent: 0,
            usd: None,
            per_1000_messages: Vec::new(),
        }
    }
}

impl Saving {
    fn new(o: i64, e: i64) -> Self {
        let percent = percent_saved(o as f64, e as f64);
        Self { o, e, percent }
    }
}

impl MoneySaved {
    /// Computes the saving of 1,000 messages of `o` tokens that are encoded in `e` tokens, at `price` for a million prompt tokens,
    /// without the rules. The result is rounded down to a nano-dollar, so that a saving is never too high.
    ///
    /// ```
    /// use llm_types::Usd;
    /// use zer0gravity_engine::metrics::cost::MoneySaved;
    /// // $3 for a million tokens.
    /// let saved = MoneySaved::new("2026-01", 86, 78, Usd(3_000_000_000));
    /// assert_eq!(saved.usd_saved, Usd(24_000_000));
    /// ```
    pub fn new(prices: impl Into<String>, o: u64, e: u64, price: Usd) -> Self {
        // 1,000 messages, and a price for 1,000,000 tokens.
        const MESSAGES_PER_PRICE: i128 = 1_000;
        let saved = (i128::from(o) - i128::from(e))
            .saturating_mul(i128::from(price.0))
            .div_euclid(MESSAGES_PER_PRICE);
        let limit = if saved < 0 { i64::MIN } else { i64::MAX };
        Self {
            prices: prices.into(),
            usd_saved: Usd(i64::try_from(saved).unwrap_or(limit)),
        }
    }
}

/// Returns the number of tokens that a message to `model` adds to its text; `None` for a model that was not measured.
///
/// ```
/// use zer0gravity_engine::metrics::cost::known_overhead_tokens;
/// assert_eq!(known_overhead_tokens("claude-sonnet-4-5-20250929"), Some(7));
/// assert_eq!(known_overhead_tokens("another"), None);
/// ```
pub fn known_overhead_tokens(model: &str) -> Option<u64> {
    (model == MEASURED_MODEL).then_some(MEASURED_OVERHEAD)
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// Returns `(o - e) / o * 100` with one decimal, rounded half up; 0 if `o` is 0 or less.
pub(super) fn percent_saved(o: f64, e: f64) -> f64 {
    if o <= 0.0 {
        return 0.0;
    }
    let percent = rounded((o - e) / o * 100.0, 1);
    // Replaces -0 by 0.
    if percent == 0.0 { 0.0 } else { percent }
}
