use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The longest name in characters.
const MAX_LENGTH: usize = 64;

/// A block's name: a lower-case letter, then up to 63 of `a-z 0-9 _ -`.
///
/// Never a name that a file system keeps for devices (`con`, `nul`, `com1`), so that every name is a file name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockName(String);

/// The reason why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not a block name: {why}")]
#[non_exhaustive]
pub struct NameError {
    /// The text, at most its first 80 characters.
    pub name: String,
    /// The rule that the text breaks.
    pub why: &'static str,
}

impl BlockName {
    /// Takes over `name`.
    ///
    /// # Errors
    /// It does not have the form of a name.
    pub fn new(name: &str) -> Result<Self, NameError> {
        let wrong = |why| {
            Err(NameError {
                name: name.chars().take(80).collect(),
                why,
            })
        };
        let Some(first) = name.bytes().next() else {
            return wrong("it is empty");
        };
        if name.len() > MAX_LENGTH {
            return wrong("it is longer than 64 characters");
        }
        if !first.is_ascii_lowercase() {
            return wrong("it does not begin with a letter from a to z");
        }
        let allowed = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
        };
        if !name.bytes().all(allowed) {
            return wrong("only a to z, digits, _ and - are allowed");
        }
        if is_device(name) {
            return wrong("some systems keep this name for a device");
        }
        Ok(Self(name.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_device(name: &str) -> bool {
    let numbered = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']))
    };
    matches!(name, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

impl FromStr for BlockName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        Self::new(name)
    }
}

impl AsRef<str> for BlockName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Serialize for BlockName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for BlockName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
