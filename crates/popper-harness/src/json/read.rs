//! A reader of JSON that refuses repeated keys and bounds the depth.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The deepest nesting of a claim's tree and of an observable's parentheses, in a law's normal form.
pub const MAX_DEPTH: usize = 64;
/// The levels of arrays and objects that may surround a tree of [`MAX_DEPTH`] levels: a list, a verdict, a package, a law.
const AROUND: usize = 32;

/// A text that is not JSON, or that holds one key twice in one object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
#[non_exhaustive]
pub struct JsonError {
    /// The place, as a JSON path such as `$.quantifiers`.
    pub path: String,
    /// The reason.
    pub message: String,
}

/// Reads a JSON text, named `root` in messages.
///
/// Unlike `serde_json`, it refuses an object that holds a key twice, since either value could be meant.
///
/// ```
/// use popper_harness::json;
///
/// let error = json::parse(r#"{"quantifiers": {"T": 1, "T": 9}}"#, "$").unwrap_err();
/// assert_eq!(error.to_string(), r#"$.quantifiers: the key "T" occurs twice"#);
/// ```
///
/// # Errors
/// [`JsonError`] if the text is not JSON, repeats a key, or nests deeper than a law with the deepest claim.
pub fn parse(text: &str, root: &str) -> Result<Value, JsonError> {
    let fault = RefCell::new(None);
    let place = Position {
        step: Step::Root(root),
        depth: 0,
        fault: &fault,
    };
    let mut source = serde_json::Deserializer::from_str(text);
    let read = place.deserialize(&mut source);
    let read = read.and_then(|value| source.end().map(|()| value));
    read.map_err(|error| {
        fault.into_inner().unwrap_or_else(|| JsonError {
            path: root.into(),
            message: format!("not JSON: {error}"),
        })
    })
}

/// The step from a value to one inside of it.
enum Step<'a> {
    Root(&'a str),
    Key(&'a Position<'a>, &'a str),
    Index(&'a Position<'a>, usize),
}

/// The position of a value that is being read.
///
/// The first fault is kept outside, since an error of `serde_json` holds only text.
struct Position<'a> {
    step: Step<'a>,
    depth: usize,
    fault: &'a RefCell<Option<JsonError>>,
}

impl fmt::Display for Position<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.step {
            Step::Root(name) => out.write_str(name),
            Step::Key(parent, key) => write!(out, "{parent}.{key}"),
            Step::Index(parent, index) => write!(out, "{parent}[{index}]"),
        }
    }
}

impl Position<'_> {
    fn inside<'b>(&'b self, step: Step<'b>) -> Position<'b> {
        Position {
            step,
            depth: self.depth + 1,
            fault: self.fault,
        }
    }

    fn fail<T, E: serde::de::Error>(&self, path: String, message: String) -> Result<T, E> {
        *self.fault.borrow_mut() = Some(JsonError { path, message });
        Err(E::custom("refused"))
    }

    fn check_depth<E: serde::de::Error>(&self) -> Result<(), E> {
        if self.depth < MAX_DEPTH + AROUND {
            return Ok(());
        }
        // The path to so deep a place would be as long as the text.
        let mut place = self;
        while let Step::Key(parent, _) | Step::Index(parent, _) = place.step {
            place = parent;
        }
        self.fail(place.to_string(), format!("nests deeper than {MAX_DEPTH}"))
    }
}

impl<'de> DeserializeSeed<'de> for Position<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Position<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut values = Vec::new();
        while let Some(value) =
            items.next_element_seed(self.inside(Step::Index(&self, values.len())))?
        {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut map = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if map.contains_key(&key) {
                return self.fail(self.to_string(), format!("the key {key:?} occurs twice"));
            }
            let value = fields.next_value_seed(self.inside(Step::Key(&self, &key)))?;
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

/// Returns the kind of a value, in words for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_reads_as_serde_json_reads_it() {
        for text in [
            "null",
            "[true, false, -1, 18446744073709551615, 1.5, \"a\\u00e9\", [], {}]",
            "{\"a\": {\"b\": [1, {\"c\": null}]}, \"b\": 2}",
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text, "$"), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_refusal_names_the_place() {
        let error = |text: &str| parse(text, "$[2]").unwrap_err().to_string();
        assert_eq!(
            error("[{}, {\"a\": [{\"k\": 1, \"k\": 1}]}]"),
            "$[2][1].a[0]: the key \"k\" occurs twice"
        );
        assert_eq!(error(&"[".repeat(5000)), "$[2]: nests deeper than 64");
        assert!(error("{\"a\": 1} x").starts_with("$[2]: not JSON: trailing characters"));
        assert!(error("1e999").starts_with("$[2]: not JSON: number out of range"));
    }
}
