use std::fmt::Write as _;

use jsonschema::ValidationError;
use serde_json::{Map, Value};

/// The most bytes of errors that the model is shown.
const QUOTED: usize = 2048;
/// The most bytes of one of them.
const ERROR: usize = 400;
/// The most errors that are kept of one reply.
const ERRORS: usize = 32;
/// Above this many bytes of JSON only the first error is looked for: all of them could fill the memory.
const LARGE: usize = 256 << 10;

/// Keywords whose value is data, in which `$ref` is a key like any other.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];
/// Keywords whose value maps names of the schema's author to schemas.
const MAPS: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// A schema, ready to check values.
pub(crate) struct Validator(jsonschema::Validator);

impl Validator {
    /// Reads `schema`: of the draft it names, else of 2020-12. Nothing is ever fetched.
    ///
    /// The error says why it is no schema, or which reference leads out of it.
    pub fn new(schema: &Value) -> Result<Self, String> {
        references_stay_inside(schema)?;
        // Offline: a reference can also be made remote by an `$id` above it.
        jsonschema::options()
            .offline()
            // Patterns meet what models write: an engine that takes linear time, and knows no look-around.
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .map(Self)
            .map_err(|error| {
                let path = error.instance_path().as_str();
                cut(&format!("no valid JSON Schema: {}{error}", at(path)), ERROR)
            })
    }

    /// Checks `value`, whose JSON has `size` bytes. The errors name the place and do not repeat the value.
    pub fn check(&self, value: &Value, size: usize) -> Result<(), Vec<String>> {
        if self.0.is_valid(value) {
            return Ok(());
        }
        let describe = |error: ValidationError<'_>| {
            let path = error.instance_path().as_str();
            let what = error.masked_with("the value");
            cut(&format!("{}{what}", at(path)), ERROR)
        };
        let errors = if size > LARGE {
            let first = self.0.validate(value).err();
            first.map(describe).into_iter().collect()
        } else {
            let all = self.0.iter_errors(value);
            all.take(ERRORS).map(describe).collect()
        };
        Err(errors)
    }
}

/// Checks that `schema` is a JSON Schema that needs nothing from elsewhere.
pub(crate) fn check_schema(schema: &Value) -> Result<(), String> {
    Validator::new(schema).map(drop)
}

/// The errors as a list for the model, at most 2 KiB.
pub(crate) fn quoted(errors: &[String]) -> String {
    const MORE: &str = "- and more\n";
    let mut list = String::new();
    for error in errors {
        if list.len() + error.len() + "- \n".len() > QUOTED - MORE.len() {
            list.push_str(MORE);
            break;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(list, "- {error}");
    }
    list
}

fn at(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!("at {path}: ")
    }
}

/// The start of `text`, at most `limit` bytes.
pub(super) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    format!(
        "{}...",
        &text[..text.floor_char_boundary(limit - "...".len())]
    )
}

/// All objects of `schema` that are schemas, itself included. Unknown keywords may hold schemas too.
fn subschemas(schema: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    // A list of its own, not the call stack: how deep a schema goes is not our choice.
    let mut left = vec![schema];
    std::iter::from_fn(move || {
        loop {
            match left.pop()? {
                Value::Array(items) => left.extend(items),
                Value::Object(keywords) => {
                    for (keyword, value) in keywords {
                        match value {
                            Value::Object(named) if MAPS.contains(&keyword.as_str()) => {
                                left.extend(named.values());
                            }
                            _ if DATA.contains(&keyword.as_str()) => {}
                            value => left.push(value),
                        }
                    }
                    return Some(keywords);
                }
                _ => {}
            }
        }
    })
}

fn references_stay_inside(schema: &Value) -> Result<(), String> {
    for keywords in subschemas(schema) {
        for keyword in REFERENCES {
            let to = keywords.get(keyword).and_then(Value::as_str);
            if let Some(to) = to.filter(|to| !to.starts_with('#')) {
                let why = format!(
                    "{keyword} to {to:?}: only references inside of the schema (#...) are followed"
                );
                return Err(cut(&why, ERROR));
            }
        }
    }
    Ok(())
}

