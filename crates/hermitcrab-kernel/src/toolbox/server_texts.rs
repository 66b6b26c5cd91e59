//! Texts of a server as the model and the person read them: short, on one line, and in the few keywords that every provider takes.

use serde_json::{Map, Value, json};
use visible_text::{is_direction_control, is_invisible};

/// The longest description of a tool or an argument in characters.
pub(super) const MAX_DESCRIPTION: usize = 300;
/// The longest schema in bytes of JSON.
const MAX_SCHEMA: usize = 16 << 10;
/// The longest text of an `enum` in characters.
const MAX_VALUE: usize = 100;
/// The deepest level of a schema.
const DEEPEST: usize = 6;
/// The words of the keyword `type`.
const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// Untrusted text as one line without characters that a reader does not see, cut where it is too long.
pub(super) fn shown(text: &str, most: usize) -> String {
    let seen = |char: &char| !is_invisible(*char) && !is_direction_control(*char);
    let text: String = text.chars().filter(seen).collect();
    let words = text.split(|char: char| char.is_whitespace() || char.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most - 1).chain(['…']).collect()
}

/// The schema of a tool's arguments in known keywords: a provider refuses a request with a faulty or very long schema, and with it
/// every turn. One that is too long becomes that of any object.
pub(super) fn known_schema(schema: &Value) -> Value {
    let mut known = known_rule(schema, 0);
    known.insert("type".to_owned(), "object".into());
    for of_a_value in ["description", "enum", "items"] {
        known.remove(of_a_value);
    }
    let known = Value::Object(known);
    if known.to_string().len() <= MAX_SCHEMA {
        known
    } else {
        json!({"type": "object"})
    }
}

fn known_rule(rule: &Value, depth: usize) -> Map<String, Value> {
    let mut known = Map::new();
    let mut add = |key: &str, value: Value| known.insert(key.to_owned(), value);
    let kind = known_type(&rule["type"]);
    if let Some(kind) = kind {
        add("type", kind.into());
    }
    if let Some(text) = rule["description"].as_str() {
        add("description", shown(text, MAX_DESCRIPTION).into());
    }
    if let Some(values) = rule["enum"].as_array().filter(|values| are_plain(values)) {
        add("enum", values.clone().into());
    }
    if depth == DEEPEST {
        return known;
    }
    if let Some(rules) = rule["properties"].as_object() {
        let rules = rules.iter().filter(|(key, _)| is_key(key));
        let rules = rules.map(|(key, rule)| (key.clone(), known_rule(rule, depth + 1).into()));
        let rules: Map<_, _> = rules.collect();
        let required = rule["required"].as_array().into_iter().flatten();
        let is_known = |name: &&Value| name.as_str().is_some_and(|name| rules.contains_key(name));
        let required: Vec<_> = required.filter(is_known).cloned().collect();
        add("properties", rules.into());
        if !required.is_empty() {
            add("required", required.into());
        }
    }
    // Some providers refuse a list without the schema of its items.
    if kind == Some("array") {
        add("items", known_rule(&rule["items"], depth + 1).into());
    }
    known
}

/// The type, or the first one of several that is not `null`.
fn known_type(kind: &Value) -> Option<&str> {
    let kinds = match kind {
        Value::Array(kinds) => kinds,
        kind => std::slice::from_ref(kind),
    };
    let mut kinds = kinds.iter().filter_map(Value::as_str);
    kinds.find(|kind| TYPES.contains(kind) && *kind != "null")
}

/// Whether each value of an `enum` is short and visible as it is.
fn are_plain(values: &[Value]) -> bool {
    let is_plain = |value: &Value| match value {
        Value::String(text) => shown(text, MAX_VALUE) == *text,
        Value::Bool(_) | Value::Number(_) => true,
        _ => false,
    };
    !values.is_empty() && values.iter().all(is_plain)
}

/// Whether providers take a name of an argument.
fn is_key(key: &str) -> bool {
    (1..=64).contains(&key.len())
        && (key.bytes()).all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(properties: &Value) -> Value {
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn a_schema_that_a_provider_refuses_is_not_sent() {
        let any = json!({"type": "object"});
        for schema in [
            json!(null),
            json!({"type": "string", "enum": ["a"]}),
            json!({"type": "object", "properties": 5, "required": [5]}),
            json!({"type": "object", "oneOf": [], "$ref": "#/x", "description": "text"}),
            of(
                &json!({"a": {"type": "object", "properties": {"b": {"enum": vec!["x"; MAX_SCHEMA / 4]}}}}),
            ),
        ] {
            assert_eq!(known_schema(&schema), any, "{schema}");
        }
        let schema = json!({"properties": {"a b": {}, "o": {"type": "object", "properties": {"z": {"type": "bogus"}}},
            "l": {"type": "array"}, "m": {"type": ["null", "string"], "default": "x", "pattern": "("}},
            "required": ["a b", "o", 5]});
        let known = json!({"type": "object", "properties": {"o": {"type": "object", "properties": {"z": {}}},
            "l": {"type": "array", "items": {}}, "m": {"type": "string"}}, "required": ["o"]});
        assert_eq!(known_schema(&schema), known);
    }

    #[test]
    fn all_texts_of_a_schema_are_cut_and_visible() {
        let long = "word\u{202e}\n".repeat(1_000);
        let schema = |text: &str, value: &str| {
            let deep = json!({"type": "array", "items": {"description": text, "enum": [value, 5]}});
            of(&json!({"description": deep, "q": {"description": text}}))
        };
        let cut = shown(&long, MAX_DESCRIPTION);
        assert!(cut.len() < 400 && !cut.contains('\u{202e}'));
        assert_eq!(known_schema(&schema(&long, "a")), schema(&cut, "a"));
        let hidden = known_schema(&of(
            &json!({"q": {"enum": ["a\u{200b}"], "examples": ["b"]}}),
        ));
        assert_eq!(hidden, of(&json!({"q": {}})));
    }

    #[test]
    fn a_schema_of_many_levels_ends() {
        let mut schema = json!({"type": "string"});
        for _ in 0..100 {
            schema = json!({"type": "array", "items": schema});
        }
        let known = known_schema(&of(&json!({"q": schema}))).to_string();
        assert_eq!(known.matches("array").count(), DEEPEST);
    }
}
