//! The parser of `config.json`, which keeps the order of keys and repeated keys.

use std::{fmt, iter};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_path_to_error::Segment;

use super::error::ConfigError;
use super::error::join;
use super::keys;

/// A JSON value.
#[derive(serde::Deserialize)]
#[serde(untagged)]
pub(crate) enum Json {
    /// An object: keys and values.
    Object(Fields),
    /// A value that is not an object.
    Other(Value),
}

impl Json {
    /// Returns the value; an object becomes empty.
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Object(_) => Value::Object(serde_json::Map::new()),
            Self::Other(value) => value,
        }
    }
}

pub(crate) struct Fields(pub(crate) Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Object)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let fields = iter::from_fn(|| map.next_entry().transpose());
        fields.collect::<Result<_, _>>().map(Fields)
    }
}

/// Parses a file. A byte order mark at its start is skipped.
pub(super) fn parse(bytes: &[u8]) -> Result<Json, ConfigError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let byte = error.valid_up_to();
        let line = 1 + memchr::memchr_iter(b'\n', &bytes[..byte]).count();
        let place = format!("line {line}, byte {byte}");
        ConfigError::new(place, "not UTF-8; save the file as UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = serde_json::Deserializer::from_str(text);
    let json = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let names: Vec<_> = (error.path().iter())
            .filter_map(|segment| match segment {
                Segment::Map { key } => Some(key.as_str()),
                _ => None,
            })
            .collect();
        no_json(&names, error.inner())
    })?;
    reader.end().map_err(|error| no_json(&[], &error))?;
    Ok(json)
}

/// Returns the error of a text that is not JSON. `names` is the path of the unreadable value.
fn no_json(names: &[&str], error: &serde_json::Error) -> ConfigError {
    let (line, column) = (error.line(), error.column());
    let mut place = format!("line {line}, column {column}");
    let path = names
        .iter()
        .fold(String::new(), |path, name| join(&path, name));
    if !path.is_empty() {
        place = format!("{place}, {path}");
    }
    let message = error.to_string();
    let message = message.trim_end_matches(&format!(" at line {line} column {column}"));
    let key = match names {
        [name] => keys::find(name, None),
        [group, name] => keys::find(name, Some(group)),
        _ => None,
    };
    let expected = key.map_or(String::new(), |key| format!("; expected {}", key.rule));
    ConfigError::new(place, format!("not JSON: {message}{expected}"))
}
