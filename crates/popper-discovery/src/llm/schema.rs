//! The JSON schema of a reply, for servers that enforce schemas.

use serde_json::{Map, Value, json};

use crate::snapshot::Capabilities;

/// The schema of `{research_log, candidate_laws}`.
///
/// Every object lists all of its keys, requires them and allows no others, and nothing refers to itself: what servers ask of a
/// schema that they enforce. What a law may leave out is `null`, which means absent. What a claim's text says already
/// (`claim_ast`, `transform`, `direction`, the bound) has no key here; a model that is not held to the schema may write it.
pub(super) fn answer(capabilities: &Capabilities) -> Value {
    let mut law = vec![
        ("law_id", text()),
        (
            "template",
            json!({"type": "string", "enum": capabilities.templates}),
        ),
        (
            "quantifiers",
            object(vec![("T", integer()), ("H", optional("integer"))]),
        ),
        (
            "preconditions",
            list(&object(vec![
                ("lhs", text()),
                ("op", comparison()),
                ("rhs", text()),
            ])),
        ),
        (
            "observables",
            list(&object(vec![("name", text()), ("expr", text())])),
        ),
        ("claim", text()),
        ("forbidden", text()),
        ("proposed_tests", list(&proposed_test())),
        (
            "capability_requirements",
            object(vec![
                ("missing_observables", list(&text())),
                ("missing_transforms", list(&text())),
                ("missing_generators", list(&text())),
            ]),
        ),
        ("novelty_claim", optional("string")),
    ];
    if !capabilities.extensions.is_empty() {
        law.extend([
            ("trigger_symbol", optional("string")),
            ("neighbor_pattern", optional("string")),
            ("required_parity", optional("integer")),
            ("result_op", optional("string")),
            ("result_symbol", optional("string")),
        ]);
    }
    let mut answer = object(vec![
        ("research_log", text()),
        ("candidate_laws", list(&object(law))),
    ]);
    answer["title"] = json!("proposal");
    answer
}

fn proposed_test() -> Value {
    let params = vec![
        ("grid_lengths", list(&integer())),
        ("cases", optional("integer")),
    ];
    object(vec![("family", text()), ("params", object(params))])
}

fn text() -> Value {
    json!({"type": "string"})
}

fn integer() -> Value {
    json!({"type": "integer"})
}

fn optional(kind: &str) -> Value {
    json!({"type": [kind, "null"]})
}

fn comparison() -> Value {
    json!({"type": "string", "enum": ["==", "!=", "<", "<=", ">", ">="]})
}

fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

fn object(fields: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(key, _)| *key).collect();
    let required = json!(required);
    let properties: Map<String, Value> = fields
        .into_iter()
        .map(|(key, schema)| (key.to_owned(), schema))
        .collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
