//! The source of the reads of a run: which messages its authors read, and how that is known.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The number of messages that an author is assumed to have read if `window` has no number.
const DEFAULT_WINDOW: NonZeroUsize = NonZeroUsize::new(15).unwrap();

/// The way in which it is known which messages each author read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "reads are recorded, assumed or unknown"
)]
pub enum Exposure {
    /// Reads are recorded, as in every journal.
    #[default]
    Recorded,
    /// Reads are assumed: the messages above in the thread, and earlier answers to the same message.
    Thread,
    /// Reads are assumed: this number of newest messages of other authors.
    Window(NonZeroUsize),
    /// Reads are unknown.
    Unknown,
}

impl Exposure {
    /// Returns the assumption in words, as the rest of "under the assumption that"; `None` if nothing is assumed.
    pub fn assumption(self) -> Option<String> {
        match self {
            Self::Recorded | Self::Unknown => None,
            Self::Thread => Some(
                "each author read the messages above in the thread and earlier answers to the same message".to_owned(),
            ),
            Self::Window(size) => {
                Some(format!("each author read the {size} newest messages of other authors"))
            }
        }
    }
}

impl fmt::Display for Exposure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recorded => f.write_str("recorded"),
            Self::Thread => f.write_str("thread"),
            Self::Window(size) => write!(f, "window:{size}"),
            Self::Unknown => f.write_str("none"),
        }
    }
}

/// The error of a text that is not an [`Exposure`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not `recorded`, `thread`, `window:M` with M of at least 1, or `none`")]
#[non_exhaustive]
pub struct UnknownExposure {
    /// The text.
    pub found: String,
}

impl FromStr for Exposure {
    type Err = UnknownExposure;

    fn from_str(text: &str) -> Result<Self, UnknownExposure> {
        let window = || text.strip_prefix("window:")?.parse().ok();
        Ok(match text {
            "recorded" => Self::Recorded,
            "thread" => Self::Thread,
            "window" => Self::Window(DEFAULT_WINDOW),
            "none" => Self::Unknown,
            _ => Self::Window(window().ok_or_else(|| UnknownExposure {
                found: text.to_owned(),
            })?),
        })
    }
}

impl Serialize for Exposure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Exposure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
