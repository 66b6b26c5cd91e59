//! The figures of spending.

use llm_client::Usd;
use serde::{Deserialize, Serialize};

/// The sums of tokens and cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// The turn under way, or the last one.
    pub turn: UsageTotals,
    /// The day, UTC.
    pub day: UsageTotals,
    /// Since the kernel was opened.
    pub run: UsageTotals,
    /// Everything on record.
    pub total: UsageTotals,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UsageTotals {
    /// The number of calls.
    pub calls: u64,
    /// Tokens of prompts, cached ones included.
    pub input: u64,
    /// Tokens of prompts that came from the provider's cache.
    pub cached: u64,
    /// Tokens of replies.
    pub output: u64,
    /// Dollars, as far as they are known; as JSON a number.
    #[serde(with = "dollars")]
    pub usd: Usd,
    /// The number of calls with unknown cost.
    pub unknown: u64,
    /// Calls with attempts that ended without usage: `usd` holds the most that these can have cost.
    #[serde(default)]
    pub unsettled: u64,
}

/// Money as a number of dollars, which is exact up to a million of them.
pub(crate) mod dollars {
    use llm_client::Usd;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    const NANOS: f64 = 1e9;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub fn serialize<S: Serializer>(usd: &Usd, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(usd.0 as f64 / NANOS)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Usd, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Usd::from_dollars(dollars).ok_or_else(|| D::Error::custom("no amount of dollars"))
    }

    pub mod optional_usd {
        use llm_client::Usd;
        use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

        #[expect(clippy::ref_option, reason = "serde gives a reference")]
        pub fn serialize<S: Serializer>(
            usd: &Option<Usd>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match usd {
                Some(usd) => super::serialize(usd, serializer),
                None => serializer.serialize_none(),
            }
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Usd>, D::Error> {
            let dollars = Option::<f64>::deserialize(deserializer)?;
            dollars
                .map(|dollars| {
                    Usd::from_dollars(dollars)
                        .ok_or_else(|| D::Error::custom("no amount of dollars"))
                })
                .transpose()
        }
    }
}
