use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON object from a server, read field by field.
///
/// A field that is missing, null or of another type counts as absent; an unused value may have any depth and content.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

/// The name of a field; it is borrowed if no escape is in it.
#[derive(Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::with_capacity(8);
        while let Some((FieldName(name), value)) = map.next_entry()? {
            fields.push((name, value));
        }
        Ok(Fields(fields))
    }
}

impl<'a> Fields<'a> {
    /// The object in `text`, if it is one.
    pub fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// A field that is present and not null.
    pub fn raw(&self, name: &str) -> Option<&'a RawValue> {
        // Of equal names the last one counts.
        let field = self.0.iter().rfind(|(found, _)| found == name);
        field.map(|(_, raw)| *raw).filter(|raw| raw.get() != "null")
    }

    /// A text, borrowed if no escape is in it.
    pub fn word(&self, name: &str) -> Option<Cow<'a, str>> {
        let word: FieldName<'a> = serde_json::from_str(self.raw(name)?.get()).ok()?;
        Some(word.0)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// A count; some servers send floats.
    pub fn count(&self, name: &str) -> Option<u64> {
        match serde_json::from_str(self.raw(name)?.get()).ok()? {
            Value::Number(number) => number.as_u64().or_else(|| {
                number
                    .as_f64()
                    .filter(|float| (0.0..9e15).contains(float))
                    .map(|float| float as u64)
            }),
            _ => None,
        }
    }

    pub fn object(&self, name: &str) -> Option<Self> {
        Self::of(self.raw(name)?.get())
    }

    pub fn list(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// The fields that are not null, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0
            .iter()
            .filter(|(_, raw)| raw.get() != "null")
            .map(|(name, raw)| (name.as_ref(), *raw))
    }
}

impl<'a> FromIterator<(&'a str, &'a RawValue)> for Fields<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a RawValue)>>(fields: I) -> Self {
        let fields = fields.into_iter();
        Self(fields.map(|(name, value)| (name.into(), value)).collect())
    }
}
