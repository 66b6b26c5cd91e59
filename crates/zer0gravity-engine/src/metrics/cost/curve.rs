use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize, Serializer};

use super::saving::percent_saved;

/// The saving per message, by the number of messages that share one copy of the rules.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CostCurve {
    /// The shares for 1, 10, 100 and unlimited messages.
    pub amortised: Vec<Amortised>,
    /// The number of messages whose saving pays for the rules; `None` if nothing is saved.
    pub break_even_messages: Option<u64>,
}

/// The saving of each message when a number of them share one copy of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, DeriveDeserialize)]
#[non_exhaustive]
pub struct Amortised {
    /// The number of messages.
    pub messages: Messages,
    /// One decimal, negative while the rules cost more than is saved; 0 for a text without tokens.
    #[serde(with = "crate::judge::number::plain")]
    pub percent: f64,
}

/// A number of messages that share the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Messages {
    /// A finite number of messages. A number in JSON.
    Count(u64),
    /// An unlimited number of messages, for which the rules cost nothing. `"inf"` in JSON.
    Endless,
}

/// Computes the saving of a text of `o` tokens that becomes `e`, when rules of `rules` tokens are sent once with N
/// messages:
/// `(o - (e + rules / N)) / o * 100` percent. The rules have paid for themselves after `ceil(rules / (o - e))` messages.
///
/// ```
/// use zer0gravity_engine::metrics::cost::amortised;
/// let curve = amortised(86, 78, 278);
/// assert_eq!(curve.break_even_messages, Some(35));
/// assert_eq!(curve.amortised.iter().map(|at| at.percent).collect::<Vec<_>>(), [-314.0, -23.0, 6.1, 9.3]);
/// assert_eq!(amortised(78, 86, 278).break_even_messages, None);
/// ```
pub fn amortised(o: u64, e: u64, rules: u64) -> CostCurve {
    const POINTS: [Messages; 4] = [
        Messages::Count(1),
        Messages::Count(10),
        Messages::Count(100),
        Messages::Endless,
    ];
    let share = |messages| match messages {
        Messages::Count(messages) => rules as f64 / messages as f64,
        Messages::Endless => 0.0,
    };
    CostCurve {
        amortised: POINTS
            .into_iter()
            .map(|messages| Amortised {
                messages,
                percent: percent_saved(o as f64, e as f64 + share(messages)),
            })
            .collect(),
        break_even_messages: (o > e).then(|| rules.div_ceil(o - e)),
    }
}

impl fmt::Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(messages) => write!(f, "{messages}"),
            Self::Endless => f.write_str("inf"),
        }
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(messages) => to.serialize_u64(*messages),
            Self::Endless => to.serialize_str("inf"),
        }
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct MessagesVisitor;

        impl Visitor<'_> for MessagesVisitor {
            type Value = Messages;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of messages or \"inf\"")
            }

            fn visit_u64<E: de::Error>(self, messages: u64) -> Result<Messages, E> {
                Ok(Messages::Count(messages))
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Messages, E> {
                match word {
                    "inf" => Ok(Messages::Endless),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }
        }

        from.deserialize_any(MessagesVisitor)
    }
}
