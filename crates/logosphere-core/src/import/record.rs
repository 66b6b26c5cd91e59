//! The lines of `imported.jsonl`: the first one about the import, then a line per message.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::metrics::ReferenceMetrics;
use crate::pool::{MessageId, Round};
use crate::verify::Exposure;

/// The version of the form of `imported.jsonl`.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// The number of messages of a round if no rule is given.
const DEFAULT_ROUND: NonZeroU32 = NonZeroU32::new(50).unwrap();

/// The rule by which messages are put into rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "rounds are counts, times or recorded"
)]
pub enum RoundRule {
    /// A number of messages each.
    Messages(NonZeroU32),
    /// A number of hours each, from a full hour in UTC.
    Hours(NonZeroU32),
    /// A number of days each, from midnight in UTC.
    Days(NonZeroU32),
    /// The rounds of the source.
    Recorded,
}

impl Default for RoundRule {
    fn default() -> Self {
        Self::Messages(DEFAULT_ROUND)
    }
}

impl RoundRule {
    /// Returns the length of a round in seconds; `None` if it is not a time.
    pub(super) fn seconds(self) -> Option<i64> {
        match self {
            Self::Hours(hours) => Some(i64::from(hours.get()) * 3600),
            Self::Days(days) => Some(i64::from(days.get()) * 86_400),
            Self::Messages(_) | Self::Recorded => None,
        }
    }

    /// Returns the number of messages, hours or days of a round; 1 for recorded rounds.
    pub(super) fn size(self) -> u32 {
        match self {
            Self::Messages(size) | Self::Hours(size) | Self::Days(size) => size.get(),
            Self::Recorded => 1,
        }
    }

    /// Returns the rule with this number of messages, hours or days; of messages in place of recorded rounds.
    pub(super) fn with_size(self, size: NonZeroU32) -> Self {
        match self {
            Self::Hours(_) => Self::Hours(size),
            Self::Days(_) => Self::Days(size),
            Self::Messages(_) | Self::Recorded => Self::Messages(size),
        }
    }
}

impl fmt::Display for RoundRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Messages(count) => write!(f, "messages:{count}"),
            Self::Hours(hours) => write!(f, "{hours}h"),
            Self::Days(days) => write!(f, "{days}d"),
            Self::Recorded => f.write_str("recorded"),
        }
    }
}

/// The error of a text that is not a [`RoundRule`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not `messages:N`, `Nh` or `Nd` with N of at least 1")]
#[non_exhaustive]
pub struct UnknownRoundRule {
    /// The text.
    pub found: String,
}

impl FromStr for RoundRule {
    type Err = UnknownRoundRule;

    fn from_str(text: &str) -> Result<Self, UnknownRoundRule> {
        let read = || {
            if text == "recorded" {
                return Some(Self::Recorded);
            }
            if let Some(count) = text.strip_prefix("messages:") {
                return count.parse().ok().map(Self::Messages);
            }
            let hours = text.strip_suffix('h').and_then(|hours| hours.parse().ok());
            let days = text.strip_suffix('d').and_then(|days| days.parse().ok());
            hours.map(Self::Hours).or(days.map(Self::Days))
        };
        read().ok_or_else(|| UnknownRoundRule {
            found: text.to_owned(),
        })
    }
}

impl Serialize for RoundRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RoundRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The first line: the origin of the messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "import")]
#[non_exhaustive]
pub struct ImportHeader {
    /// The version of the form: 1.
    pub schema_version: u32,
    /// The program and its version.
    pub software: String,
    /// The files, in the order given.
    pub sources: Vec<ImportSource>,
    /// The way in which reads are known.
    pub exposure: Exposure,
    /// The rule of rounds.
    pub round: RoundRule,
    /// The number of messages.
    pub messages: u64,
    /// The number of newest messages that could be read, if the source records it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<usize>,
    /// The number of bad messages that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// The number of parents and reads that were left out, because they are unknown or not older.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_links: u64,
    /// The measures of the Python program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_metrics: Option<ReferenceMetrics>,
}

/// A file that messages come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ImportSource {
    /// The name without its folder.
    pub name: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "message")]
#[non_exhaustive]
pub struct ImportedMessage {
    /// The id, from 0; messages are in the order of their times.
    pub id: MessageId,
    /// The id in the source.
    pub source_id: String,
    /// The round, from 1; 0 for seed messages of the Python program.
    pub round: Round,
    /// The author: `a01` and so on in order of first appearance, or the name; `a00` if unknown.
    pub author: String,
    /// The time; `None` if the source has none.
    pub time: Option<Timestamp>,
    /// The text.
    pub text: String,
    /// The parents that the source names, all older.
    pub parents: Vec<MessageId>,
    /// The messages that the author had read, all older, with the parents.
    pub reads: Vec<MessageId>,
}

/// The author of messages without one.
pub(super) const UNKNOWN_AUTHOR: &str = "a00";

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde asks for"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
