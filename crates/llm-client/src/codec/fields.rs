use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON object from a server, read field by field.
///
/// A field that is missing, null or of another type counts as absent; an unused value may have any depth and content.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(IndexMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    /// The object in `text`, if it is one.
    pub fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// A field that is present and not null.
    pub fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied().filter(|raw| raw.get() != "null")
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
            .map(|(name, raw)| (name.as_str(), *raw))
    }
}

impl<'a> FromIterator<(&'a str, &'a RawValue)> for Fields<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a RawValue)>>(fields: I) -> Self {
        let owned = |(name, value): (&str, _)| (name.to_owned(), value);
        Self(fields.into_iter().map(owned).collect())
    }
}
