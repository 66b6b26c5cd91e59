//! JSON that keeps what a map forgets: the order of keys, and keys that are there twice.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{ConfigError, keys};

/// A value of a file.
#[derive(Debug)]
pub(super) enum Json {
    /// No list and no object.
    Leaf(Value),
    /// No setting is a list.
    List,
    /// Keys in the order of the file.
    Object(Vec<(String, Self)>),
}

impl Json {
    /// What it is, without what it says.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Leaf(Value::Null) => "null",
            Self::Leaf(Value::Bool(_)) => "true or false",
            Self::Leaf(Value::Number(_)) => "a number",
            Self::Leaf(_) => "a text",
            Self::List => "a list",
            Self::Object(_) => "an object",
        }
        .to_owned()
    }

    /// As a value that no rule allows if it is a list or an object.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Leaf(value) => value,
            Self::List => Value::Array(Vec::new()),
            Self::Object(_) => Value::Object(serde_json::Map::new()),
        }
    }
}

/// Reads a file. A byte order mark at its start is passed over.
pub(super) fn parse(bytes: &[u8]) -> Result<Json, ConfigError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        ConfigError::NotUtf8 {
            line: 1 + memchr::memchr_iter(b'\n', &bytes[..offset]).count(),
            offset,
        }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut path = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Node { path: &mut path }
        .deserialize(&mut reader)
        .and_then(|json| reader.end().map(|()| json));
    read.map_err(|error| {
        let path = path
            .iter()
            .fold(String::new(), |path, name| super::join(&path, name));
        let message = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        ConfigError::Syntax {
            line: error.line(),
            column: error.column(),
            allowed: keys::by_path(&path)
                .or_else(|| keys::by_old_name(path.rsplit('.').next()?))
                .map(|key| key.rule.to_string()),
            path,
            message: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
        }
    })
}

/// Reads one value. `path` holds the keys that lead to the value that is being read, also when that fails.
struct Node<'a> {
    path: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Leaf(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Leaf(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Leaf(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Leaf(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Leaf(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Leaf(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Json::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            self.path.push(name.clone());
            let value = map.next_value_seed(Node { path: self.path })?;
            self.path.pop();
            fields.push((name, value));
        }
        Ok(Json::Object(fields))
    }
}
