//! The arguments of a tool call, held against the tool's schema.

use std::str::FromStr;

use pscale_blocks::{BlockName, Path};
use serde_json::{Map, Value};

use crate::{ErrorKind, ToolError};

/// Arguments that follow their schema: every required field is there and every field has its type.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args(Map<String, Value>);

impl Args {
    /// Checks `input` against the JSON schema of a tool. Unknown fields are left out; a number in quotes is taken for a
    /// number.
    pub fn check(input: Value, schema: &Value) -> Result<Self, ToolError> {
        let fault = |detail: String| ToolError::new(ErrorKind::BadArguments, detail);
        let given = match input {
            Value::Object(given) => given,
            Value::Null => Map::new(),
            other => {
                return Err(fault(format!(
                    "arguments must be an object, got {}",
                    kind(&other)
                )));
            }
        };
        let properties = schema["properties"].as_object();
        let mut args = Map::new();
        for (name, rule) in properties.into_iter().flatten() {
            let Some(value) = given.get(name).filter(|value| !value.is_null()) else {
                continue;
            };
            args.insert(name.clone(), checked(name, value, rule)?);
        }
        let required = schema["required"].as_array();
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !args.contains_key(name) {
                return Err(fault(format!("{name} is missing")));
            }
        }
        Ok(Self(args))
    }

    /// The arguments as they were checked.
    pub fn into_value(self) -> Value {
        self.0.into()
    }

    /// A text; empty if it was not given.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A text, if it was given.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A whole number, if it was given.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let list = self.0.get(name).and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    /// A list or an object as it was given.
    #[cfg(feature = "web")]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A block's name.
    pub fn block(&self, name: &str) -> Result<BlockName, ToolError> {
        Ok(BlockName::new(self.text(name))?)
    }

    /// A path, and a note if it was not written in the usual way.
    pub fn path(&self, name: &str) -> Result<Option<(Path, Option<String>)>, ToolError> {
        let Some(text) = self.optional(name) else {
            return Ok(None);
        };
        let path = Path::from_str(text)?;
        let usual = path.to_string();
        let note = (usual != text).then(|| format!("read as {usual}"));
        Ok(Some((path, note)))
    }
}

fn checked(name: &str, value: &Value, rule: &Value) -> Result<Value, ToolError> {
    let wrong = |expected: &str| {
        ToolError::new(
            ErrorKind::BadArguments,
            format!("{name} is {expected}, here it is {}", kind(value)),
        )
    };
    if let Some(choices) = rule["enum"].as_array() {
        if choices.contains(value) {
            return Ok(value.clone());
        }
        let choices: Vec<_> = choices.iter().filter_map(Value::as_str).collect();
        return Err(ToolError::new(
            ErrorKind::BadArguments,
            format!("{name} is one of {}, not {value}", choices.join(", ")),
        ));
    }
    let number = |value: &Value| match value {
        Value::String(text) => serde_json::from_str(text.trim()).unwrap_or(Value::Null),
        other => other.clone(),
    };
    match rule["type"].as_str() {
        Some("string") if value.is_string() => Ok(value.clone()),
        // As a number 0.10 would have become 0.1.
        Some("string") if value.is_number() && matches!(name, "path" | "from" | "to") => {
            Err(wrong("a path").hint("write the path in quotes: \"0.3.1\""))
        }
        Some("string") => Err(wrong("a text")),
        Some("integer") => match number(value).as_u64() {
            Some(number) => Ok(number.into()),
            None => Err(wrong("a whole number, 0 or more")),
        },
        Some("number") => match number(value) {
            number @ Value::Number(_) => Ok(number),
            _ => Err(wrong("a number")),
        },
        Some("array") if rule["items"]["type"] == "string" => match value.as_array() {
            Some(items) if items.iter().all(Value::is_string) => Ok(value.clone()),
            _ => Err(wrong("a list of texts")),
        },
        Some("array") if value.is_array() => Ok(value.clone()),
        Some("array") => Err(wrong("a list")),
        Some("object") if value.is_object() => Ok(value.clone()),
        Some("object") => Err(wrong("an object")),
        _ => Ok(value.clone()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
