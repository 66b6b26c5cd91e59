//! Messages as JSON lines: an object per line.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::message::{ForeignMessage, ImportField, number_time, quoted, text_time};

/// The words for an id in errors: larger numbers are read as fractions.
const ID: &str = "a string, or an integer from -2^63 to 2^64 - 1";

/// Returns the object of a line, or the problem with it.
pub(super) fn object(line: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(line).map_err(|error| {
        let column = error.column();
        format!("not a JSON object (at character {column})")
    })
}

/// Returns the message of the object of a line, or the problem with it. `column` has the key of each field.
pub(super) fn message(
    line: &str,
    object: &Map<String, Value>,
    column: impl Fn(ImportField) -> String,
) -> Result<ForeignMessage, String> {
    let value = |field| object.get(&column(field)).filter(|value| !value.is_null());
    let wrong = |field: ImportField, expected: &str| {
        let column = column(field);
        format!("{}: expected {expected}", quoted(&column))
    };
    let text = match value(ImportField::Text) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(_) => return Err(wrong(ImportField::Text, "a string")),
    };
    let single = |field| -> Result<Option<String>, String> {
        match value(field) {
            None => Ok(None),
            Some(value) => {
                let id = id(value).ok_or_else(|| wrong(field, ID))?;
                Ok(Some(id).filter(|id| !id.is_empty()))
            }
        }
    };
    let several = |field| match value(field) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            let ids: Option<Vec<String>> = items.iter().map(id).collect();
            ids.ok_or_else(|| wrong(field, &format!("a list; each item {ID}")))
        }
        Some(value) => {
            let id = id(value)
                .ok_or_else(|| wrong(field, &format!("an id, or a list of ids; each {ID}")))?;
            Ok(Some(id).filter(|id| !id.is_empty()).into_iter().collect())
        }
    };
    let time = match value(ImportField::Time) {
        None => None,
        Some(Value::String(text)) if text.is_empty() => None,
        Some(Value::String(text)) => Some(text_time(text)?),
        Some(Value::Number(number)) => {
            let exact = number
                .is_f64()
                .then(|| digits(line, &column(ImportField::Time)));
            let exact = exact.flatten();
            Some(number_time(exact.unwrap_or(&number.to_string()))?)
        }
        Some(_) => return Err(wrong(ImportField::Time, "a string or a number")),
    };
    let reads = match value(ImportField::Reads) {
        None => None,
        Some(_) => Some(several(ImportField::Reads)?),
    };
    ForeignMessage {
        text,
        id: single(ImportField::Id)?,
        author: single(ImportField::Author)?,
        time,
        parents: several(ImportField::Parent)?,
        reads,
        round: None,
    }
    .checked()
}

/// Returns the text of the number of a key, with the digits that a [`Value`] does not keep.
fn digits<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let fields: HashMap<String, &RawValue> = serde_json::from_str(line).ok()?;
    fields.get(key).map(|value| value.get())
}

/// Returns the text of an id.
fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}