/// Whether every object of the schema lists all of its keys, requires them and allows no others: what providers ask
/// of a schema that they hold the model to.
pub(super) fn is_closed(schema: &Value) -> bool {
    subschemas(schema)
        .filter(|keywords| keywords.get("type").is_some_and(is_object))
        .all(closes)
}

fn is_object(kind: &Value) -> bool {
    kind == "object"
        || kind
            .as_array()
            .is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
}

fn closes(object: &Map<String, Value>) -> bool {
    let required = object.get("required").and_then(Value::as_array);
    let is_required =
        |key: &String| required.is_some_and(|keys| keys.iter().any(|other| other == key));
    object.get("additionalProperties") == Some(&Value::Bool(false))
        && object
            .get("properties")
            .and_then(Value::as_object)
            .is_none_or(|properties| properties.keys().all(is_required))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_out_of_the_schema_is_refused_wherever_it_hides() {
        for schema in [
            json!({"$ref": "https://example.com/a.json"}),
            json!({"properties": {"a": {"items": [{"$ref": "file:///etc/passwd"}]}}}),
            json!({"$id": "https://example.com/root/", "allOf": [{"$ref": "other"}]}),
            json!({"$defs": {"default": {"$dynamicRef": "other#a"}}}),
            json!({"$id": "https://example.com/a", "properties": {"b": {"$id": "b/", "$ref": "#c"}}}),
        ] {
            assert!(check_schema(&schema).is_err(), "{schema}");
        }
    }

    #[test]
    fn references_inside_and_keys_named_like_one_are_fine() {
        for schema in [
            json!({"$defs": {"a": {"type": "string"}}, "items": {"$ref": "#/$defs/a"}}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"$ref": {"type": "string"}}}),
            json!({"const": {"$ref": "https://example.com"}, "examples": [{"$ref": "x"}]}),
            json!(true),
        ] {
            assert_eq!(check_schema(&schema), Ok(()), "{schema}");
        }
    }

    #[test]
    fn what_is_no_schema_is_told_with_its_place() {
        let error = check_schema(&json!({"properties": {"a": {"type": "strin"}}})).unwrap_err();
        assert!(error.contains("/properties/a/type"), "{error}");
        assert!(check_schema(&json!({"pattern": "("})).is_err());
        assert!(check_schema(&json!({"$ref": "#/$defs/none"})).is_err());
        assert!(check_schema(&json!([])).is_err());
    }

    #[test]
    fn a_schema_that_only_refers_to_itself_ends() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        ] {
            if let Ok(validator) = Validator::new(&schema) {
                let _ = validator.check(&json!({"a": 1}), 7);
            }
        }
    }

    #[test]
    fn errors_name_the_place_and_stay_short() {
        let schema =
            json!({"additionalProperties": {"type": "integer", "enum": ["x".repeat(5000)]}});
        let validator = Validator::new(&schema).unwrap();
        let value: Value = (0..1000)
            .map(|n| (format!("key{n}"), json!("y".repeat(100))))
            .collect();
        let errors = validator.check(&value, 100_000).unwrap_err();
        assert!(errors.len() <= ERRORS && errors.iter().all(|error| error.len() <= ERROR));
        assert!(
            errors[0].starts_with("at /key0: ") && !errors[0].contains("yyy"),
            "{}",
            errors[0]
        );
        assert!(quoted(&errors).len() <= QUOTED);
        assert_eq!(validator.check(&value, LARGE + 1).unwrap_err().len(), 1);
    }

    #[test]
    fn a_schema_is_closed_when_no_object_leaves_anything_open() {
        let closed = json!({"type": "object", "additionalProperties": false, "required": ["a"], "properties": {"a": {}}});
        assert!(is_closed(&closed));
        for (key, value) in [
            ("additionalProperties", json!(true)),
            ("required", json!([])),
        ] {
            let mut open = closed.clone();
            open[key] = value;
            assert!(!is_closed(&json!({"type": "array", "items": open})));
        }
    }
}
