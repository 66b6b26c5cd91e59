//! Replies in a form: the schema reaches the model whatever its server has for it, and the caller reads the reply.

use llm_client::provider::{Capabilities, StructuredMode};
use llm_client::{Block, Request, json};
use serde_json::{Value, json};

use crate::own_provider::{Own, says};

fn closed() -> Value {
    json!({
        "title": "Score",
        "type": "object",
        "properties": {"score": {"type": "integer"}},
        "required": ["score"],
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn without_a_native_form_the_schema_stands_in_the_system_text() {
    for (structured, has_format, has_text) in [
        (StructuredMode::Schema, true, false),
        (StructuredMode::Object, true, true),
        (StructuredMode::None, false, true),
    ] {
        let mut caps = Capabilities::ALL;
        caps.structured = structured;
        let own = Own::replies([says("{}")]).with_caps(caps);
        let (client, own) = own.client().unwrap();
        let request = Request::new("m", "Score this.").with_schema(closed());
        let reply = client.complete(&request).await.unwrap();
        let sent = &own.requests()[0];
        assert_eq!(sent.format.is_some(), has_format, "{structured:?}");
        let text: String = sent.system.iter().filter_map(Block::as_text).collect();
        assert_eq!(text.ends_with(&closed().to_string()), has_text, "{text}");
        assert_eq!(reply.warnings.is_empty(), !has_text, "{structured:?}");
    }
}

#[test]
fn a_schema_is_named_by_its_title_and_strict_if_it_is_closed() {
    let format = |schema| Request::new("m", "x").with_schema(schema).format.unwrap();
    let score = format(closed());
    assert_eq!((score.name.as_str(), score.strict), ("Score", true));
    assert_eq!(score.schema, closed());
    let open = format(json!({"title": "An open, one!", "type": "object", "properties": {"a": {}}}));
    assert_eq!((open.name.as_str(), open.strict), ("An_open__one_", false));
    assert_eq!(format(json!({})).name, "reply");
}

#[test]
fn json_is_found_and_read_by_callers() {
    let text = "Look:\n```json\n{\"a\": 1, \"a\": 2}\n```";
    let found = json::find(text).unwrap();
    assert_eq!(found, "{\"a\": 1, \"a\": 2}");
    let twice = json::parse(found).unwrap_err().to_string();
    assert!(twice.contains("occurs twice"), "{twice}");
    let cut = json::find("{\"a\": ").unwrap_err();
    assert_eq!(cut.message, "the JSON is cut off");
    let long = format!("{{\"{}\": 1, \"x\" 2}}", "y".repeat(2000));
    assert!(json::parse(&long).unwrap_err().message.len() <= 400);
}
