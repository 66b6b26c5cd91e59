//! Checks of JSON schemas: whether a value has the form of a schema, and whether the schema is closed.
//!
//! The server reports every other problem.

use serde_json::{Map, Value};

/// The deepest schema that is sent, in levels of arrays and objects.
const DEEPEST: usize = 64;
/// The longest part of the schema that an error shows, in bytes.
const QUOTED: usize = 200;

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];
/// Keywords whose value is data, in which `$ref` is a key like any other.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];
/// Keywords whose value maps the author's names to schemas.
const MAPS: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The path of a problem, innermost key first, and the value that was expected there.
struct Problem {
    path: Vec<String>,
    expected: String,
}

type Checked = Result<(), Problem>;

fn expected(what: impl Into<String>) -> Checked {
    Err(Problem {
        path: Vec::new(),
        expected: what.into(),
    })
}

/// Adds `key` to the path of a problem inside it.
fn inside(key: &str, checked: Checked) -> Checked {
    checked.map_err(|mut problem| {
        problem.path.push(key.to_owned());
        problem
    })
}

/// Checks the form of `schema`: an object or a boolean, with the keywords that decide its form in theirs, at most 64
/// deep, and with no reference out of it.
///
/// # Errors
/// The place as a JSON pointer, and what was expected there.
pub fn check(schema: &Value) -> Result<(), String> {
    checked_schema(schema, 1).map_err(|mut problem| {
        let mut place = String::new();
        while let Some(key) = problem.path.pop() {
            place.push('/');
            place.push_str(&key);
        }
        let colon = if place.is_empty() { "" } else { ": " };
        format!("{}{colon}expected {}", cut(&place), problem.expected)
    })
}

fn checked_schema(schema: &Value, depth: usize) -> Checked {
    match schema {
        Value::Bool(_) => Ok(()),
        Value::Object(keywords) => checked_keywords(keywords, depth),
        _ => expected("an object or a boolean"),
    }
}

fn checked_keywords(keywords: &Map<String, Value>, depth: usize) -> Checked {
    if depth > DEEPEST {
        return expected(format!("at most {DEEPEST} levels"));
    }
    for (keyword, value) in keywords {
        inside(keyword, checked_keyword(keyword, value, depth + 1))?;
    }
    Ok(())
}

fn checked_keyword(keyword: &str, value: &Value, depth: usize) -> Checked {
    match keyword {
        "type" => checked_type(value),
        "required" => match value {
            Value::Array(names) if names.iter().all(Value::is_string) => Ok(()),
            _ => expected("a list of texts"),
        },
        "enum" if !value.is_array() => expected("a list"),
        _ if DATA.contains(&keyword) => Ok(()),
        _ if REFERENCES.contains(&keyword) => match value {
            Value::String(to) if to.starts_with('#') => Ok(()),
            _ => expected("a reference inside of the schema (#...)"),
        },
        _ if MAPS.contains(&keyword) => match value {
            Value::Object(named) => named.iter().try_for_each(|(name, schema)| {
                // `dependencies` may hold lists of names.
                let is_list = keyword == "dependencies" && schema.is_array();
                let checked = if is_list {
                    Ok(())
                } else {
                    checked_schema(schema, depth + 1)
                };
                inside(name, checked)
            }),
            _ => expected("an object"),
        },
        // Keywords that are not known here may hold schemas too.
        _ => checked_inner(value, depth),
    }
}

fn checked_inner(value: &Value, depth: usize) -> Checked {
    match value {
        Value::Object(keywords) => checked_keywords(keywords, depth),
        Value::Array(items) if depth > DEEPEST && !items.is_empty() => {
            expected(format!("at most {DEEPEST} levels"))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| inside(&at.to_string(), checked_inner(item, depth + 1))),
        _ => Ok(()),
    }
}

fn checked_type(value: &Value) -> Checked {
    let is_known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    let fits = match value {
        Value::Array(kinds) => kinds.iter().all(is_known),
        kind => is_known(kind),
    };
    if fits {
        return Ok(());
    }
    expected(format!("one of {}, or a list of them", TYPES.join(", ")))
}

