use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The exact text of one JSON value as it was received, with the order of keys, the spelling of numbers and unknown keys.
///
/// Cloning is cheap. Equality compares the JSON values, not the texts. The text is serialised unchanged, by `serde_json`
/// only.
#[derive(Clone)]
pub struct Raw(Arc<RawValue>);

impl Raw {
    /// Parses `text` as one JSON value and drops the white space around it.
    ///
    /// # Errors
    /// The position where `text` is not valid JSON.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Box<RawValue>>(text).map(Self::from)
    }

    /// Serialises `value` to JSON text.
    ///
    /// # Errors
    /// The errors of `value`'s `Serialize`.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self::from)
    }

    /// Returns the JSON text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Deserialises the text to a `T`.
    ///
    /// # Errors
    /// The text does not have `T`'s form, or is nested deeper than 128 levels.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    /// Returns the value as `RawValue`, for structs that serialise it.
    pub fn as_raw_value(&self) -> &RawValue {
        &self.0
    }
}

impl From<Box<RawValue>> for Raw {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.into())
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        // Values that are nested too deeply to be parsed are compared as texts.
        self.get() == other.get()
            || matches!((self.to::<Value>(), other.to::<Value>()), (Ok(a), Ok(b)) if a == b)
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_stays_and_equality_is_of_values() {
        let raw = Raw::parse(r#" {"b":1.0,"a":[ 1e2 ]} "#).unwrap();
        assert_eq!(raw.get(), r#"{"b":1.0,"a":[ 1e2 ]}"#);
        assert_eq!(raw, Raw::parse(r#"{"a":[1e2],"b":1.0}"#).unwrap());
        assert_ne!(raw, Raw::parse(r#"{"a":[1e2]}"#).unwrap());
        let saved = serde_json::to_string(&raw).unwrap();
        assert_eq!(
            serde_json::from_str::<Raw>(&saved).unwrap().get(),
            raw.get()
        );
    }

    #[test]
    fn a_text_nested_a_million_deep_is_no_crash() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        let raw = Raw::parse(&deep).unwrap();
        assert!(raw.to::<Value>().is_err());
        assert_eq!(raw, raw.clone());
    }
}
