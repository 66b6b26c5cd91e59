//! The tokens and the price of a run's model calls.

use std::fmt;

use llm_client::Usd;
use popper_discovery::store::{CallRow, ModelCallRow, UsageRow};
use serde::Serialize;

/// Calls, tokens and money. A number that a server does not report is unknown, and never silently counted as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Number of calls to a model.
    pub calls: u64,
    /// Tokens of the prompts, of the calls that report them.
    pub input_tokens: u64,
    /// Tokens of the replies, of the calls that report them.
    pub output_tokens: u64,
    /// Number of calls whose tokens are unknown.
    pub calls_without_tokens: u64,
    /// Billionths of a US dollar, of the calls with a price. `None` if no call has one.
    pub nano_usd: Option<i64>,
    /// Number of calls whose price is unknown.
    pub calls_without_price: u64,
    /// Number of attempts that ended without a usage.
    #[serde(skip_serializing_if = "is_zero")]
    pub unsettled: u64,
    /// The highest possible cost of these attempts, in billionths of a US dollar.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncertain_nano_usd: i64,
}

fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

impl Cost {
    pub fn of(calls: &[CallRow]) -> Self {
        let mut cost = Self::default();
        for row in calls {
            cost.add(&row.call);
        }
        cost
    }

    pub fn add(&mut self, call: &ModelCallRow) {
        // A usage that cannot be read is one that says nothing.
        let usage: UsageRow = serde_json::from_str(&call.usage_json).unwrap_or_default();
        self.calls += 1;
        self.input_tokens = self
            .input_tokens
            .saturating_add(usage.input_tokens.unwrap_or(0));
        self.output_tokens = self
            .output_tokens
            .saturating_add(usage.output_tokens.unwrap_or(0));
        if usage.input_tokens.is_none() || usage.output_tokens.is_none() {
            self.calls_without_tokens += 1;
        }
        match usage.nano_usd {
            Some(nano) => {
                self.nano_usd = Some(self.nano_usd.unwrap_or(0).saturating_add(nano));
            }
            None => self.calls_without_price += 1,
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls;
        let attempts = match self.unsettled {
            1 => "1 attempt".to_owned(),
            some => format!("{some} attempts"),
        };
        let unsettled = format!(
            "{attempts} of unknown outcome, up to {}",
            Usd(self.uncertain_nano_usd)
        );
        match (calls, self.unsettled) {
            (0, 0) => return write!(f, "no model was asked"),
            (0, _) => return write!(f, "0 replies, {unsettled}"),
            _ => {}
        }
        let noun = if calls == 1 { "call" } else { "calls" };
        write!(f, "{calls} {noun}, ")?;
        if self.calls_without_tokens == calls {
            write!(f, "tokens unknown, ")?;
        } else {
            let (input, output) = (self.input_tokens, self.output_tokens);
            write!(f, "{input} tokens in, {output} out")?;
            match self.calls_without_tokens {
                0 => write!(f, ", ")?,
                some => write!(f, " ({some} unknown), ")?,
            }
        }
        match (self.nano_usd, self.calls_without_price) {
            (None, _) => write!(f, "price unknown")?,
            (Some(nano), 0) => write!(f, "{}", Usd(nano))?,
            (Some(nano), some) => write!(f, "{} ({some} unknown)", Usd(nano))?,
        }
        match self.unsettled {
            0 => Ok(()),
            _ => write!(f, "; and {unsettled}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_without_a_reply_are_told() {
        let lost = Cost {
            unsettled: 3,
            uncertain_nano_usd: 370_000_000,
            ..Cost::default()
        };
        assert_eq!(
            lost.to_string(),
            "0 replies, 3 attempts of unknown outcome, up to $0.37"
        );
    }

    fn cost(usages: &[&str]) -> String {
        let mut cost = Cost::default();
        for usage in usages {
            cost.add(&ModelCallRow {
                model_id: String::new(),
                prompt_hash: String::new(),
                request_json: String::new(),
                reply_text: String::new(),
                usage_json: (*usage).to_owned(),
            });
        }
        cost.to_string()
    }

    #[test]
    fn what_is_unknown_is_said() {
        let full = r#"{"input_tokens": 1200, "output_tokens": 30, "nano_usd": 12500000}"#;
        let unpriced = r#"{"input_tokens": 10, "output_tokens": 5}"#;
        assert_eq!(cost(&[]), "no model was asked");
        assert_eq!(cost(&[full]), "1 call, 1200 tokens in, 30 out, $0.0125");
        assert_eq!(
            cost(&[full, unpriced]),
            "2 calls, 1210 tokens in, 35 out, $0.0125 (1 unknown)"
        );
        assert_eq!(
            cost(&[unpriced, "no json"]),
            "2 calls, 10 tokens in, 5 out (1 unknown), price unknown"
        );
        assert_eq!(cost(&["{}"]), "1 call, tokens unknown, price unknown");
    }
}
