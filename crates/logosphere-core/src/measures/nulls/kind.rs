//! The names of null models.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A null model: runs without the effect in question, with the calls and samples of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Null {
    /// Neutral descent with modification: each message is a copy of one of the texts that its call read, all equally
    /// likely, changed as the run's own children are changed, or it is new at the run's own rate.
    #[default]
    Descent,
    /// The same messages, but each text that was read is replaced by one of similar length from another round. Output
    /// is then independent of input.
    Shuffle,
}

impl Null {
    /// The list of all models.
    pub const ALL: &[Self] = &[Self::Descent, Self::Shuffle];

    /// Returns the name: `descent` or `shuffle`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Descent => "descent",
            Self::Shuffle => "shuffle",
        }
    }
}

impl fmt::Display for Null {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Null {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The error of a name that is not a null model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownNull {
    /// The name is that of a model of an earlier release.
    #[error("{name} was replaced by descent")]
    Replaced {
        /// The name.
        name: String,
    },
    /// No model has this name.
    #[error("there is no null model `{name}`; there are: descent, shuffle")]
    Unknown {
        /// The name.
        name: String,
    },
}

impl FromStr for Null {
    type Err = UnknownNull;

    fn from_str(name: &str) -> Result<Self, UnknownNull> {
        if let Some(null) = Self::ALL.iter().find(|null| null.name() == name) {
            return Ok(*null);
        }
        let name = name.to_owned();
        Err(match name.as_str() {
            "random-copy" | "seeds-only" | "permutation" => UnknownNull::Replaced { name },
            _ => UnknownNull::Unknown { name },
        })
    }
}