/// The end of a long place: the part that is near the problem.
fn cut(place: &str) -> String {
    if place.len() <= QUOTED {
        return place.to_owned();
    }
    let start = place.ceil_char_boundary(place.len() - QUOTED);
    format!("...{}", &place[start..])
}

/// All objects of `schema` that are schemas, itself included.
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

/// Whether every object of the schema lists all of its keys, requires them and allows no others: providers ask this of
/// a schema that they hold the model to.
pub(crate) fn is_closed(schema: &Value) -> bool {
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
    fn a_problem_is_told_with_its_place_and_the_form_that_was_expected() {
        let types =
            "one of array, boolean, integer, null, number, object, string, or a list of them";
        let inside = "a reference inside of the schema (#...)";
        for (schema, place, form) in [
            (json!([]), "", "an object or a boolean"),
            (json!("object"), "", "an object or a boolean"),
            (json!({"type": "strin"}), "/type: ", types),
            (json!({"type": ["string", 7]}), "/type: ", types),
            (
                json!({"properties": {"a": {"items": {"type": "strin"}}}}),
                "/properties/a/items/type: ",
                types,
            ),
            (json!({"properties": []}), "/properties: ", "an object"),
            (json!({"$defs": true}), "/$defs: ", "an object"),
            (
                json!({"properties": {"a": 5}}),
                "/properties/a: ",
                "an object or a boolean",
            ),
            (json!({"required": "a"}), "/required: ", "a list of texts"),
            (json!({"required": [1]}), "/required: ", "a list of texts"),
            (
                json!({"anyOf": [true, {"enum": "a"}]}),
                "/anyOf/1/enum: ",
                "a list",
            ),
            (
                json!({"$ref": "https://example.com/a.json"}),
                "/$ref: ",
                inside,
            ),
            (
                json!({"properties": {"a": {"items": [{"$ref": "file:///etc/passwd"}]}}}),
                "/properties/a/items/0/$ref: ",
                inside,
            ),
            (
                json!({"$defs": {"default": {"$dynamicRef": "other#a"}}}),
                "/$defs/default/$dynamicRef: ",
                inside,
            ),
        ] {
            let error = check(&schema).unwrap_err();
            assert_eq!(error, format!("{place}expected {form}"), "{schema}");
        }
    }

    #[test]
    fn references_inside_and_names_and_data_that_look_like_keywords_are_fine() {
        for schema in [
            json!(true),
            json!({}),
            json!({"type": ["string", "null"], "required": [], "enum": [1, "a"]}),
            json!({"$defs": {"a": {"type": "string"}}, "items": {"$ref": "#/$defs/a"}}),
            json!({"properties": {"$ref": {"type": "string"}, "type": {"type": "string"}, "required": true}}),
            json!({"const": {"$ref": "https://example.com"}, "examples": [{"type": 1}], "default": {"enum": 1}}),
            json!({"dependencies": {"a": ["b"], "c": {"type": "object"}}}),
            json!({"pattern": "(", "x-own": {"note": ["any", 1]}}),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }

    #[test]
    fn a_schema_may_be_64_levels_deep_and_no_more() {
        let nested = |keyword: &str, levels: usize| {
            (1..levels).fold(json!({}), |inner, _| json!({ keyword: inner }))
        };
        assert_eq!(check(&nested("items", DEEPEST)), Ok(()));
        let error = check(&nested("items", DEEPEST + 1)).unwrap_err();
        assert!(error.ends_with("expected at most 64 levels"), "{error}");
        let lists = (0..100).fold(json!({}), |inner, _| json!([inner]));
        let error = check(&json!({ "allOf": lists })).unwrap_err();
        assert!(error.ends_with("expected at most 64 levels"), "{error}");
        assert!(check(&nested("properties", 200)).is_err());
    }

    #[test]
    fn the_place_of_a_problem_stays_short() {
        let schema = json!({"properties": {"x".repeat(5000): {"type": "strin"}}});
        assert!(check(&schema).unwrap_err().len() < 400);
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
