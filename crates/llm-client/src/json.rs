//! JSON in the texts of models: found in prose, and parsed without duplicate keys.
//!
//! The value is not checked against a schema; the caller does that.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};
use serde_json::{Map, Number, Value};

/// The maximum length of an error message, in bytes.
const LONGEST: usize = 400;

/// The error of a text without a usable JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct JsonError {
    /// The problem, with its position if there is one.
    pub message: String,
}

impl JsonError {
    fn new(message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > LONGEST {
            message.truncate(message.floor_char_boundary(LONGEST - "...".len()));
            message.push_str("...");
        }
        Self { message }
    }
}

/// Finds the JSON in a reply: the whole `text`, else the first fence that contains JSON, else the first object or array in
/// the prose.
///
/// The JSON is returned unchanged, and every byte is read a few times at most.
///
/// ```
/// use llm_client::json;
///
/// let found = json::find("Here you are:\n```json\n{\"a\": 1}\n```")?;
/// assert_eq!(json::parse(found)?["a"], 1);
/// # Ok::<(), json::JsonError>(())
/// ```
///
/// # Errors
/// There is none, or it is cut off. A part of a broken value is never returned.
pub fn find(text: &str) -> Result<&str, JsonError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(JsonError::new("the reply is empty"));
    }
    if is_json(text) {
        return Ok(text);
    }
    if let Some(fenced) = fences(text).find(|content| is_json(content)) {
        return Ok(fenced);
    }
    in_prose(text)
}

/// Parses JSON and refuses duplicate keys, since parsers disagree on which value counts.
///
/// # Errors
/// The text is not JSON, is nested deeper than 128 levels, or contains a number outside `f64` or a duplicate key.
pub fn parse(json: &str) -> Result<Value, JsonError> {
    serde_json::from_str::<Unique>(json)
        .map(|unique| unique.0)
        .map_err(|error| JsonError::new(error.to_string()))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The texts between lines that start with three backticks; the last fence may be open. A JSON string cannot contain such a
/// line, since it contains no line ends.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let (_, opened) = split_at_fence(rest?)?;
        let (content, after) = match split_at_fence(opened) {
            Some((content, after)) => (content, Some(after)),
            None => (opened, None),
        };
        rest = after;
        Some(content.trim())
    })
}

/// The texts before and after the first line that starts with three backticks.
fn split_at_fence(text: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if line.trim_start().starts_with("```") {
            return Some((&text[..start], &text[end..]));
        }
        start = end;
    }
    None
}

/// The first complete object or array in `text`. Every byte is read about once, also in a hostile text.
fn in_prose(text: &str) -> Result<&str, JsonError> {
    let mut at = 0;
    let mut last_error = None;
    while let Some(offset) = text.as_bytes()[at..]
        .iter()
        .position(|byte| matches!(byte, b'{' | b'['))
    {
        let start = at + offset;
        let mut values =
            serde_json::Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => return Ok(&text[start..start + values.byte_offset()]),
            // All that follows belongs to this value: there is no other one, only pieces of it.
            Some(Err(error)) if error.is_eof() => {
                return Err(JsonError::new("the JSON is cut off"));
            }
            Some(Err(error)) => {
                // Going on behind what was read, not inside of it: a piece of a broken value is not the answer.
                at = start + place(&text[start..], &error).max(1);
                last_error = Some(error);
            }
            None => break,
        }
    }
    Err(JsonError::new(match last_error {
        Some(error) => {
            format!("no JSON value was found; the last place that looks like one: {error}")
        }
        None => "no JSON value was found".into(),
    }))
}

/// The position of `error` in `text`, in bytes.
fn place(text: &str, error: &serde_json::Error) -> usize {
    let line = error.line().saturating_sub(1);
    let line_start = if line == 0 {
        0
    } else {
        text.bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n')
            .nth(line - 1)
            .map_or(0, |(newline, _)| newline + 1)
    };
    (line_start + error.column().saturating_sub(1)).min(text.len())
}

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        UniqueKeys.deserialize(deserializer).map(Self)
    }
}

struct UniqueKeys;

impl<'de> DeserializeSeed<'de> for UniqueKeys {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(UniqueKeys)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(UniqueKeys)?;
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key {key:?} occurs twice in one object"
                )));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_json_is_found_bare_fenced_or_in_prose() {
        for (text, json) in [
            (" {\"a\": 1}\n", "{\"a\": 1}"),
            ("42", "42"),
            ("```json\n{\"a\": 1}\n```", "{\"a\": 1}"),
            ("See [1]:\n```\n\"text\"\n```\nDone.", "\"text\""),
            ("  ```json\n{\"a\": \"```\"}", "{\"a\": \"```\"}"),
            ("```rust\nfn main() {}\n```\n```json\n[1]\n```", "[1]"),
            ("```json {\"a\": 1}```", "{\"a\": 1}"),
            (
                "Score {high}: {\"a\": [1, {\"b\": 2}]} as [asked].",
                "{\"a\": [1, {\"b\": 2}]}",
            ),
            ("[see {\"a\": 1}]", "{\"a\": 1}"),
            ("{\n\n  é} then {\"a\": \"}é\"}", "{\"a\": \"}é\"}"),
            ("{[1]", "[1]"),
        ] {
            assert_eq!(find(text), Ok(json), "{text}");
        }
    }

    #[test]
    fn a_piece_of_a_broken_value_is_not_taken_for_it() {
        assert!(
            find("{\"a\": {\"b\": 1}, \"c\": ")
                .unwrap_err()
                .message
                .contains("cut off")
        );
        assert!(find("{\"a\": {\"b\": 1}, c: 2}").is_err());
        assert!(find("I cannot say.").is_err());
        assert!(find(" \n").is_err());
    }

    #[test]
    fn megabytes_of_brackets_are_read_about_once() {
        for piece in ["[", "{", "[\"", "{\"a\":", "[1 ", "```\n", "[[}"] {
            assert!(find(&piece.repeat((1 << 20) / piece.len())).is_err());
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error_at_any_depth() {
        assert!(
            parse(r#"{"a": [{"b": 1, "b": 1}]}"#)
                .unwrap_err()
                .message
                .contains("\"b\" occurs twice")
        );
        assert!(parse(&"[".repeat(1000)).is_err());
        let text = r#"{"a": [1, -1, 1.5, true, null, "x", 18446744073709551615]}"#;
        assert_eq!(
            parse(text).unwrap(),
            serde_json::from_str::<Value>(text).unwrap()
        );
    }

    proptest! {
        #[test]
        fn what_is_found_is_json_whatever_the_text_is(text in "([\\[\\]{}\":,1a` \n\\\\]|é|```|\\[1\\]|\"a\":1){0,40}") {
            if let Ok(json) = find(&text) {
                prop_assert!(is_json(json) && text.contains(json));
            }
        }

        #[test]
        fn json_is_found_behind_prose_and_before_more(before in "[a-zé .\n]{0,20}", value in "[a-z{}\\[\\]é]{0,9}", after in any::<String>()) {
            let json = serde_json::json!({"a": [value]}).to_string();
            let text = format!("{before}: {json}{after}");
            prop_assert_eq!(find(&text), Ok(&*json));
        }
    }
}
